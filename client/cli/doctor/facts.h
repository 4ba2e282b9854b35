// What is looked at, as plain values.
//
// Thread safety: values.
#pragma once

#include <iceblink/result.h>
#include <iceblink/stats.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/status/daemon_answers.h"
#include "client/cli/status/runtime_files.h"

namespace iceblink::cli {

inline constexpr const char* kReadersGroup = "iceblink-readers";
inline constexpr const char* kWritersGroup = "iceblink-writers";

/// A file or directory, as lstat tells of it.
struct PathFacts {
  std::string path;
  int error = 0;  // errno; the rest is set where it is 0
  mode_t mode = 0;
  uid_t uid = 0;
  std::string owner;  // by name, or the number
  std::string group;

  [[nodiscard]] bool exists() const noexcept { return error == 0; }
  [[nodiscard]] mode_t permissions() const noexcept { return mode & 07777; }
};

struct RuntimeFacts {
  std::string instance;            // empty: the directory is no instance's of systemd's units
  std::vector<PathFacts> parents;  // of the directory, the nearest first
  PathFacts directory;
  PathFacts control;
  PathFacts socket;
  std::vector<PathFacts> arenas;  // as in files.arenas
  RuntimeFiles files;
  std::optional<FileSystemRoom> room;
  Result<SegmentInfo> segment{SegmentInfo{}};
  DaemonHealth health;
  DaemonAnswers daemon;
  bool socket_has_listener = false;
  std::string client_version;
};

struct UserFacts {
  uid_t uid = 0;
  std::string name;
  std::vector<std::string> groups;

  [[nodiscard]] bool is_in(const std::string& group) const noexcept;
};

struct KernelFacts {
  std::string io_uring_refusal;                    // empty: it may be used
  std::optional<std::uint64_t> io_uring_disabled;  // kernel.io_uring_disabled, where there is one
  bool is_filtered = false;                        // by seccomp
  bool offers_membarrier = false;
  int futex_error = 0;  // of a wait on a mapping that can only be read; 0: it works
  int openat2_error = 0;
  std::optional<std::uint64_t> file_max;       // fs.file-max
  std::optional<std::uint64_t> max_map_count;  // vm.max_map_count
  std::uint64_t open_files_max = 0;            // RLIMIT_NOFILE
  std::uint64_t locked_bytes_max = 0;          // RLIMIT_MEMLOCK
  std::string shmem_huge_pages;                // "never", "advise", …
  std::uint64_t swap_bytes = 0;
};

/// What a restore put aside.
struct KeptStore {
  std::string name;
  std::optional<std::uint64_t> bytes;  // nothing where it may not be looked into
};

struct DataFacts {
  bool is_asked_for = false;  // by --data-dir
  PathFacts directory;
  PathFacts store;       // lmdb
  PathFacts store_file;  // data.mdb in it
  PathFacts warehouse;   // the default one
  std::string file_system;
  bool is_network = false;
  std::optional<FileSystemRoom> room;
  std::vector<KeptStore> kept_stores;
  std::vector<std::string> unknown_names;
};

struct UnitFacts {
  std::string name;     // empty: no systemd here
  std::string enabled;  // as systemctl says; empty: no answer
  std::string active;
  std::string result;  // of its last end
};

struct Facts {
  RuntimeFacts runtime;
  UserFacts user;
  KernelFacts kernel;
  DataFacts data;
  UnitFacts unit;
};

}  // namespace iceblink::cli
