// The daemon's data directory: made, judged fit for LMDB, and locked for one daemon.
//
//   DATA_DIR             0755: the default warehouse in it is for others, too
//   DATA_DIR/daemon.lock 0600: a lock of its own, since LMDB's is not exclusive
//   DATA_DIR/lmdb        0700: the store
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shm/directory_lock.h"

namespace iceblink::daemon {

/// The name of a file system that does not keep mapped pages and writes coherent (NFS, CIFS and
/// their like), by its statfs magic.
[[nodiscard]] std::optional<std::string_view> network_filesystem(std::uint32_t magic) noexcept;

/// Where the store is in a data directory.
[[nodiscard]] std::string store_dir_of(const std::string& data_dir);

class DataDir {
 public:
  /// Makes `path` and the store's directory in it when they are missing, and locks `path`. A store
  /// that lies in `path` itself, as a copy of one may, is moved to its place. kConflict names the
  /// pid of the daemon that holds the lock; kUnsupported: a network file system; kNotAllowed;
  /// kInvalidArgument: not a directory; kNoSpace; kIo.
  [[nodiscard]] static Result<DataDir> open(std::string path);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string store_dir() const { return store_dir_of(path_); }
  /// Where a restore puts its copy first. What one that was killed left there, open() removes.
  [[nodiscard]] std::string restore_file() const { return store_dir() + "/restore.tmp"; }

 private:
  DataDir(std::string path, shm::DirectoryLock lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  shm::DirectoryLock lock_;
};

}  // namespace iceblink::daemon
