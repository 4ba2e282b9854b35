// Updates of commits from JSON (Iceberg REST specification, "TableUpdate", "ViewUpdate").
#pragma once

#include "iceberg/commit/commit_request.h"
#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

/// One update, whose `action` may stand anywhere in it. Reported: an action that is unknown or of
/// the other kind, what is missing or of another type. Deprecated members are passed over.
[[nodiscard]] TableUpdate read_table_update(JsonReader& reader);
[[nodiscard]] ViewUpdate read_view_update(JsonReader& reader);

}  // namespace iceblink::iceberg
