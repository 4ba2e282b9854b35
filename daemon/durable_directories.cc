#include "daemon/durable_directories.h"

#include <sys/stat.h>

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

}  // namespace iceblink::daemon
