#include "client/open_files.h"

#include <unistd.h>

#include <algorithm>
#include <new>

namespace iceblink::client {

void OpenFiles::add(int fd) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    fds_.push_back(fd);
  } catch (const std::bad_alloc&) {  // a child will have it open
  }
}

void OpenFiles::close(int fd) noexcept {
  forget(fd);  // first: once it is closed its number may be somebody else's
  ::close(fd);
}

void OpenFiles::forget(int fd) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(fds_.begin(), fds_.end(), fd);
  if (found == fds_.end()) return;
  *found = fds_.back();
  fds_.pop_back();
}

void OpenFiles::close_all() noexcept {
  for (const int fd : fds_) ::close(fd);
  fds_.clear();
}

}  // namespace iceblink::client
