#include "daemon/file_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace iceblink::daemon {

class FilePool::State {
 public:
  explicit State(FilePoolOptions options) : options_(options) {
    for (std::size_t i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this] { work(); });
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

  void stop() {
    std::deque<std::function<void()>> dropped;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      dropped.swap(jobs_);
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  std::size_t queue_length() const {
    const std::lock_guard lock(mutex_);
    return jobs_.size();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
    }
  }

  const FilePoolOptions options_;
  std::vector<std::thread> threads_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // guarded by mutex_
  bool stopping_ = false;                   // guarded by mutex_
};

FilePool::FilePool(FilePoolOptions options) : state_(std::make_unique<State>(options)) {}
FilePool::~FilePool() {
  state_->stop();
}
bool FilePool::run(std::function<void()> job) {
  return state_->run(std::move(job));
}
void FilePool::stop() {
  state_->stop();
}
std::size_t FilePool::queue_length() const noexcept {
  return state_->queue_length();
}

}  // namespace iceblink::daemon
