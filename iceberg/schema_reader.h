// Schemas from JSON (Iceberg table specification, appendix C "Schemas").
#pragma once

#include <iceblink/metadata/schema.h>

#include <cstdint>
#include <span>

#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

/// A schema object. Without a schema-id it has `default_id`. Reported: what is missing or of
/// another type, unknown types, ids that occur twice, identifier fields that cannot be.
[[nodiscard]] Schema read_schema(JsonReader& reader, std::int32_t default_id);

/// An array of schemas, whose ids differ.
[[nodiscard]] std::span<const Schema> read_schemas(JsonReader& reader);

/// An array of integers.
[[nodiscard]] std::span<const std::int32_t> read_ids(JsonReader& reader);

}  // namespace iceblink::iceberg
