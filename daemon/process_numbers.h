// What the kernel says of this process. Read when asked for; what cannot be read is zero.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace iceblink::daemon {

struct ProcessNumbers {
  std::uint64_t resident_bytes = 0;
  std::uint64_t open_fd_count = 0;
  std::uint64_t fd_count_max = 0;
  double cpu_s = 0;
  double start_time_s = 0;  // since the epoch
};

/// O(open descriptors).
[[nodiscard]] ProcessNumbers process_numbers();

}  // namespace iceblink::daemon
