// Directories whose names, up to the root of the file system, are known to be on the disk: nothing
// in them is acknowledged before.
//
// Thread safety: all of it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace iceblink::daemon {

class DurableDirectories {
 public:
  /// Whether the directory at `path` is, and is still the one that is open as `fd`.
  [[nodiscard]] bool has(const std::string& path, int fd) const;
  /// All above it have been synced. Forgets all of them where there are too many.
  void add(const std::string& path, int fd);

 private:
  static constexpr std::size_t kCountMax = 65'536;
  using Identity = std::pair<dev_t, ino_t>;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Identity> known_;  // guarded by mutex_
};

/// Syncs every directory above the absolute `path`. Those that may not be opened are not ours to
/// have made. Returns errno.
[[nodiscard]] int sync_directories_above(const std::string& path);

}  // namespace iceblink::daemon
