// Deletes the files of a table that was dropped for good: data and delete files, manifests,
// manifest lists, statistics and metadata files that its metadata names (REST specification,
// "dropTable").
#pragma once

#include <cstdint>
#include <string>

#include "daemon/metadata_file.h"
#include "daemon/table_row.h"
#include "daemon/write_roots.h"

namespace iceblink::daemon {

struct PurgeOutcome {
  std::uint64_t removed_count = 0;
  std::uint64_t failed_count = 0;  // could not be read or deleted
  std::uint64_t refused_count =
      0;  // not below the table's own directories, or outside of the roots
  std::string first_failure;
};

/// Deletes what lies below the table's location, its write.data.path and its write.metadata.path,
/// and below a write root; nothing else, whatever the metadata names. The metadata file itself goes
/// last. What cannot be read is left with what only it names. Blocks for as long as the disk takes;
/// thread-safe. Throws std::bad_alloc.
[[nodiscard]] PurgeOutcome purge_table(const TableRow& row, const MetadataFileRules& rules,
                                       const WriteRoots& roots);

}  // namespace iceblink::daemon
