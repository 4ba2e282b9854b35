// How often a line of one reason is written: a flood of refusals must not become one of the log.
//
// Thread safety: all of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace iceblink::daemon {

class LogRate {
 public:
  using Clock = std::chrono::steady_clock;
  /// Lines of one reason within one second.
  static constexpr unsigned kLinesMax = 10;

  /// A line may be written; then: how many of this reason were left out since the last one.
  /// `reason`: static storage, one of a fixed set.
  [[nodiscard]] std::optional<std::uint64_t> take(std::string_view reason, Clock::time_point now);

 private:
  struct Window {
    Clock::time_point begun_at{};
    unsigned line_count = 0;
    std::uint64_t left_out_count = 0;
  };
  std::mutex mutex_;
  std::map<std::string_view, Window> windows_;  // guarded by mutex_
};

}  // namespace iceblink::daemon
