// Whether to ask the daemon about a name that the segment does not have.
//
// Thread safety: all of it. A lookup of an absent name with a live daemon reads the clock and
// writes nothing.
#pragma once

#include <iceblink/options.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace iceblink::client {

/// CLOCK_MONOTONIC in nanoseconds, a few milliseconds late: a quarter of the exact one's price.
[[nodiscard]] inline std::uint64_t coarse_now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

class SecondOpinion {
 public:
  using Clock = std::uint64_t (*)() noexcept;

  explicit SecondOpinion(const CatalogOptions& options, Clock clock = coarse_now_ns) noexcept
      : policy_(options.asks_per_second_max == 0 ? AskDaemon::kNever : options.ask_daemon),
        stale_after_ns_(to_ns(options.stale_after)),
        interval_ns_(
            options.asks_per_second_max == 0 ? 0 : 1'000'000'000 / options.asks_per_second_max),
        clock_(clock) {}

  /// True when the caller is to ask, now: the turn is taken. `heartbeat_ns` is the control page's.
  [[nodiscard]] bool take_turn(std::uint64_t heartbeat_ns) noexcept {
    if (policy_ == AskDaemon::kNever) return false;
    const std::uint64_t now = clock_();
    if (policy_ == AskDaemon::kWhenStale && now <= heartbeat_ns + stale_after_ns_) return false;
    // relaxed, both: it limits a rate and orders nothing
    std::uint64_t next = next_turn_ns_.load(std::memory_order_relaxed);
    return now >= next && next_turn_ns_.compare_exchange_strong(next, now + interval_ns_,
                                                                std::memory_order_relaxed);
  }

 private:
  static std::uint64_t to_ns(std::chrono::milliseconds duration) noexcept {
    return duration.count() < 0 ? 0 : static_cast<std::uint64_t>(duration.count()) * 1'000'000;
  }

  const AskDaemon policy_;
  const std::uint64_t stale_after_ns_;
  const std::uint64_t interval_ns_;
  const Clock clock_;
  std::atomic<std::uint64_t> next_turn_ns_{0};
};

}  // namespace iceblink::client
