#include <iceblink/metadata/literal.h>

#include <bit>
#include <cmath>
#include <memory>
#include <string>

#include "iceberg/pruning/calendar.h"
#include "iceberg/pruning/literal_storage.h"
#include "iceberg/pruning/wide_integer.h"
#include "iceberg/type_text.h"

namespace iceblink {
namespace {

using Storage = iceberg::LiteralStorage;
using iceberg::storage_of;

/// At most eight bytes.
std::uint64_t little_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8) | static_cast<std::uint8_t>(bytes[i]);
  }
  return value;
}

std::int64_t little_endian_integer(std::string_view bytes) noexcept {
  const std::uint64_t bits = little_endian(bytes);
  return bytes.size() == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))
                           : static_cast<std::int64_t>(bits);
}

double little_endian_number(std::string_view bytes) noexcept {
  const std::uint64_t bits = little_endian(bytes);
  return bytes.size() == 4 ? double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))}
                           : std::bit_cast<double>(bits);
}

Int128 big_endian(std::string_view bytes) noexcept {
  iceberg::UnsignedWideInteger bits = 0;
  if (static_cast<std::uint8_t>(bytes[0]) >= 0x80) bits = ~bits;
  for (const char byte : bytes) bits = (bits << 8) | static_cast<std::uint8_t>(byte);
  return iceberg::narrow(bits);
}

Error wrong_length(const Type& type, std::string_view bytes) noexcept {
  try {
    return {ErrorKind::kCorrupt,
            {std::to_string(bytes.size()), " bytes are no value of the type ",
             iceberg::format_primitive_type(type)}};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::kOutOfMemory, {"out of memory"}};
  }
}

/// Days that stand for a timestamp, whose column was one of dates.
Result<Literal> promoted_date(const Type& type, std::int64_t days) noexcept {
  const std::int64_t units = type.kind == TypeKind::kTimestampNs ? 1'000'000'000 : 1'000'000;
  std::int64_t value = 0;
  if (__builtin_mul_overflow(days, iceberg::kSecondsInDay * units, &value)) {
    return Error(ErrorKind::kCorrupt, {"a date that is outside of what a timestamp can be"});
  }
  return Literal::of_integer(type.kind, value);
}

Result<Literal> decode_integer(const Type& type, std::string_view bytes) noexcept {
  const std::size_t size = bytes.size();
  switch (type.kind) {
    case TypeKind::kBoolean:
      if (size != 1) return wrong_length(type, bytes);
      return Literal::of_integer(type.kind, bytes[0] != 0 ? 1 : 0);
    case TypeKind::kInt:
    case TypeKind::kDate:
      if (size != 4) return wrong_length(type, bytes);
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNs:
      if (size == 4) return promoted_date(type, little_endian_integer(bytes));
      [[fallthrough]];
    default:
      if (size != 8 && (size != 4 || type.kind != TypeKind::kLong)) {
        return wrong_length(type, bytes);
      }
  }
  return Literal::of_integer(type.kind, little_endian_integer(bytes));
}

Result<Literal> decode_bytes(const Type& type, std::string_view bytes) noexcept {
  const bool fits = type.kind == TypeKind::kUuid    ? bytes.size() == 16
                    : type.kind == TypeKind::kFixed ? bytes.size() <= type.fixed_bytes
                                                    : true;
  if (!fits) return wrong_length(type, bytes);
  return Literal::of_bytes(type.kind, bytes);
}

}  // namespace

Literal Literal::null(TypeKind kind) noexcept {
  Literal literal;
  literal.kind = kind;
  return literal;
}

Literal Literal::of_integer(TypeKind kind, std::int64_t value) noexcept {
  Literal literal;
  literal.kind = kind;
  literal.is_null = false;
  literal.integer = value;
  return literal;
}

Literal Literal::of_number(TypeKind kind, double value) noexcept {
  Literal literal;
  literal.kind = kind;
  literal.is_null = false;
  literal.number = value;
  return literal;
}

Literal Literal::of_decimal(Int128 unscaled, std::uint8_t scale) noexcept {
  Literal literal;
  literal.kind = TypeKind::kDecimal;
  literal.is_null = false;
  literal.scale = scale;
  std::construct_at(&literal.unscaled, unscaled);
  return literal;
}

Literal Literal::of_bytes(TypeKind kind, std::string_view bytes) noexcept {
  Literal literal;
  literal.kind = kind;
  literal.is_null = false;
  std::construct_at(&literal.bytes, bytes);
  return literal;
}

std::partial_ordering compare(const Literal& a, const Literal& b) noexcept {
  if (a.is_null || b.is_null || a.kind != b.kind) return std::partial_ordering::unordered;
  switch (storage_of(a.kind)) {
    case Storage::kInteger:
      return a.integer <=> b.integer;
    case Storage::kNumber:
      return a.number <=> b.number;
    case Storage::kDecimal:
      if (a.scale != b.scale) return std::partial_ordering::unordered;
      return a.unscaled <=> b.unscaled;
    case Storage::kBytes:
      return a.bytes <=> b.bytes;  // as unsigned bytes
    case Storage::kNone:
      break;
  }
  return std::partial_ordering::unordered;
}

bool is_same(const Literal& a, const Literal& b) noexcept {
  if (a.kind != b.kind || a.is_null != b.is_null) return false;
  if (a.is_null) return true;
  if (storage_of(a.kind) != Storage::kNumber) return std::is_eq(compare(a, b));
  if (std::isnan(a.number) || std::isnan(b.number)) {
    return std::isnan(a.number) && std::isnan(b.number);
  }
  return std::bit_cast<std::uint64_t>(a.number) == std::bit_cast<std::uint64_t>(b.number);
}

Result<Literal> decode_single_value(const Type& type, std::string_view bytes) noexcept {
  switch (storage_of(type.kind)) {
    case Storage::kInteger:
      return decode_integer(type, bytes);
    case Storage::kNumber:
      if (bytes.size() != 4 && (bytes.size() != 8 || type.kind != TypeKind::kDouble)) {
        return wrong_length(type, bytes);
      }
      return Literal::of_number(type.kind, little_endian_number(bytes));
    case Storage::kDecimal:
      if (bytes.empty() || bytes.size() > 16) return wrong_length(type, bytes);
      return Literal::of_decimal(big_endian(bytes), type.scale);
    case Storage::kBytes:
      return decode_bytes(type, bytes);
    case Storage::kNone:
      break;
  }
  return Error(ErrorKind::kCorrupt, {"a value of a type that has no single values"});
}

}  // namespace iceblink
