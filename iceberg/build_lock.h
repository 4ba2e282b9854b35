// A lock that a forked child can take although a thread that it does not have held it.
//
// For work whose unfinished state nobody can see: the child simply does it again.
#pragma once

#include <atomic>
#include <cstdint>

namespace iceblink::iceberg {

class BuildLock {
 public:
  /// Throws std::bad_alloc.
  BuildLock();
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

  void lock() noexcept {
    // relaxed: it changes in a child that has one thread
    const std::uint32_t own = life_.load(std::memory_order_relaxed);
    std::uint32_t holder = 0;
    // SYNC build-lock: acquires what the last holder built; partner unlock
    while (!holder_.compare_exchange_weak(holder, own, std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
      // relaxed, above: a failed exchange reads nothing but the holder
      if (holder == own) {
        // relaxed: the exchange acquires
        holder_.wait(own, std::memory_order_relaxed);
        holder = 0;
      }
      // Else it is free, or was held in the parent when this process was forked: taken over.
    }
  }
  void unlock() noexcept {
    // SYNC build-lock: releases what was built; partner lock
    holder_.store(0, std::memory_order_release);
    holder_.notify_all();
  }

 private:
  /// Of this process: one more than its parent's. A pid is no such thing: a child that is the first
  /// of a namespace of its own may have its parent's.
  static std::atomic<std::uint32_t> life_;

  std::atomic<std::uint32_t> holder_{0};  // the life that holds it; 0: free
};

}  // namespace iceblink::iceberg
