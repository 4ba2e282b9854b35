// A piece of this test program, run in a process of its own under the library of faults.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace iceblink::test {

inline constexpr const char* kFaultLibrary = ICEBLINK_BIN_DIR "/libiceblink_file_faults.so";

/// Runs a FaultyPiece in `directory` with the library in front of libc. Its exit code, or minus the
/// signal.
inline int run_under_faults(const std::string& faults, const std::string& piece,
                            const std::string& directory) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("LD_PRELOAD", kFaultLibrary, 1);
    ::setenv("ICEBLINK_FILE_FAULTS", faults.c_str(), 1);
    ::setenv("ICEBLINK_FAULTY_PIECE", piece.c_str(), 1);
    if (::chdir(directory.c_str()) == 0) ::execl("/proc/self/exe", "faulty_child", nullptr);
    ::_exit(126);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// At namespace scope: becomes the whole program, before its main(), when run_under_faults says so.
struct FaultyPiece {
  /// `run` returns the exit code.
  FaultyPiece(const char* name, int (*run)()) {
    const char* const asked = std::getenv("ICEBLINK_FAULTY_PIECE");
    if (asked != nullptr && std::string(asked) == name) ::_exit(run());
  }
};

/// In a piece: ends it when something is not so.
#define PIECE_REQUIRE(condition)                              \
  do {                                                        \
    if (!(condition)) {                                       \
      std::fprintf(stderr, "%d: %s\n", __LINE__, #condition); \
      return 1;                                               \
    }                                                         \
  } while (false)

}  // namespace iceblink::test
