#include "iceberg/pruning/value_text.h"

#include <algorithm>

#include "iceberg/ascii.h"
#include "iceberg/pruning/calendar.h"

namespace iceblink::iceberg {
namespace {

constexpr WideInteger kWideMax =
    static_cast<WideInteger>(~UnsignedWideInteger{0} >> 1);  // two's complement
constexpr WideInteger kWideMin = -kWideMax - 1;
constexpr std::int64_t kNanosecondsInSecond = 1'000'000'000;

/// Takes the front off a text, piece by piece.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool take(char c) noexcept {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// '-', '+', or 0 where there is none.
  [[nodiscard]] char take_sign() noexcept {
    if (take('-')) return '-';
    return take('+') ? '+' : '\0';
  }
  /// All digits that follow.
  [[nodiscard]] std::string_view take_digits() noexcept {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_digit);
    const auto digits = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(digits.size());
    return digits;
  }
  /// Two digits, for a number below `limit`.
  [[nodiscard]] std::optional<unsigned> take_two(unsigned limit) noexcept {
    if (rest_.size() < 2 || !is_digit(rest_[0]) || !is_digit(rest_[1])) return std::nullopt;
    const auto number = static_cast<unsigned>((rest_[0] - '0') * 10 + (rest_[1] - '0'));
    if (number >= limit) return std::nullopt;
    rest_.remove_prefix(2);
    return number;
  }

 private:
  std::string_view rest_;
};

/// Of at most 18 digits.
std::int64_t number_of(std::string_view digits) noexcept {
  std::int64_t number = 0;
  for (const char c : digits) number = number * 10 + (c - '0');
  return number;
}

/// Days since 1970-01-01.
std::optional<std::int64_t> take_date(TextCursor& cursor) noexcept {
  const char sign = cursor.take_sign();
  const std::string_view digits = cursor.take_digits();
  if (digits.size() < 4 || digits.size() > (sign != 0 ? 9 : 4)) return std::nullopt;
  const std::int64_t year = number_of(digits);
  if (!cursor.take('-')) return std::nullopt;
  const auto month = cursor.take_two(13);
  if (!month || !cursor.take('-')) return std::nullopt;
  const auto day = cursor.take_two(32);
  if (!day) return std::nullopt;
  const CivilDate date{sign == '-' ? -year : year, *month, *day};
  if (!is_date(date)) return std::nullopt;
  return days_since_epoch(date);
}

/// Nanoseconds since midnight.
std::optional<std::int64_t> take_time(TextCursor& cursor) noexcept {
  const auto hour = cursor.take_two(24);
  if (!hour || !cursor.take(':')) return std::nullopt;
  const auto minute = cursor.take_two(60);
  if (!minute) return std::nullopt;
  const std::int64_t minutes = *hour * 60 + *minute;
  if (!cursor.take(':')) return minutes * 60 * kNanosecondsInSecond;
  const auto second = cursor.take_two(60);
  if (!second) return std::nullopt;
  std::int64_t nanoseconds = (minutes * 60 + *second) * kNanosecondsInSecond;
  if (!cursor.take('.')) return nanoseconds;
  const std::string_view fraction = cursor.take_digits();
  if (fraction.empty() || fraction.size() > 9) return std::nullopt;
  std::int64_t part = number_of(fraction);
  for (std::size_t i = fraction.size(); i < 9; ++i) part *= 10;
  return nanoseconds + part;
}

/// In minutes, ahead of UTC.
std::optional<std::int64_t> take_offset(TextCursor& cursor) noexcept {
  if (cursor.take('Z')) return 0;
  const char sign = cursor.take_sign();
  if (sign == 0) return std::nullopt;
  const auto hours = cursor.take_two(24);
  if (!hours || !cursor.take(':')) return std::nullopt;
  const auto minutes = cursor.take_two(60);
  if (!minutes) return std::nullopt;
  const std::int64_t offset = *hours * 60 + *minutes;
  return sign == '-' ? -offset : offset;
}

std::optional<WideInteger> in_units(WideInteger nanoseconds, WideInteger unit) noexcept {
  if (nanoseconds % unit != 0) return std::nullopt;
  return nanoseconds / unit;
}

}  // namespace

WideInteger saturating_multiply(WideInteger a, WideInteger b) noexcept {
  WideInteger product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? kWideMax : kWideMin;
}

WideInteger power_of_ten(unsigned exponent) noexcept {
  WideInteger power = 1;
  for (unsigned i = 0; i < exponent; ++i) power = saturating_multiply(power, 10);
  return power;
}

std::optional<WideInteger> parse_decimal(std::string_view text, const Type& type) noexcept {
  TextCursor cursor(text);
  const bool is_negative = cursor.take_sign() == '-';
  const std::string_view whole = cursor.take_digits();
  const std::string_view fraction = cursor.take('.') ? cursor.take_digits() : std::string_view();
  if (!cursor.is_at_end() || whole.size() + fraction.size() == 0) return std::nullopt;
  if (fraction.size() > type.scale) return std::nullopt;
  WideInteger unscaled = 0;
  const auto append = [&](char digit) {
    unscaled = saturating_multiply(unscaled, 10);
    if (__builtin_add_overflow(unscaled, digit - '0', &unscaled)) unscaled = kWideMax;
  };
  std::for_each(whole.begin(), whole.end(), append);
  std::for_each(fraction.begin(), fraction.end(), append);
  const auto missing = static_cast<unsigned>(type.scale - fraction.size());
  unscaled = saturating_multiply(unscaled, power_of_ten(missing));
  return is_negative ? -unscaled : unscaled;
}

std::optional<WideInteger> parse_date(std::string_view text) noexcept {
  TextCursor cursor(text);
  const auto days = take_date(cursor);
  if (!days || !cursor.is_at_end()) return std::nullopt;
  return *days;
}

std::optional<WideInteger> parse_time(std::string_view text) noexcept {
  TextCursor cursor(text);
  const auto nanoseconds = take_time(cursor);
  if (!nanoseconds || !cursor.is_at_end()) return std::nullopt;
  return in_units(*nanoseconds, 1000);
}

std::optional<WideInteger> parse_timestamp(std::string_view text, const Type& type) noexcept {
  const bool has_zone =
      type.kind == TypeKind::kTimestampTz || type.kind == TypeKind::kTimestampTzNs;
  const bool is_fine = type.kind == TypeKind::kTimestampNs || type.kind == TypeKind::kTimestampTzNs;
  TextCursor cursor(text);
  const auto days = take_date(cursor);
  if (!days || !cursor.take('T')) return std::nullopt;
  const auto of_day = take_time(cursor);
  if (!of_day) return std::nullopt;
  const auto offset = has_zone ? take_offset(cursor) : std::optional<std::int64_t>(0);
  if (!offset || !cursor.is_at_end()) return std::nullopt;
  const WideInteger seconds = WideInteger{*days} * kSecondsInDay - WideInteger{*offset} * 60;
  return in_units(seconds * kNanosecondsInSecond + *of_day, is_fine ? 1 : 1000);
}

}  // namespace iceblink::iceberg
