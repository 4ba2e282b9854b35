// Deletes the files of a table that was dropped for good: data and delete files, manifests,
// manifest lists, statistics and metadata files that its metadata names (REST specification,
// "dropTable").
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "daemon/metadata_file.h"
#include "daemon/table_row.h"
#include "daemon/write_roots.h"

namespace iceblink::daemon {

struct PurgeOutcome {
  std::uint64_t removed_count = 0;  // files, each once; those that were missing already, too
  std::uint64_t failed_count = 0;   // could not be read or deleted
  /// Not below the table's own directories, or outside of the roots.
  std::uint64_t refused_count = 0;
  std::string first_failure;
};

/// Calls its argument for the row of each table and view of the catalog: none of their files goes.
using LivePointers = std::function<Status(const std::function<void(const shm::Change&)>&)>;

/// Deletes what lies below the table's location and the paths of its properties (write.data.path,
/// write.folder-storage.path, write.object-storage.path, write.metadata.path), and below a write
/// root; nothing else, whatever the metadata names. A directory that is a write root, or has one or
/// the metadata file of another table or view within it, is no table's own: all of its files are
/// refused. Nothing is deleted where another name has the same table. What lies elsewhere is not
/// even read: a manifest there leaves behind what only it names.
///
/// A file goes after all that it names, the metadata file last. Where something could not be read
/// or deleted, what names it stays, up to the metadata files, so that the purge can be repeated.
/// Nothing is deleted where the metadata file cannot be read, or is not the one that the row tells
/// of. As in the reference library, data and delete files stay where `gc.enabled` is not true, and
/// so do those that only entries of status "deleted" name.
///
/// Blocks for as long as the disk takes; thread-safe. Memory: the metadata, one manifest list and
/// one manifest at a time, and some 50 bytes for each file. Throws std::bad_alloc.
/// Once `is_stopping` is set, what is left counts as failed.
[[nodiscard]] PurgeOutcome purge_table(const TableRow& row, const MetadataFileRules& rules,
                                       const WriteRoots& roots, const LivePointers& live,
                                       const std::atomic<bool>& is_stopping);

}  // namespace iceblink::daemon
