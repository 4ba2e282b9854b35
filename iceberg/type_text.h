// Primitive types as they are written: "long", "decimal(9,2)", "fixed[16]", "geography(srid,
// karney)" (Iceberg table specification, appendix C).
#pragma once

#include <iceblink/metadata/schema.h>
#include <iceblink/result.h>

#include <optional>
#include <string>
#include <string_view>

#include "iceberg/arena.h"

namespace iceblink::iceberg {

/// Names in any case. Views are of `text` or of static memory. kCorrupt says what is wrong with it.
[[nodiscard]] Result<Type> parse_primitive_type(std::string_view text);

/// As the specification writes it. Not for nested types.
[[nodiscard]] std::string format_primitive_type(const Type& type);

/// The same; of nested types "struct", "list" or "map".
[[nodiscard]] std::string format_type_briefly(const Type& type);

}  // namespace iceblink::iceberg
