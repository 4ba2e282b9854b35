#include "iceberg/uuid.h"

#include <cstddef>

#include "iceberg/ascii.h"

namespace iceblink::iceberg {
namespace {

constexpr std::size_t kTextBytes = 36;

constexpr bool is_dash_at(std::size_t i) noexcept {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

}  // namespace

std::optional<Uuid> parse_uuid(std::string_view text) noexcept {
  if (text.size() != kTextBytes) return std::nullopt;
  Uuid uuid{};
  std::size_t digit_count = 0;
  for (std::size_t i = 0; i < kTextBytes; ++i) {
    if (is_dash_at(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int value = hex_value(text[i]);
    if (value < 0) return std::nullopt;
    auto& byte = uuid[digit_count++ / 2];
    byte = static_cast<std::uint8_t>((byte << 4) | value);
  }
  return uuid;
}

std::string format_uuid(const Uuid& uuid) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : uuid) {
    if (is_dash_at(text.size())) text += '-';
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace iceblink::iceberg
