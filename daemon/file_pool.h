// Threads for work that may wait for a disk, so that a slow one holds up no other request.
//
// Thread safety: all of it. Destroying the pool drops what has not begun.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace iceblink::daemon {

struct FilePoolOptions {
  std::size_t threads = 2;
  std::size_t queue_length_max = 1024;  // jobs not yet begun
  std::string name = "worker";          // of its threads, before their number
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
  /// Takes no more, and drops what has not begun.
  void close();
  /// After close(): true once no job is in hand, false at `until`.
  [[nodiscard]] bool wait_idle(std::chrono::steady_clock::time_point until);
  /// Closes, and waits for the jobs that have begun. Idempotent.
  void stop();

  [[nodiscard]] std::size_t queue_length() const noexcept;
  /// Threads that have a job in hand.
  [[nodiscard]] std::size_t busy_count() const noexcept;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace iceblink::daemon
