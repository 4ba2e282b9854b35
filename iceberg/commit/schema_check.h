// Whether a schema may be added to a table (Iceberg table specification, "Schemas and Data Types",
// "Default values").
#pragma once

#include <iceblink/metadata/schema.h>
#include <iceblink/result.h>

#include <cstdint>

namespace iceblink::iceberg {

/// kInvalidArgument names the fields that the format has no such type or default for, or else the
/// first thing that is wrong with the schema itself: names, ids, identifier fields. Thread safety:
/// a pure function. O(fields log fields). Throws std::bad_alloc.
[[nodiscard]] Status check_schema(const Schema& schema, std::uint8_t format_version);

/// The largest id of a field at any depth; 0 where there is none.
[[nodiscard]] std::int32_t highest_field_id(const Schema& schema) noexcept;

}  // namespace iceblink::iceberg
