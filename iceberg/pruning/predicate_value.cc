#include "iceberg/pruning/predicate_value.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "iceberg/pruning/value_text.h"
#include "iceberg/pruning/wide_integer.h"
#include "iceberg/type_text.h"
#include "iceberg/utf8.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {
namespace {

constexpr std::size_t kShownBytesMax = 60;

std::string name_of(const Type& type) {
  switch (type.kind) {
    case TypeKind::kStruct:
      return "a struct";
    case TypeKind::kList:
      return "a list";
    case TypeKind::kMap:
      return "a map";
    default: {
      const std::string name = format_primitive_type(type);
      return (name[0] == 'i' || name.starts_with("un") ? "an " : "a ") + name;
    }
  }
}

std::string_view taken_by(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return "it takes true and false";
    case TypeKind::kInt:
    case TypeKind::kLong:
      return "it takes an integer";
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return "it takes a number";
    case TypeKind::kDecimal:
      return "it takes an integer, or text with as many digits behind the point as its scale";
    case TypeKind::kDate:
      return "it takes days since 1970-01-01, or text as '2026-01-31'";
    case TypeKind::kTime:
      return "it takes microseconds since midnight, or text as '22:31:08.123456'";
    case TypeKind::kTimestamp:
      return "it takes microseconds, or text as '2026-01-31T22:31:08.123456'";
    case TypeKind::kTimestampTz:
      return "it takes microseconds, or text as '2026-01-31T22:31:08.123456+00:00'";
    case TypeKind::kTimestampNs:
      return "it takes nanoseconds, or text as '2026-01-31T22:31:08.123456789'";
    case TypeKind::kTimestampTzNs:
      return "it takes nanoseconds, or text as '2026-01-31T22:31:08.123456789+00:00'";
    case TypeKind::kUuid:
      return "it takes text as 'f79c3e09-677c-4bbd-a479-3f349cb785e7'";
    case TypeKind::kString:
      return "it takes text";
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return "it takes bytes";
    default:
      return "it is null or is not";
  }
}

std::string shown(const PredicateValue& value) {
  if (const bool* const truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
    return "the integer " + std::to_string(*integer);
  }
  if (const auto* const number = std::get_if<double>(&value)) {
    return "the number " + to_text(Literal::of_number(TypeKind::kDouble, *number));
  }
  const std::string_view text = std::get<std::string>(value);
  if (text.size() <= kShownBytesMax) return "text '" + on_one_line(text) + "'";
  std::size_t end = kShownBytesMax;
  while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return "text '" + on_one_line(text.substr(0, end)) + "…'";
}

ComparedValue within(const Literal& value) noexcept {
  return {ValuePlace::kWithin, value, value};
}

ComparedValue integer_value(const Type& type, WideInteger value) noexcept {
  const bool is_small = type.kind == TypeKind::kInt || type.kind == TypeKind::kDate;
  const WideInteger least = is_small ? std::numeric_limits<std::int32_t>::min()
                                     : std::numeric_limits<std::int64_t>::min();
  const WideInteger greatest = is_small ? std::numeric_limits<std::int32_t>::max()
                                        : std::numeric_limits<std::int64_t>::max();
  if (value < least) return {.place = ValuePlace::kBelowAll, .low = {}, .high = {}};
  if (value > greatest) return {.place = ValuePlace::kAboveAll, .low = {}, .high = {}};
  return within(Literal::of_integer(type.kind, static_cast<std::int64_t>(value)));
}

ComparedValue decimal_value(const Type& type, WideInteger unscaled) noexcept {
  const WideInteger limit = power_of_ten(type.precision);
  if (unscaled <= -limit) return {.place = ValuePlace::kBelowAll, .low = {}, .high = {}};
  if (unscaled >= limit) return {.place = ValuePlace::kAboveAll, .low = {}, .high = {}};
  return within(
      Literal::of_decimal(narrow(static_cast<UnsignedWideInteger>(unscaled)), type.scale));
}

/// The value that a float column has when `number` is written into it.
double as_float(double number) noexcept {
  constexpr double kGreatest = std::numeric_limits<float>::max();
  if (number > kGreatest) return std::numeric_limits<double>::infinity();
  if (number < -kGreatest) return -std::numeric_limits<double>::infinity();
  return double{static_cast<float>(number)};
}

ComparedValue number_value(const Type& type, double low, double high) noexcept {
  if (std::isnan(low)) return {.place = ValuePlace::kNan, .low = {}, .high = {}};
  if (type.kind == TypeKind::kFloat) {
    low = std::min(low, as_float(low));
    high = std::max(high, as_float(high));
  }
  return {ValuePlace::kWithin, Literal::of_number(type.kind, low),
          Literal::of_number(type.kind, high)};
}

ComparedValue number_value(const Type& type, std::int64_t integer) noexcept {
  const auto nearest = static_cast<double>(integer);
  const auto exact = static_cast<WideInteger>(nearest);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double low = exact > integer ? std::nextafter(nearest, -kInfinity) : nearest;
  const double high = exact < integer ? std::nextafter(nearest, kInfinity) : nearest;
  return number_value(type, low, high);
}

std::optional<ComparedValue> value_of_integer(const Type& type, std::int64_t integer) noexcept {
  switch (type.kind) {
    case TypeKind::kInt:
    case TypeKind::kLong:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return integer_value(type, integer);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return number_value(type, integer);
    case TypeKind::kDecimal:
      return decimal_value(type, saturating_multiply(integer, power_of_ten(type.scale)));
    default:
      return std::nullopt;
  }
}

std::optional<ComparedValue> integer_of_text(const Type& type, std::optional<WideInteger> value) {
  if (!value) return std::nullopt;
  return type.kind == TypeKind::kDecimal ? decimal_value(type, *value)
                                         : integer_value(type, *value);
}

std::optional<ComparedValue> value_of_text(const Type& type, std::string_view text,
                                           std::string& storage) {
  switch (type.kind) {
    case TypeKind::kDecimal:
      return integer_of_text(type, parse_decimal(text, type));
    case TypeKind::kDate:
      return integer_of_text(type, parse_date(text));
    case TypeKind::kTime:
      return integer_of_text(type, parse_time(text));
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return integer_of_text(type, parse_timestamp(text, type));
    case TypeKind::kUuid: {
      const auto uuid = parse_uuid(text);
      if (!uuid) return std::nullopt;
      storage.assign(uuid->begin(), uuid->end());
      return within(Literal::of_bytes(type.kind, storage));
    }
    case TypeKind::kString:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      storage = text;
      return within(Literal::of_bytes(type.kind, storage));
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<ComparedValue> compared_value(const Type& type, const PredicateValue& value,
                                     std::string& storage) {
  std::optional<ComparedValue> compared;
  if (const bool* const truth = std::get_if<bool>(&value)) {
    if (type.kind == TypeKind::kBoolean) {
      compared = within(Literal::of_integer(type.kind, *truth ? 1 : 0));
    }
  } else if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
    compared = value_of_integer(type, *integer);
  } else if (const auto* const number = std::get_if<double>(&value)) {
    if (type.kind == TypeKind::kFloat || type.kind == TypeKind::kDouble) {
      compared = number_value(type, *number, *number);
    }
  } else {
    compared = value_of_text(type, std::get<std::string>(value), storage);
  }
  if (compared) return *compared;
  return Error(ErrorKind::kInvalidArgument, name_of(type) + " cannot be compared with " +
                                                shown(value) + "; " + std::string(taken_by(type)));
}

}  // namespace iceblink::iceberg
