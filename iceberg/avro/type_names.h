// What the types of an Avro schema are called (Avro specification 1.11, "Primitive Types",
// "Complex Types", "Logical Types").
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "iceberg/avro/avro_schema.h"

namespace iceblink::iceberg::avro {

/// The kinds that have no parts and no names come first.
inline constexpr std::size_t kPrimitiveCount = 8;

[[nodiscard]] constexpr bool is_primitive(Kind kind) noexcept {
  return static_cast<std::size_t>(kind) < kPrimitiveCount;
}

/// Unions have no name.
[[nodiscard]] std::optional<Kind> kind_of(std::string_view name) noexcept;

struct LogicalType {
  std::string_view name;
  std::int32_t precision = 0;
  std::int32_t scale = 0;
  bool adjust_to_utc = false;

  /// A type that it is not for stays what it is without it. Throws std::bad_alloc.
  void apply(Schema& schema) const;
};

}  // namespace iceblink::iceberg::avro
