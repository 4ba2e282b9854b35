#include "daemon/log_rate.h"

#include <utility>

namespace iceblink::daemon {

std::optional<std::uint64_t> LogRate::take(std::string_view reason, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = windows_.try_emplace(reason);
  Window& window = found->second;
  if (is_new || now - window.begun_at >= std::chrono::seconds(1)) {
    window.begun_at = now;
    window.line_count = 0;
  }
  if (window.line_count == kLinesMax) {
    ++window.left_out_count;
    return std::nullopt;
  }
  ++window.line_count;
  return std::exchange(window.left_out_count, 0);
}

}  // namespace iceblink::daemon
