// A table's metadata as `snapshots=refs` of the REST protocol wants it: with those snapshots alone
// that a branch or a tag names. Everything else is as it was.
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <string>

namespace iceblink::iceberg {

/// Compact JSON. Builds only the snapshots that it writes. kCorrupt, kOutOfMemory.
[[nodiscard]] Result<std::string> write_with_referenced_snapshots(
    const TableMetadata& metadata) noexcept;

}  // namespace iceblink::iceberg
