// The time of day, as metadata and stored answers have it.
#pragma once

#include <chrono>
#include <cstdint>

namespace iceblink::daemon {

/// Since the Unix epoch. Goes back where somebody sets the clock back.
[[nodiscard]] inline std::int64_t now_ms() noexcept {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

}  // namespace iceblink::daemon
