#include "shm/directory_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "shm/file_mapping.h"
#include "shm/layout.h"

namespace iceblink::shm {

Result<DirectoryLock> DirectoryLock::take(const std::string& directory) {
  const std::string path = directory + "/" + kLockName;
  DirectoryLock lock;
  lock.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock.descriptor_ < 0) return system_error(path, errno);
  if (::fchmod(lock.descriptor_, 0600) != 0) return system_error(path, errno);

  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(lock.descriptor_, F_OFD_SETLK, &whole) != 0) {
    if (errno != EAGAIN && errno != EACCES) return system_error(path, errno);
    std::array<char, 32> holder{};
    const auto size = ::pread(lock.descriptor_, holder.data(), holder.size() - 1, 0);
    std::string pid(holder.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return {ErrorKind::kConflict, directory + ": is in use by another iceblinkd" +
                                      (pid.empty() ? "" : " (pid " + pid + ")")};
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock.descriptor_, 0) != 0 ||
      ::pwrite(lock.descriptor_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return system_error(path, errno);
  }
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace iceblink::shm
