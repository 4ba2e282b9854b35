// Text as bytes: whether it is UTF-8, and how it is shown on one line.
#pragma once

#include <string>
#include <string_view>

namespace iceblink {

/// Well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, at most U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Below 0x20, or 0x7F.
[[nodiscard]] constexpr bool is_control(char c) noexcept {
  return (c >= 0 && c < 0x20) || c == 0x7f;
}

/// As \xNN: control characters (U+0080 to U+009F, too), what ends a line or turns the direction of
/// writing (U+2028 to U+202E, U+2066 to U+2069), and all bytes above 0x7F of what is not UTF-8.
[[nodiscard]] std::string on_one_line(std::string_view text);

}  // namespace iceblink
