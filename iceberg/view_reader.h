// A view's metadata from JSON (Iceberg view specification, "View Metadata", appendix A).
#pragma once

#include <iceblink/metadata/view_metadata.h>

#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

/// The reader stands at the document's object. Reported: what is missing, a current version or a
/// version's schema that is not there, ids that occur twice.
[[nodiscard]] ViewValues read_view(JsonReader& reader);

/// One version. Whether its schema is there is not looked at.
[[nodiscard]] ViewVersion read_view_version(JsonReader& reader);

}  // namespace iceblink::iceberg
