// What the allocator takes for a block.
#pragma once

#include <cstddef>
#include <string>

namespace iceblink::client::cache {

/// A header of 8 bytes, units of 16, at least 32.
[[nodiscard]] constexpr std::size_t allocated_bytes(std::size_t bytes) noexcept {
  return bytes <= 24 ? 32 : (bytes + 8 + 15) / 16 * 16;
}
/// Beside the string itself.
[[nodiscard]] inline std::size_t allocated_bytes(const std::string& text) noexcept {
  const bool is_inside = text.capacity() < sizeof(std::string) / 2;
  return is_inside ? 0 : allocated_bytes(text.capacity() + 1);
}

}  // namespace iceblink::client::cache
