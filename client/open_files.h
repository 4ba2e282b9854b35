// The descriptors that reads have open, so that a child process does not keep them.
//
// Thread safety: all of it, but for the part that fork handlers call.
//
// A file that another thread is just opening while the process forks is not in here yet, and one
// that it is just closing no longer: such a descriptor stays open in the child until it calls exec.
// Neither call is made under the mutex: both may wait for a file system that does not answer.
#pragma once

#include <mutex>
#include <vector>

namespace iceblink::client {

class OpenFiles {
 public:
  void add(int fd) noexcept;
  void close(int fd) noexcept;
  /// Leaves it open: its number may be somebody else's by now.
  void forget(int fd) noexcept;

  // For fork handlers.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  /// In the child. The mutex is held.
  void close_all() noexcept;

 private:
  std::mutex mutex_;
  std::vector<int> fds_;  // under mutex_
};

}  // namespace iceblink::client
