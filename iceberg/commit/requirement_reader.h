// Requirements of commits from JSON (Iceberg REST specification, "TableRequirement",
// "ViewRequirement").
#pragma once

#include "iceberg/commit/commit_request.h"
#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

/// One requirement, whose `type` may stand anywhere in it. Reported: a type that is unknown or of
/// the other kind, what is missing or of another type.
[[nodiscard]] Requirement read_table_requirement(JsonReader& reader);
[[nodiscard]] Requirement read_view_requirement(JsonReader& reader);

}  // namespace iceblink::iceberg
