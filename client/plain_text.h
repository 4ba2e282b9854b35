// Questions about the bytes of names that must cost next to nothing: eight bytes at a time.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/identifier.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "shm/key.h"
#include "shm/layout.h"

namespace iceblink::client {

namespace plain_text_internal {

inline constexpr std::uint64_t kOnes = 0x0101010101010101;

[[nodiscard]] inline std::uint64_t load_word(const char* from) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

/// True when all eight bytes are 0x20 to 0x7F.
[[nodiscard]] inline bool is_plain(std::uint64_t word) noexcept {
  const bool is_ascii = (word & (kOnes * 0x80)) == 0;
  // At least one of the bits 0x40 and 0x20 of each byte.
  return is_ascii && ((word | word << 1) & (kOnes * 0x40)) == kOnes * 0x40;
}

}  // namespace plain_text_internal

/// True for a non-empty name of printable ASCII, which is valid. Other names may be valid too.
[[nodiscard]] inline bool is_plain_name(std::string_view name) noexcept {
  using namespace plain_text_internal;
  const char* at = name.data();
  std::size_t left = name.size();
  if (left >= 8) {
    for (; left > 8; at += 8, left -= 8) {
      if (!is_plain(load_word(at))) return false;
    }
    return is_plain(load_word(at + left - 8));  // may overlap the word before
  }
  std::uint64_t word = kOnes * 0x20;
  std::memcpy(&word, at, left);
  return left > 0 && is_plain(word);
}

/// As validate() of iceblink/identifier.h, at once for names of printable ASCII.
[[nodiscard]] inline bool is_plainly_valid(const Namespace& levels) noexcept {
  std::size_t bytes = 0;
  for (const auto& level : levels) {
    if (!is_plain_name(level)) return false;
    bytes += level.size() + 1;
  }
  return !levels.empty() && bytes <= kEncodedIdentifierBytesMax;
}
[[nodiscard]] inline bool is_plainly_valid(const TableIdent& ident) noexcept {
  std::size_t bytes = ident.name.size();
  for (const auto& level : ident.levels) {
    if (!is_plain_name(level)) return false;
    bytes += level.size() + 1;
  }
  return !ident.levels.empty() && is_plain_name(ident.name) && bytes <= kEncodedIdentifierBytesMax;
}

/// Ok or what is wrong with the identifier.
template <typename Identifier>
[[nodiscard]] Status check(const Identifier& identifier) {
  if (is_plainly_valid(identifier)) return Ok{};
  return validate(identifier);
}

}  // namespace iceblink::client
