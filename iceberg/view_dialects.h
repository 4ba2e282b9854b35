// The SQL dialects that a view speaks.
#pragma once

#include <iceblink/metadata/view_metadata.h>

#include <string>
#include <vector>

namespace iceblink::iceberg {

/// Of its SQL representations, in lower case, sorted; one that it has twice is there twice.
/// Throws std::bad_alloc.
[[nodiscard]] std::vector<std::string> sql_dialects(const ViewVersion& version);

}  // namespace iceblink::iceberg
