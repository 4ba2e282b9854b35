// Numbers as people read them.
//
// Thread safety: free functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace iceblink::cli {

/// "1,234,567"
[[nodiscard]] std::string grouped(std::uint64_t number);
/// "123 bytes", "1.5 KiB", "12.0 MiB", "3.2 GiB"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
/// "250 ms", "12 s", "3 min", "5 h 12 min", "3 days": the two parts that matter.
[[nodiscard]] std::string duration_text(std::chrono::nanoseconds duration);

}  // namespace iceblink::cli
