// Schemas: columns and their types (Iceberg table specification, "Schemas and Data Types").
//
// All of it is plain and immutable, and borrows from the document that it belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace iceblink {

enum class TypeKind : std::uint8_t {
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kTimestampTz,
  kTimestampNs,    // v3
  kTimestampTzNs,  // v3
  kString,
  kUuid,
  kFixed,
  kBinary,
  kUnknown,    // v3
  kVariant,    // v3
  kGeometry,   // v3
  kGeography,  // v3
  kStruct,
  kList,
  kMap,
};

/// How edges between two points of a geography are drawn.
enum class EdgeAlgorithm : std::uint8_t { kSpherical, kVincenty, kThomas, kAndoyer, kKarney };

struct Field;

struct Type {
  TypeKind kind = TypeKind::kUnknown;
  EdgeAlgorithm algorithm = EdgeAlgorithm::kSpherical;  ///< geography
  std::uint8_t precision = 0;                           ///< decimal, 1 to 38
  std::uint8_t scale = 0;                               ///< decimal
  std::uint32_t fixed_bytes = 0;                        ///< fixed
  /// Geometry and geography: the coordinate reference system; "OGC:CRS84" when none is written.
  std::string_view crs;
  /// A struct's fields; a list's one field, named "element"; a map's two, named "key" and "value".
  std::span<const Field> fields;

  [[nodiscard]] bool is_nested() const noexcept { return kind >= TypeKind::kStruct; }
};

/// A column, or a field inside of one.
struct Field {
  std::int32_t id = 0;
  bool required = false;
  std::string_view name;
  Type type;
  std::optional<std::string_view> doc;
  /// The JSON texts of the defaults, as single values are serialised (appendix D).
  std::optional<std::string_view> initial_default;
  std::optional<std::string_view> write_default;
};

struct Schema {
  std::int32_t schema_id = 0;
  std::span<const Field> fields;
  std::span<const std::int32_t> identifier_field_ids;

  /// At any depth. O(fields). Null: none has this id.
  [[nodiscard]] const Field* find_field(std::int32_t id) const noexcept;
  /// A top-level column, by its exact name. O(columns). Null: none has this name.
  [[nodiscard]] const Field* find_column(std::string_view name) const noexcept;
};

}  // namespace iceblink
