#include "daemon/durable_directories.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/owned_fd.h"

namespace iceblink::daemon {

bool DurableDirectories::has(const std::string& path, int fd) const {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(path);
  return found != known_.end() && found->second == Identity(status.st_dev, status.st_ino);
}

void DurableDirectories::add(const std::string& path, int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return;
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kCountMax) known_.clear();
  known_.insert_or_assign(path, Identity(status.st_dev, status.st_ino));
}

int sync_directories_above(const std::string& path) {
  for (std::size_t end = path.rfind('/'); end != std::string::npos;
       end = path.rfind('/', end - 1)) {
    const std::string above = end == 0 ? "/" : path.substr(0, end);
    const OwnedFd directory(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const bool is_synced = directory.get() < 0 || ::fsync(directory.get()) == 0;
    if (!is_synced && errno != EINVAL && errno != EROFS) return errno;
    if (end == 0) break;
  }
  return 0;
}

}  // namespace iceblink::daemon
