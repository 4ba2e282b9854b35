#include "daemon/watchdog.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include "daemon/environment_number.h"
#include "daemon/service_manager.h"

namespace iceblink::daemon {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kStatusPeriod{10};
/// What one sign of progress is worth while the daemon stops, and how often it is given.
constexpr std::string_view kMoreTime = "EXTEND_TIMEOUT_USEC=10000000";
constexpr std::chrono::seconds kMoreTimePeriod{2};
/// Without a watchdog, for /readyz and /metrics.
constexpr milliseconds kIdlePeriod{1000};
constexpr milliseconds kSilenceMax{10'000};

}  // namespace

std::optional<microseconds> watchdog_period() {
  const auto period_us = number_in_environment("WATCHDOG_USEC");
  if (!period_us || *period_us == 0) return std::nullopt;
  if (std::getenv("WATCHDOG_PID") != nullptr) {
    const auto pid = number_in_environment("WATCHDOG_PID");
    if (!pid || *pid != static_cast<std::uint64_t>(::getpid())) return std::nullopt;
  }
  return microseconds(*period_us);
}

Watchdog::Watchdog(std::optional<microseconds> period, std::function<std::string()> status)
    : period_(period), status_(std::move(status)), status_at_(Clock::now()) {}

milliseconds Watchdog::idle_period() const noexcept {
  if (!period_) return kIdlePeriod;
  const auto half = std::chrono::duration_cast<milliseconds>(*period_ / 2);
  return std::clamp(half, milliseconds(1), kIdlePeriod);
}

milliseconds Watchdog::silence_max() const noexcept {
  if (!period_) return kSilenceMax;
  return std::clamp(std::chrono::duration_cast<milliseconds>(*period_), milliseconds(1),
                    kSilenceMax);
}

void Watchdog::on_progress() noexcept {
  const auto now = Clock::now();
  if (period_ && now - fed_at_ >= *period_ / 4) {
    fed_at_ = now;
    notify_service_manager("WATCHDOG=1");
  }
  // relaxed: a sign, which may be seen a little later
  if (is_stopping_.load(std::memory_order_relaxed)) {
    if (now - extended_at_ < kMoreTimePeriod) return;
    extended_at_ = now;
    notify_service_manager(kMoreTime);
  } else if (now - status_at_ >= kStatusPeriod) {
    status_at_ = now;
    try {
      if (std::string status = status_(); status != last_status_) {
        last_status_ = std::move(status);
        notify_service_manager("STATUS=" + last_status_);
      }
    } catch (const std::exception&) {
      // No memory for a line that is only shown.
    }
  }
}

void Watchdog::say_stopping() noexcept {
  // relaxed: a sign, which may be seen a little later
  is_stopping_.store(true, std::memory_order_relaxed);
}

}  // namespace iceblink::daemon
