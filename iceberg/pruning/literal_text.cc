// Literals as text, and as JSON (Iceberg table specification, appendix D).
#include <iceblink/metadata/literal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "iceberg/json_writer.h"
#include "iceberg/pruning/calendar.h"
#include "iceberg/pruning/wide_integer.h"
#include "iceberg/utf8.h"
#include "iceberg/uuid.h"

namespace iceblink {
namespace {

constexpr std::size_t kMicrosecondDigits = 6;
constexpr std::size_t kNanosecondDigits = 9;

std::string padded(std::uint64_t number, std::size_t digit_count) {
  std::string digits = std::to_string(number);
  if (digits.size() < digit_count) digits.insert(0, digit_count - digits.size(), '0');
  return digits;
}

/// Years beyond four digits have a sign (ISO 8601, "expanded representation").
std::string date_text(std::int64_t days) {
  const iceberg::CivilDate date = iceberg::civil_date(days);
  std::string text;
  if (date.year < 0) text = '-';
  if (date.year > 9999) text = '+';
  text += padded(static_cast<std::uint64_t>(std::abs(date.year)), 4);
  return text + '-' + padded(date.month, 2) + '-' + padded(date.day, 2);
}

/// `units` since midnight, of which a second has as many as the fraction's digits can tell.
std::string time_text(std::uint64_t units, std::size_t fraction_digits) {
  const std::uint64_t per_second =
      fraction_digits == kNanosecondDigits ? 1'000'000'000U : 1'000'000U;
  const std::uint64_t seconds = units / per_second;
  return padded(seconds / 3600, 2) + ':' + padded(seconds / 60 % 60, 2) + ':' +
         padded(seconds % 60, 2) + '.' + padded(units % per_second, fraction_digits);
}

std::string timestamp_text(std::int64_t units, std::size_t fraction_digits) {
  const std::int64_t per_second = fraction_digits == kNanosecondDigits ? 1'000'000'000 : 1'000'000;
  const std::int64_t per_day = iceberg::kSecondsInDay * per_second;
  const auto of_day = static_cast<std::uint64_t>(iceberg::floor_modulo(units, per_day));
  return date_text(iceberg::floor_divide(units, per_day)) + 'T' +
         time_text(of_day, fraction_digits);
}

/// A time that is none is told as well: it came from a file.
std::string any_time_text(std::int64_t units) {
  if (units >= 0) return time_text(static_cast<std::uint64_t>(units), kMicrosecondDigits);
  return '-' + time_text(-static_cast<std::uint64_t>(units), kMicrosecondDigits);
}

/// The shortest that is read as the same number, with a point or an exponent.
template <typename Number>
std::string shortest_text(Number number) {
  std::array<char, 64> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string number_text(const Literal& value) {
  if (std::isnan(value.number)) return "NaN";
  if (std::isinf(value.number)) return value.number < 0 ? "-Infinity" : "Infinity";
  const bool fits_float = std::abs(value.number) <= std::numeric_limits<float>::max();
  if (value.kind == TypeKind::kFloat && fits_float) {
    return shortest_text(static_cast<float>(value.number));
  }
  return shortest_text(value.number);
}

std::string decimal_text(const Literal& value) {
  const auto bits = static_cast<iceberg::UnsignedWideInteger>(iceberg::wide(value.unscaled));
  const bool is_negative = value.unscaled.high < 0;
  std::string digits;
  for (auto rest = is_negative ? -bits : bits; rest != 0; rest /= 10) {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  }
  const std::size_t digit_count_min = std::size_t{value.scale} + 1;
  if (digits.size() < digit_count_min) digits.append(digit_count_min - digits.size(), '0');
  std::reverse(digits.begin(), digits.end());
  if (value.scale > 0) digits.insert(digits.size() - value.scale, 1, '.');
  return is_negative ? '-' + digits : digits;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

std::string uuid_text(std::string_view bytes) {
  iceberg::Uuid uuid;
  if (bytes.size() != uuid.size()) return hexadecimal(bytes);
  std::copy(bytes.begin(), bytes.end(), uuid.begin());
  return iceberg::format_uuid(uuid);
}

}  // namespace

std::string to_text(const Literal& value) {
  if (value.is_null) return "null";
  switch (value.kind) {
    case TypeKind::kBoolean:
      return value.integer != 0 ? "true" : "false";
    case TypeKind::kInt:
    case TypeKind::kLong:
      return std::to_string(value.integer);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return number_text(value);
    case TypeKind::kDecimal:
      return decimal_text(value);
    case TypeKind::kDate:
      return date_text(value.integer);
    case TypeKind::kTime:
      return any_time_text(value.integer);
    case TypeKind::kTimestamp:
      return timestamp_text(value.integer, kMicrosecondDigits);
    case TypeKind::kTimestampTz:
      return timestamp_text(value.integer, kMicrosecondDigits) + "+00:00";
    case TypeKind::kTimestampNs:
      return timestamp_text(value.integer, kNanosecondDigits);
    case TypeKind::kTimestampTzNs:
      return timestamp_text(value.integer, kNanosecondDigits) + "+00:00";
    case TypeKind::kString:
      return std::string(value.bytes);
    case TypeKind::kUuid:
      return uuid_text(value.bytes);
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return hexadecimal(value.bytes);
    default:
      return "null";
  }
}

std::string to_json(const Literal& value) {
  switch (value.is_null ? TypeKind::kUnknown : value.kind) {
    case TypeKind::kBoolean:
    case TypeKind::kInt:
    case TypeKind::kLong:
      return to_text(value);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      if (std::isfinite(value.number)) return to_text(value);
      break;
    case TypeKind::kUnknown:
    case TypeKind::kVariant:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap:
      return "null";
    default:
      break;
  }
  iceberg::JsonWriter json;
  const std::string text = to_text(value);
  json.string(is_utf8(text) ? text : on_one_line(text));
  return json.take();
}

}  // namespace iceblink
