// Schemas to JSON (Iceberg table specification, appendix C "Schemas").
#pragma once

#include <iceblink/metadata/schema.h>

#include <span>

#include "iceberg/json_writer.h"

namespace iceblink::iceberg {

/// A schema object, with its id.
void write_schema(JsonWriter& json, const Schema& schema);

/// An array of them.
void write_schemas(JsonWriter& json, std::span<const Schema> schemas);

}  // namespace iceblink::iceberg
