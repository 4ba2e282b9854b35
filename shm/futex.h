// The futex calls on the low half of the root word: a shared wait that works on a read-only
// mapping (std::atomic::wait is private to a process).
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>

#include "shm/layout.h"

namespace iceblink::shm {

namespace futex_internal {
[[nodiscard]] inline const std::uint32_t* low_half(const Atomic<RootWord>& root) noexcept {
  const auto* words = reinterpret_cast<const std::uint32_t*>(&root);
  return words + (std::endian::native == std::endian::little ? 0 : 1);
}
}  // namespace futex_internal

/// Sleeps while the low half of `root` is that of `seen`, at most `timeout`. May wake early; the
/// caller re-reads the whole word. (A flip alone leaves the low half as it is: it wakes all the
/// same, because the publisher wakes unconditionally.)
inline void wait_for_root(const Atomic<RootWord>& root, RootWord seen,
                          std::chrono::nanoseconds timeout) noexcept {
  if (timeout <= std::chrono::nanoseconds::zero()) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec relative{static_cast<time_t>(seconds.count()),
                          static_cast<long>((timeout - seconds).count())};
  ::syscall(SYS_futex, futex_internal::low_half(root), FUTEX_WAIT, static_cast<std::uint32_t>(seen),
            &relative, nullptr, 0);
}

/// Wakes every waiter, in every process.
inline void wake_root_waiters(const Atomic<RootWord>& root) noexcept {
  ::syscall(SYS_futex, futex_internal::low_half(root), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace iceblink::shm
