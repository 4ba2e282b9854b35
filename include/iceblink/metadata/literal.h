// A single value of a primitive type: of a partition, or a column's bound (Iceberg table
// specification, appendix D, "Single-value serialization").
#pragma once

#include <iceblink/metadata/schema.h>
#include <iceblink/result.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink {

/// Two's complement.
struct Int128 {
  std::int64_t high = 0;
  std::uint64_t low = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): the 0 of an order is no pointer
  friend constexpr auto operator<=>(const Int128&, const Int128&) noexcept = default;
};

/// Small, and cheap to copy. Borrows its bytes from the document that it belongs to.
struct Literal {
  TypeKind kind = TypeKind::kUnknown;
  bool is_null = true;
  std::uint8_t scale = 0;  ///< decimal
  /// By kind: boolean (0, 1), int, long; date (days), time (microseconds since midnight),
  /// timestamps (micro- or nanoseconds, since 1970-01-01): `integer`. float, double: `number`.
  /// decimal: `unscaled`. string (UTF-8), uuid (16 bytes), fixed, binary: `bytes`.
  union {
    std::int64_t integer;
    double number;
    Int128 unscaled;
    std::string_view bytes;
  };

  /// A null of type unknown.
  constexpr Literal() noexcept : integer(0) {}
  [[nodiscard]] static Literal null(TypeKind kind) noexcept;
  /// Of a kind that has an `integer`.
  [[nodiscard]] static Literal of_integer(TypeKind kind, std::int64_t value) noexcept;
  /// float or double.
  [[nodiscard]] static Literal of_number(TypeKind kind, double value) noexcept;
  [[nodiscard]] static Literal of_decimal(Int128 unscaled, std::uint8_t scale) noexcept;
  /// string, uuid, fixed or binary.
  [[nodiscard]] static Literal of_bytes(TypeKind kind, std::string_view bytes) noexcept;
};

/// Values of one kind (decimals: of one scale) in the order of their type: strings and bytes by
/// unsigned bytes, -0.0 as 0.0. Unordered: a NaN, a null, or two kinds.
[[nodiscard]] std::partial_ordering compare(const Literal& a, const Literal& b) noexcept;

/// Whether they are one value, as partitions are: null equals null, NaN equals NaN, and -0.0 is
/// another one than 0.0.
[[nodiscard]] bool is_same(const Literal& a, const Literal& b) noexcept;

/// From the binary form that bounds have. What was written before the column's type was promoted
/// is read as what it is now: 4 bytes for a long, a double, a timestamp (a date before). A decimal
/// takes the type's scale. Bytes of a fixed type may be fewer, as a bound's that was cut. Borrows
/// `bytes`. kCorrupt: a length that the type cannot have, a date that is no timestamp, or a type
/// that has no such form.
[[nodiscard]] Result<Literal> decode_single_value(const Type& type,
                                                  std::string_view bytes) noexcept;

/// As people read it: "2017-11-16", "2017-11-16T22:31:08.000001+00:00", "14.20",
/// "f79c3e09-677c-4bbd-a479-3f349cb785e7", "true"; bytes in hexadecimal; "null". Also the content
/// of the string where its JSON form (appendix D) is a string. Throws std::bad_alloc.
[[nodiscard]] std::string to_text(const Literal& value);
/// Its JSON form (appendix D): a number, true or false, a quoted string, or null. A float that JSON
/// has no number for is a string ("NaN", "Infinity", "-Infinity"). Throws std::bad_alloc.
[[nodiscard]] std::string to_json(const Literal& value);

}  // namespace iceblink
