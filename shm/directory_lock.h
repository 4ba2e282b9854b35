// "One daemon at a time" for a directory, on a lock file of its own that readers cannot open.
//
// An open-file-description lock rather than Boost's file_lock: that one belongs to the process,
// so a second holder in the same process would pass, and closing any descriptor of the file would
// drop it. The lock ends with the process, however that ends.
//
// Thread safety: a value.
#pragma once

#include <iceblink/result.h>

#include <string>

namespace iceblink::shm {

class DirectoryLock {
 public:
  /// Takes the lock on `directory`/daemon.lock (0600), and writes this process's pid into it.
  /// kConflict names the directory and the holder's pid.
  [[nodiscard]] static Result<DirectoryLock> take(const std::string& directory);

  DirectoryLock() = default;
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;
  ~DirectoryLock();

 private:
  int descriptor_ = -1;
};

}  // namespace iceblink::shm
