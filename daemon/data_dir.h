// The daemon's data directory: made, judged fit for LMDB, and locked for one daemon.
//
// The lock is a flock on `daemon.lock` (0600), a file of its own: LMDB's is not exclusive. It ends
// with the process, however that ends. The holder's pid stands in the file, for the message that
// the next daemon prints; it means nothing without the lock.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
  DataDir(DataDir&& other) noexcept;
  DataDir& operator=(DataDir&&) = delete;
  ~DataDir();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  DataDir(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

  std::string path_;
  int lock_fd_;
};

}  // namespace iceblink::daemon
