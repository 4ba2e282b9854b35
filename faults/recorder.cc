#include "faults/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "faults/next.h"

namespace iceblink::faults {
namespace {

constinit Next<decltype(::syscall)> next_syscall("syscall");

int record_fd = -1;  // set before the program's first own call; -1 in forked children
pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

void forget_in_child() {
  record_fd = -1;
}

bool status_of(int fd, struct stat& status) noexcept {
  return next_syscall(SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH) == 0;
}

}  // namespace

bool start_recording(const char* file) noexcept {
  record_fd = static_cast<int>(
      next_syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  return record_fd >= 0 && ::pthread_atfork(nullptr, nullptr, forget_in_child) == 0;
}

Recording::Recording() noexcept : is_on_(record_fd >= 0) {
  if (is_on_) ::pthread_mutex_lock(&order);
}

Recording::~Recording() {
  if (is_on_) ::pthread_mutex_unlock(&order);
}

void Recording::append(RecordHead head, std::string_view path,
                       std::string_view data) const noexcept {
  head.path_bytes = static_cast<std::uint32_t>(path.size());
  head.data_bytes = static_cast<std::uint32_t>(data.size());
  const struct iovec parts[] = {{&head, sizeof head},
                                {const_cast<char*>(path.data()), path.size()},
                                {const_cast<char*>(data.data()), data.size()}};
  const int error_before = errno;
  const auto bytes = static_cast<long>(sizeof head + path.size() + data.size());
  if (next_syscall(SYS_writev, record_fd, parts, 3) != bytes) {
    std::fprintf(stderr, "libiceblink_file_faults: the record cannot be written\n");
    ::_exit(127);
  }
  errno = error_before;
}

RecordedPath::RecordedPath(int directory, const char* path) noexcept {
  if (path[0] != '/') {
    if (directory == AT_FDCWD) {
      if (next_syscall(SYS_getcwd, bytes_, sizeof bytes_) > 0) size_ = std::strlen(bytes_);
    } else {
      read_link(directory);
    }
    if (size_ + 1 < sizeof bytes_) bytes_[size_++] = '/';
  }
  const std::size_t more = std::min(std::strlen(path), sizeof bytes_ - 1 - size_);
  std::memcpy(bytes_ + size_, path, more);
  size_ += more;
  bytes_[size_] = '\0';
}

RecordedPath::RecordedPath(int fd) noexcept {
  read_link(fd);
  bytes_[size_] = '\0';
}

void RecordedPath::read_link(int fd) noexcept {
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  size_ = static_cast<std::size_t>(
      std::max(next_syscall(SYS_readlinkat, AT_FDCWD, link, bytes_, sizeof bytes_ - 1), 0L));
}

std::uint64_t inode_of(int fd) noexcept {
  struct stat status {};
  return status_of(fd, status) && S_ISREG(status.st_mode) ? status.st_ino : 0;
}

bool is_directory(int fd) noexcept {
  struct stat status {};
  return status_of(fd, status) && S_ISDIR(status.st_mode);
}

bool is_socket(int fd) noexcept {
  struct stat status {};
  return status_of(fd, status) && S_ISSOCK(status.st_mode);
}

std::uint64_t inode_at(const char* path) noexcept {
  struct stat status {};
  return next_syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0
             ? status.st_ino
             : 0;
}

}  // namespace iceblink::faults
