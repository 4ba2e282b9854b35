#include "iceberg/json_surrogates.h"

#include <charconv>
#include <cstdint>

namespace iceblink::iceberg {
namespace {

constexpr std::size_t kEscapeBytes = 6;  // \uXXXX

/// The UTF-16 unit of the escape \uXXXX at `at`; 0 where there is none.
std::uint16_t unit_at(std::string_view json, std::size_t at) noexcept {
  if (at > json.size() || json.size() - at < kEscapeBytes || json.substr(at, 2) != "\\u") return 0;
  std::uint16_t unit = 0;
  const char* const end = json.data() + at + kEscapeBytes;
  const auto read = std::from_chars(json.data() + at + 2, end, unit, 16);
  return read.ptr == end ? unit : 0;
}

bool is_high(std::uint16_t unit) noexcept {
  return unit >= 0xd800 && unit <= 0xdbff;
}
bool is_low(std::uint16_t unit) noexcept {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

}  // namespace

// Backslashes stand in strings alone, and each takes the next character with it.
std::optional<std::size_t> find_half_surrogate(std::string_view json) noexcept {
  std::size_t at = json.find('\\');
  while (at != std::string_view::npos) {
    const std::uint16_t unit = unit_at(json, at);
    std::size_t behind = at + 2;
    if (is_low(unit)) return at;
    if (is_high(unit)) {
      if (!is_low(unit_at(json, at + kEscapeBytes))) return at;
      behind = at + 2 * kEscapeBytes;
    }
    at = behind < json.size() ? json.find('\\', behind) : std::string_view::npos;
  }
  return std::nullopt;
}

std::string half_surrogate_message(std::string_view json, std::size_t at) {
  return "not valid JSON at byte " + std::to_string(at) + ": " +
         std::string(json.substr(at, kEscapeBytes)) + " is half of a surrogate pair";
}

}  // namespace iceblink::iceberg
