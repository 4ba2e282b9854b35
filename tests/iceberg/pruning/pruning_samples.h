// Types, values and bytes in few letters.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iceblink/metadata/literal.h>

#include <bit>
#include <cstdint>
#include <ostream>
#include <string>

namespace iceblink {

inline void PrintTo(const Literal& value, std::ostream* out) {
  *out << to_text(value) << " of kind " << int{static_cast<std::uint8_t>(value.kind)};
}

namespace iceberg::testing {

inline Type type_of(TypeKind kind) {
  Type type;
  type.kind = kind;
  return type;
}
inline Type decimal(std::uint8_t precision, std::uint8_t scale) {
  Type type = type_of(TypeKind::kDecimal);
  type.precision = precision;
  type.scale = scale;
  return type;
}
inline Type fixed(std::uint32_t bytes) {
  Type type = type_of(TypeKind::kFixed);
  type.fixed_bytes = bytes;
  return type;
}

inline Literal integer(TypeKind kind, std::int64_t value) {
  return Literal::of_integer(kind, value);
}
inline Literal number(double value, TypeKind kind = TypeKind::kDouble) {
  return Literal::of_number(kind, value);
}
inline Literal text(std::string_view value) {
  return Literal::of_bytes(TypeKind::kString, value);
}
inline Literal unscaled(std::int64_t value, std::uint8_t scale = 2) {
  return Literal::of_decimal({value < 0 ? -1 : 0, static_cast<std::uint64_t>(value)}, scale);
}

/// The `count` lower bytes, the lowest first.
inline std::string little(std::uint64_t value, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}
inline std::string little(double value) {
  return little(std::bit_cast<std::uint64_t>(value), 8);
}
inline std::string little(float value) {
  return little(std::bit_cast<std::uint32_t>(value), 4);
}

/// The single value that a literal is stored as.
inline std::string stored(const Literal& value) {
  switch (value.kind) {
    case TypeKind::kBoolean:
      return little(static_cast<std::uint64_t>(value.integer), 1);
    case TypeKind::kInt:
    case TypeKind::kDate:
      return little(static_cast<std::uint64_t>(value.integer), 4);
    case TypeKind::kFloat:
      return little(static_cast<float>(value.number));
    case TypeKind::kDouble:
      return little(value.number);
    case TypeKind::kDecimal: {
      std::string bytes = little(value.unscaled.low, 8) +
                          little(static_cast<std::uint64_t>(value.unscaled.high), 8);
      return {bytes.rbegin(), bytes.rend()};
    }
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return std::string(value.bytes);
    default:
      return little(static_cast<std::uint64_t>(value.integer), 8);
  }
}

}  // namespace iceberg::testing
}  // namespace iceblink
