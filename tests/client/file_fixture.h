// Files on a disk, a reader of them, and children to spoil.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "client/file_reader.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::client::testing {

using ::testing::HasSubstr;
using ::testing::Not;

inline constexpr std::size_t kBytesMax = std::size_t{64} << 20;

/// Bytes that are nobody else's.
inline std::string bytes_of(std::size_t seed, std::size_t size) {
  std::string bytes(size, '\0');
  std::uint64_t state = seed * 2 + 1;
  for (char& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>('a' + (state >> 56) % 26);
  }
  return bytes;
}

/// Of this process, numbers of descriptors and what they are.
inline std::size_t descriptor_count() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// As a program does that tidies up after whom it does not know. Their numbers.
inline std::vector<int> close_ring_descriptors() {
  std::vector<int> rings;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == "anon_inode:[io_uring]") {
      rings.push_back(std::stoi(entry.path().filename()));
    }
  }
  for (const int fd : rings) ::close(fd);
  return rings;
}

/// Runs `work` in a child process, where its expectations are checked, too.
template <typename Work>
void in_a_child(Work work) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);  // a watchdog
    work();
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the child failed";
}

inline std::string text_of(const Result<iceberg::ByteBuffer>& content) {
  return content.ok()
             ? std::string(content->view())
             : std::string(to_string(content.error().kind())) + ": " + content.error().message();
}

inline ErrorKind kind_of(const Result<iceberg::ByteBuffer>& content) {
  EXPECT_FALSE(content.ok());
  return content.ok() ? ErrorKind::kInternal : content.error().kind();
}

inline std::vector<FileRead> batch_of(const std::vector<std::string>& locations) {
  std::vector<FileRead> files;
  for (const auto& location : locations) files.push_back({location});
  return files;
}

class FileTest : public ::testing::Test {
 protected:
  static std::unique_ptr<FileReader> reader(const FileOptions& options = {}) {
    auto made = FileReader::make(options);
    if (!made) ADD_FAILURE() << made.error().message();
    return std::move(*made);
  }
  static std::unique_ptr<FileReader> reader_without_ring() {
    FileOptions options;
    options.use_io_uring = false;
    return reader(options);
  }
  /// Whether the machine that tests run on has rings at all.
  bool has_ring() {
    const auto probing = reader();
    auto files = batch_of({dir_.write("probe.1", ""), dir_.write("probe.2", "")});
    probing->read_many(files, kBytesMax);
    return probing->stats().uses_io_uring;
  }
  /// `count` files of `size` bytes each, bytes_of(0, size) and so on.
  std::vector<std::string> write_files(std::size_t count, std::size_t size) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < count; ++i) {
      paths.push_back(dir_.write("f" + std::to_string(i), bytes_of(i, size)));
    }
    return paths;
  }

  /// The files of write_files, at once.
  static void expect_all_read(FileReader& reader, const std::vector<std::string>& paths,
                              std::size_t size) {
    auto files = batch_of(paths);
    reader.read_many(files, kBytesMax);
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_TRUE(text_of(files[i].content) == bytes_of(i, size))
          << (files[i].content ? "other bytes" : text_of(files[i].content));
    }
  }

  test::ScratchDir dir_{std::filesystem::temp_directory_path()};
};

}  // namespace iceblink::client::testing
