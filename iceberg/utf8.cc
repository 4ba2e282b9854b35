#include "iceberg/utf8.h"

#include <cstdint>

namespace iceblink {

bool is_utf8(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    std::size_t size = 0;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
      size = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      size = 3;
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      size = 4;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    } else {
      return false;
    }
    if (i + size > text.size()) return false;
    for (std::size_t k = 1; k < size; ++k) {
      const auto byte = static_cast<std::uint8_t>(text[i + k]);
      if (byte < low || byte > high) return false;
      low = 0x80;
      high = 0xbf;
    }
    i += size;
  }
  return true;
}

namespace {

/// Bytes of the character at `at` of a UTF-8 text, when it is one that moves a terminal's cursor,
/// ends a line or turns its direction; else 0.
std::size_t unprintable_bytes(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
  if (is_control(text[at])) return 1;
  if (byte(0) == 0xc2) return byte(1) < 0xa0 ? 2 : 0;  // U+0080 to U+009F
  if (byte(0) != 0xe2) return 0;
  const bool ends_line_or_turns = byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae;
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return ends_line_or_turns || isolates ? 3 : 0;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    out += "\\x";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

}  // namespace

std::string on_one_line(std::string_view text) {
  const bool utf8 = is_utf8(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t bytes = 0;
    if (utf8) {
      bytes = unprintable_bytes(text, at);
    } else if (is_control(text[at]) || static_cast<std::uint8_t>(text[at]) >= 0x80) {
      bytes = 1;
    }
    if (bytes == 0) {
      out += text[at++];
      continue;
    }
    append_escaped(out, text.substr(at, bytes));
    at += bytes;
  }
  return out;
}

}  // namespace iceblink
