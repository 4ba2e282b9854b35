// Threads for work that may wait for a disk, so that a slow one holds up no other request.
//
// Thread safety: all of it. Destroying the pool drops what has not begun.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace iceblink::daemon {

struct FilePoolOptions {
  std::size_t threads = 2;
  std::size_t queue_length_max = 1024;  // jobs not yet begun
};

class FilePool {
 public:
  explicit FilePool(FilePoolOptions options);
  ~FilePool();
  FilePool(const FilePool&) = delete;
  FilePool& operator=(const FilePool&) = delete;

  /// False, and `job` is dropped, when the queue is full or the pool is stopped. A job must not
  /// throw.
  [[nodiscard]] bool run(std::function<void()> job);
  /// Waits for the jobs that have begun; takes no more. Idempotent.
  void stop();

  [[nodiscard]] std::size_t queue_length() const noexcept;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace iceblink::daemon
