#include "iceberg/json_number.h"

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "iceberg/ascii.h"

namespace iceblink::iceberg {
namespace {

/// The number that eight characters are, if all of them are digits: pairs, then fours, then all
/// eight are put together at once.
bool read_eight_digits(const char* text, std::uint64_t& value) noexcept {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text, sizeof(bytes));
  constexpr std::uint64_t kHighHalves = 0xf0f0f0f0f0f0f0f0;
  const std::uint64_t above_nine = (bytes + 0x0606060606060606) & kHighHalves;
  if (((bytes & kHighHalves) | (above_nine >> 4)) != 0x3333333333333333) return false;
  bytes = (bytes & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  bytes = (bytes & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  value = (bytes & 0x0000ffff0000ffff) * 42949672960001 >> 32;
  return true;
}

/// An integer as most are written: 1 to 19 digits, no zero in front. False: it is another one, or
/// none.
bool read_plain_integer(std::string_view text, std::int64_t& value) noexcept {
  const bool is_negative = text.front() == '-';
  if (is_negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 19 || (text[0] == '0' && text.size() > 1)) return false;
  std::uint64_t sum = 0;
  std::size_t at = 0;
  if constexpr (std::endian::native == std::endian::little) {
    for (std::uint64_t eight = 0; at + 8 <= text.size(); at += 8) {
      if (!read_eight_digits(text.data() + at, eight)) return false;
      sum = sum * 100'000'000 + eight;
    }
  }
  for (; at < text.size(); ++at) {
    if (!is_digit(text[at])) return false;
    sum = sum * 10 + static_cast<std::uint64_t>(text[at] - '0');
  }
  if (sum > static_cast<std::uint64_t>(INT64_MAX)) return false;
  value = is_negative ? -static_cast<std::int64_t>(sum) : static_cast<std::int64_t>(sum);
  return true;
}

}  // namespace

bool is_json_number(std::string_view text) noexcept {
  std::size_t at = 0;
  const auto take = [&](char c) {
    const bool there = at < text.size() && text[at] == c;
    at += there ? 1 : 0;
    return there;
  };
  const auto take_digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > begin;
  };
  take('-');
  if (!take('0') && !take_digits()) return false;
  if (take('.') && !take_digits()) return false;
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!take_digits()) return false;
  }
  return at == text.size();
}

IntegerFault parse_json_integer(std::string_view text, std::int64_t& value) noexcept {
  if (read_plain_integer(text, value)) return IntegerFault::kNone;
  if (!is_json_number(text)) return IntegerFault::kNoNumber;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return IntegerFault::kNoInteger;
  return error == std::errc{} ? IntegerFault::kNone : IntegerFault::kTooLarge;
}

}  // namespace iceblink::iceberg
