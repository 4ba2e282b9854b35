#include "daemon/file_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/thread_name.h"

namespace iceblink::daemon {

class FilePool::State {
 public:
  explicit State(FilePoolOptions options) : options_(std::move(options)) {
    try {
      start();
    } catch (const std::system_error& error) {
      stop();  // those that run already
      throw std::system_error(error.code(), "cannot start a thread '" + options_.name + "'");
    }
  }

  bool run(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_ || jobs_.size() >= options_.queue_length_max) return false;
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return true;
  }

  void close() {
    std::deque<std::function<void()>> dropped;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      dropped.swap(jobs_);
    }
    changed_.notify_all();
  }

  bool wait_idle(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    return idle_.wait_until(lock, until, [this] { return busy_count_ == 0; });
  }

  void stop() {
    close();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  std::size_t queue_length() const {
    const std::lock_guard lock(mutex_);
    return jobs_.size();
  }
  std::size_t busy_count() const {
    const std::lock_guard lock(mutex_);
    return busy_count_;
  }

 private:
  void start() {
    for (std::size_t i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this, i] {
        name_this_thread(options_.name + "-" + std::to_string(i));
        work();
      });
    }
  }

  void work() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
        ++busy_count_;
      }
      job();
      job = {};
      const std::lock_guard lock(mutex_);
      if (--busy_count_ == 0) idle_.notify_all();
    }
  }

  const FilePoolOptions options_;
  std::vector<std::thread> threads_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable idle_;
  std::deque<std::function<void()>> jobs_;  // guarded by mutex_
  bool stopping_ = false;                   // guarded by mutex_
  std::size_t busy_count_ = 0;              // guarded by mutex_
};

FilePool::FilePool(FilePoolOptions options) : state_(std::make_unique<State>(std::move(options))) {}
FilePool::~FilePool() {
  state_->stop();
}
bool FilePool::run(std::function<void()> job) {
  return state_->run(std::move(job));
}
void FilePool::close() {
  state_->close();
}
bool FilePool::wait_idle(std::chrono::steady_clock::time_point until) {
  return state_->wait_idle(until);
}
void FilePool::stop() {
  state_->stop();
}
std::size_t FilePool::queue_length() const noexcept {
  return state_->queue_length();
}
std::size_t FilePool::busy_count() const noexcept {
  return state_->busy_count();
}

}  // namespace iceblink::daemon
