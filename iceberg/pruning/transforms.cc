#include "iceberg/pruning/transforms.h"

#include <algorithm>
#include <array>
#include <bit>

#include "iceberg/pruning/calendar.h"
#include "iceberg/pruning/wide_integer.h"

namespace iceblink::iceberg {
namespace {

bool is_timestamp(TypeKind kind) noexcept {
  return kind == TypeKind::kTimestamp || kind == TypeKind::kTimestampTz ||
         kind == TypeKind::kTimestampNs || kind == TypeKind::kTimestampTzNs;
}

bool is_bucketed(TypeKind kind) noexcept {
  switch (kind) {
    case TypeKind::kInt:
    case TypeKind::kLong:
    case TypeKind::kDecimal:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return true;
    default:
      return is_timestamp(kind);
  }
}

bool is_truncated(TypeKind kind) noexcept {
  return kind == TypeKind::kInt || kind == TypeKind::kLong || kind == TypeKind::kDecimal ||
         kind == TypeKind::kString || kind == TypeKind::kBinary;
}

bool is_identified(const Type& type) noexcept {
  return !type.is_nested() && type.kind != TypeKind::kVariant && type.kind != TypeKind::kGeometry &&
         type.kind != TypeKind::kGeography;
}

Type int_type() noexcept {
  Type type;
  type.kind = TypeKind::kInt;
  return type;
}
Type date_type() noexcept {
  Type type;
  type.kind = TypeKind::kDate;
  return type;
}

std::uint32_t four_bytes(std::string_view bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8) | static_cast<std::uint8_t>(bytes[i]);
  }
  return value;
}

std::uint32_t murmur3_block(std::uint32_t block) noexcept {
  return std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U;
}

std::int32_t murmur3(std::string_view bytes) noexcept {
  std::uint32_t hash = 0;
  const std::size_t whole_bytes = bytes.size() & ~std::size_t{3};
  for (std::size_t i = 0; i < whole_bytes; i += 4) {
    hash = std::rotl(hash ^ murmur3_block(four_bytes(bytes.substr(i, 4))), 13) * 5 + 0xe6546b64U;
  }
  hash ^= murmur3_block(four_bytes(bytes.substr(whole_bytes)));  // a block of 0 changes nothing
  hash ^= static_cast<std::uint32_t>(bytes.size());
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  return static_cast<std::int32_t>(hash ^ (hash >> 16));
}

std::int32_t hash_of_integer(std::int64_t value) noexcept {
  std::array<char, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
  return murmur3({bytes.data(), bytes.size()});
}

/// Of its fewest bytes, big-endian.
std::int32_t hash_of_decimal(Int128 unscaled) noexcept {
  std::array<char, 16> bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<char>(static_cast<std::uint64_t>(unscaled.high) >> (56 - 8 * i));
    bytes[8 + i] = static_cast<char>(unscaled.low >> (56 - 8 * i));
  }
  const char padding = unscaled.high < 0 ? '\xff' : '\0';
  std::size_t first = 0;
  while (first < 15 && bytes[first] == padding && (bytes[first + 1] & 0x80) == (padding & 0x80)) {
    ++first;
  }
  return murmur3({bytes.data() + first, bytes.size() - first});
}

/// The bytes of the first code points. What is no UTF-8 ends where it would if it were.
std::string_view first_code_points(std::string_view text, std::size_t count) noexcept {
  std::size_t end = 0;
  while (end < text.size()) {
    const bool begins = (static_cast<std::uint8_t>(text[end]) & 0xc0) != 0x80;
    if (begins && count-- == 0) break;
    ++end;
  }
  return text.substr(0, end);
}

Literal truncate(const Transform& transform, const Literal& value) noexcept {
  const std::uint32_t width = transform.parameter;
  switch (value.kind) {
    case TypeKind::kString:
      return Literal::of_bytes(value.kind, first_code_points(value.bytes, width));
    case TypeKind::kBinary:
      return Literal::of_bytes(value.kind, value.bytes.substr(0, width));
    case TypeKind::kDecimal: {
      const auto rest = floor_modulo<WideInteger>(wide(value.unscaled), width);
      const auto bits = static_cast<UnsignedWideInteger>(wide(value.unscaled)) -
                        static_cast<UnsignedWideInteger>(rest);
      return Literal::of_decimal(narrow(bits), value.scale);
    }
    default: {
      const auto rest = floor_modulo<std::int64_t>(value.integer, width);
      const auto bits =
          static_cast<std::uint64_t>(value.integer) - static_cast<std::uint64_t>(rest);
      // What is below the type's range wraps around, as in the reference library.
      return Literal::of_integer(value.kind, value.kind == TypeKind::kInt
                                                 ? static_cast<std::int32_t>(bits)
                                                 : static_cast<std::int64_t>(bits));
    }
  }
}

std::int64_t seconds_of(const Literal& value) noexcept {
  const bool is_nanoseconds =
      value.kind == TypeKind::kTimestampNs || value.kind == TypeKind::kTimestampTzNs;
  return floor_divide<std::int64_t>(value.integer, is_nanoseconds ? 1'000'000'000 : 1'000'000);
}

std::int64_t period_of(TransformKind kind, const Literal& value) noexcept {
  if (kind == TransformKind::kHour) return floor_divide<std::int64_t>(seconds_of(value), 3600);
  const std::int64_t days = value.kind == TypeKind::kDate
                                ? value.integer
                                : floor_divide(seconds_of(value), kSecondsInDay);
  if (kind == TransformKind::kDay) return days;
  const CivilDate date = civil_date(days);
  if (kind == TransformKind::kYear) return date.year - 1970;
  return (date.year - 1970) * 12 + static_cast<std::int64_t>(date.month) - 1;
}

}  // namespace

std::optional<Type> result_type(const Transform& transform, const Type& source) noexcept {
  const TypeKind kind = source.kind;
  const auto when = [](bool takes, const Type& type) {
    return takes ? std::optional(type) : std::nullopt;
  };
  switch (transform.kind) {
    case TransformKind::kIdentity:
      return when(is_identified(source), source);
    case TransformKind::kBucket:
      return when(transform.parameter > 0 && is_bucketed(kind), int_type());
    case TransformKind::kTruncate:
      return when(transform.parameter > 0 && is_truncated(kind), source);
    case TransformKind::kYear:
    case TransformKind::kMonth:
      return when(kind == TypeKind::kDate || is_timestamp(kind), int_type());
    case TransformKind::kDay:  // an int that every writer and reader has as a date
      return when(kind == TypeKind::kDate || is_timestamp(kind), date_type());
    case TransformKind::kHour:
      return when(is_timestamp(kind), int_type());
    case TransformKind::kVoid:
      return is_identified(source) ? source : int_type();
    case TransformKind::kUnknown:
      break;
  }
  return std::nullopt;
}

std::optional<Literal> apply(const Transform& transform, const Literal& value) noexcept {
  Type source;
  source.kind = value.kind;
  source.scale = value.scale;
  const auto result = result_type(transform, source);
  if (!result) return std::nullopt;
  if (value.is_null || transform.kind == TransformKind::kVoid) return Literal::null(result->kind);
  switch (transform.kind) {
    case TransformKind::kIdentity:
      return value;
    case TransformKind::kTruncate:
      return truncate(transform, value);
    case TransformKind::kBucket: {
      const auto hash = bucket_hash(value);
      if (!hash) return std::nullopt;
      const std::uint32_t positive = static_cast<std::uint32_t>(*hash) & 0x7fffffffU;
      return Literal::of_integer(TypeKind::kInt, positive % transform.parameter);
    }
    default:
      // An hour that is none of 32 bits wraps around, as in the reference library.
      return Literal::of_integer(result->kind,
                                 static_cast<std::int32_t>(period_of(transform.kind, value)));
  }
}

std::optional<std::int32_t> bucket_hash(const Literal& value) noexcept {
  if (value.is_null || !is_bucketed(value.kind)) return std::nullopt;
  switch (value.kind) {
    case TypeKind::kDecimal:
      return hash_of_decimal(value.unscaled);
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return murmur3(value.bytes);
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return hash_of_integer(floor_divide<std::int64_t>(value.integer, 1000));
    default:
      return hash_of_integer(value.integer);
  }
}

}  // namespace iceblink::iceberg
