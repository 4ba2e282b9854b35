// The atomics of the protocol, by the names under which a checker of memory orders can take their
// place: tests/relacy/ builds these same sources with a header of this name that comes first.
//
// Here they are the standard library's, and cost what those cost.
#pragma once

#include <atomic>

namespace iceblink::shm {

template <typename T>
using Atomic = std::atomic<T>;

[[gnu::always_inline]] inline void thread_fence(std::memory_order order) noexcept {
  std::atomic_thread_fence(order);
}

/// Orders what the compiler makes of this thread, and nothing else.
[[gnu::always_inline]] inline void compiler_fence(std::memory_order order) noexcept {
  std::atomic_signal_fence(order);
}

}  // namespace iceblink::shm
