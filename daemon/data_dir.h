// The daemon's data directory: made, judged fit for LMDB, and locked for one daemon.
//
// The lock is on `daemon.lock`, a file of its own: LMDB's is not exclusive.
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

class DataDir {
 public:
  /// Makes `path` (0700) when it is missing, and locks it. kConflict names the pid of the daemon
  /// that holds it; kUnsupported: a network file system; kNotAllowed; kInvalidArgument: not a
  /// directory; kNoSpace; kIo.
  [[nodiscard]] static Result<DataDir> open(std::string path);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  DataDir(std::string path, shm::DirectoryLock lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  shm::DirectoryLock lock_;
};

}  // namespace iceblink::daemon
