// What makes two schemas one: then a catalog gives the second no id of its own.
#pragma once

#include <iceblink/metadata/schema.h>

#include <string>

namespace iceblink::iceberg {

/// The same text for two schemas exactly where they differ in their ids alone: their fields, in
/// order, and the set of their identifier fields. Throws std::bad_alloc.
[[nodiscard]] std::string identity_of(Schema schema);

}  // namespace iceblink::iceberg
