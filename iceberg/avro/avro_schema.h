// The schema that an Avro file was written with (Avro specification 1.11, "Schema Declaration"),
// with what Iceberg adds to it: ids of fields, elements, keys and values.
//
// Thread safety: immutable values.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iceblink::iceberg::avro {

enum class Kind : std::uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kRecord,
  kArray,
  kMap,
  kUnion,
};

struct Schema;

struct SchemaField {
  std::string name;
  std::optional<std::int32_t> field_id;
  std::shared_ptr<const Schema> type;
};

struct Schema {
  Kind kind = Kind::kNull;
  std::string name;                 // record, enum, fixed; with the namespace
  std::vector<SchemaField> fields;  // record
  /// union: its branches; array: its elements; map: its values.
  std::vector<std::shared_ptr<const Schema>> children;
  std::vector<std::string> symbols;        // enum
  std::size_t fixed_bytes = 0;             // fixed
  std::optional<std::int32_t> element_id;  // array
  std::optional<std::int32_t> key_id;      // map
  std::optional<std::int32_t> value_id;    // map
  std::string logical_type;                // "decimal", "date", "timestamp-micros", …; else empty
  std::int32_t precision = 0;              // decimal
  std::int32_t scale = 0;                  // decimal
  bool adjust_to_utc = false;              // timestamps
};

/// Of the nesting of types, unions included.
inline constexpr std::size_t kSchemaDepthMax = 64;

/// A name that refers to an earlier type shares it. Logical types that are unknown, or not for the
/// type, are left out. Names are taken whatever they are. kCorrupt: "path: what is wrong";
/// kTooLarge: 4 MiB of text, kSchemaDepthMax, 64 Ki types and symbols, where each reference counts
/// as what it refers to, or a name of 1,000 bytes; kUnsupported: a type inside of itself. Throws
/// std::bad_alloc.
[[nodiscard]] Result<std::shared_ptr<const Schema>> parse_schema(std::string_view json);

}  // namespace iceblink::iceberg::avro
