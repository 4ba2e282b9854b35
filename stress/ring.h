// A queue in shared memory from one thread to another, of any process: what was pushed is there
// even when its writer is killed in the next instant.
//
// Thread safety: one thread pushes, one takes. All zero is an empty ring.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace iceblink::stress {

template <typename T, std::size_t Capacity>
class Ring {
 public:
  /// False: full.
  bool push(const T& item) noexcept {
    // relaxed: written by this thread alone
    const std::uint64_t end = end_.load(std::memory_order_relaxed);
    // SYNC stress-ring: acquires the room that pop() gave back
    if (end - begin_.load(std::memory_order_acquire) == Capacity) return false;
    items_[end % Capacity] = item;
    // SYNC stress-ring: releases the item; partner front()
    end_.store(end + 1, std::memory_order_release);
    return true;
  }

  /// The oldest; nullptr: none. Valid until pop().
  [[nodiscard]] const T* front() const noexcept {
    // relaxed: written by this thread alone
    const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    // SYNC stress-ring: acquires the item; partner push()
    if (begin == end_.load(std::memory_order_acquire)) return nullptr;
    return &items_[begin % Capacity];
  }
  void pop() noexcept {
    // relaxed: written by this thread alone
    const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    // SYNC stress-ring: releases the room; partner push()
    begin_.store(begin + 1, std::memory_order_release);
  }

 private:
  std::atomic<std::uint64_t> begin_;
  std::atomic<std::uint64_t> end_;
  std::array<T, Capacity> items_;
};

}  // namespace iceblink::stress
