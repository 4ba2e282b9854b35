// Keeps read transactions out while LMDB's map is moved: a shared lock whose holders may move
// between threads (std::shared_mutex must be unlocked where it was locked).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace iceblink::daemon {

class MapGate {
 public:
  void enter() {
    std::unique_lock lock(mutex_);
    // One who waits to close holds newcomers back, or it would never come to it; but for a second
    // only, so that a thread that enters twice is slow, and not stuck.
    changed_.wait_for(lock, std::chrono::seconds(1), [&] { return waiting_ == 0; });
    changed_.wait(lock, [&] { return !closed_; });
    ++inside_;
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      --inside_;
    }
    changed_.notify_all();
  }
  /// Waits until nobody is inside, and lets nobody in until open().
  void close() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [&] { return inside_ == 0 && !closed_; });
    --waiting_;
    closed_ = true;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = false;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t inside_ = 0;
  std::uint64_t waiting_ = 0;
  bool closed_ = false;
};

/// Inside a gate for as long as it lives.
class MapPass {
 public:
  explicit MapPass(MapGate& gate) : gate_(gate) { gate_.enter(); }
  ~MapPass() { gate_.leave(); }
  MapPass(const MapPass&) = delete;
  MapPass& operator=(const MapPass&) = delete;

 private:
  MapGate& gate_;
};

/// Holds a gate closed for as long as it lives.
class MapClosed {
 public:
  explicit MapClosed(MapGate& gate) : gate_(gate) { gate_.close(); }
  ~MapClosed() { gate_.open(); }
  MapClosed(const MapClosed&) = delete;
  MapClosed& operator=(const MapClosed&) = delete;

 private:
  MapGate& gate_;
};

}  // namespace iceblink::daemon
