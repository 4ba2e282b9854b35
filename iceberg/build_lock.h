// A lock that a forked child can take although a thread that it does not have held it.
//
// For work whose unfinished state nobody can see: the child simply does it again.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace iceblink::iceberg {

class BuildLock {
 public:
  void lock() noexcept {
    const auto own = static_cast<std::uint32_t>(::getpid());
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
  std::atomic<std::uint32_t> holder_{0};  // the process that holds it; 0: free
};

}  // namespace iceblink::iceberg
