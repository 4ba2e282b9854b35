// From the model to the JSON of a metadata file, as the specification wants it for its format.
//
// What a format does not have is left out (v1: sequence numbers; below v3: row lineage, encryption
// keys), what it demands for older readers is added (v1: schema and partition-spec beside the
// lists; v1 and v2: current-snapshot-id -1 for none). Members that the reader did not know are
// gone. 64-bit integers are written exactly.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>
#include <iceblink/result.h>

#include <string>

namespace iceblink::iceberg {

/// Compact JSON. Builds what was lazy: kCorrupt where that fails. kOutOfMemory.
[[nodiscard]] Result<std::string> write_table_metadata(const TableMetadata& metadata) noexcept;

/// kInvalidArgument: a version with two SQL representations of one dialect, which may be read and
/// must not be written. kOutOfMemory.
[[nodiscard]] Result<std::string> write_view_metadata(const ViewMetadata& metadata) noexcept;

}  // namespace iceblink::iceberg
