// Bytes as hexadecimal digits, in lower case.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace iceblink::iceberg {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

[[nodiscard]] inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) text.append({kHexDigits[byte >> 4], kHexDigits[byte & 15]});
  return text;
}

[[nodiscard]] inline std::string to_hex(std::string_view bytes) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

/// Nothing where `text` is not pairs of such digits.
[[nodiscard]] inline std::optional<std::string> from_hex(std::string_view text) {
  std::string bytes;
  if (text.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto high = kHexDigits.find(text[i]);
    const auto low = kHexDigits.find(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

}  // namespace iceblink::iceberg
