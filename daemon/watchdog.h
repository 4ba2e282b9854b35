// What the service manager is told while the daemon runs (sd_notify(3), sd_watchdog_enabled(3)):
// that the writer gets on, and what there is to show.
//
// It is fed by the writer alone: nothing else sends WATCHDOG=1, so that a manager whose watchdog
// runs out knows that the writer is stuck, however well the rest of the daemon answers.
//
// Thread safety: on_progress by one thread, the writer's; say_stopping from any.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace iceblink::daemon {

/// $WATCHDOG_USEC, where $WATCHDOG_PID is this process or not set; nothing: no watchdog.
[[nodiscard]] std::optional<std::chrono::microseconds> watchdog_period();

class Watchdog {
 public:
  /// `status`: what STATUS= says. Called on the writer's thread, seldom.
  Watchdog(std::optional<std::chrono::microseconds> period, std::function<std::string()> status);

  /// How often an idle writer has to say that it is there.
  [[nodiscard]] std::chrono::milliseconds idle_period() const noexcept;
  /// A writer that is silent for longer is stuck: the watchdog's period, ten seconds at most.
  [[nodiscard]] std::chrono::milliseconds silence_max() const noexcept;
  /// WATCHDOG=1, at most every quarter of the period; STATUS=, at most every ten seconds; and,
  /// while the daemon stops, that it needs and uses more time.
  void on_progress() noexcept;
  /// From now on, progress asks for more time to stop.
  void say_stopping() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  const std::optional<std::chrono::microseconds> period_;
  const std::function<std::string()> status_;
  std::atomic<bool> is_stopping_{false};  // relaxed: a sign, which may be seen a little later

  // The writer's.
  Clock::time_point fed_at_{};
  Clock::time_point status_at_;
  Clock::time_point extended_at_{};
  std::string last_status_;
};

}  // namespace iceblink::daemon
