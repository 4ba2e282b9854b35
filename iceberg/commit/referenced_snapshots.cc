#include "iceberg/commit/referenced_snapshots.h"

#include <bit>
#include <cstdint>
#include <new>
#include <unordered_set>
#include <vector>

#include "iceberg/commit/keyed_list.h"
#include "iceberg/metadata_writer.h"

namespace iceblink::iceberg {
namespace {

/// So many are found one by one sooner than all are built; each looks through those before it.
constexpr std::size_t kBuiltSinglyMax = 64;

Result<std::string> write_referenced(const TableMetadata& metadata) {
  std::unordered_set<std::int64_t, KeyHash> referenced(
      0, KeyHash{std::bit_cast<std::uintptr_t>(&metadata)});
  for (const SnapshotRef& ref : metadata.refs) referenced.insert(ref.snapshot_id);
  if (metadata.current_snapshot_id) referenced.insert(*metadata.current_snapshot_id);
  std::vector<TableSnapshot> snapshots;
  snapshots.reserve(referenced.size());
  if (referenced.size() > kBuiltSinglyMax) {
    ICEBLINK_ASSIGN_OR_RETURN(const auto all, metadata.snapshots());
    for (const TableSnapshot& snapshot : all) {
      if (referenced.contains(snapshot.snapshot_id)) snapshots.push_back(snapshot);
    }
  } else {
    for (const SnapshotIndexEntry& entry : metadata.snapshot_index()) {
      if (!referenced.contains(entry.snapshot_id)) continue;
      ICEBLINK_ASSIGN_OR_RETURN(const auto* const snapshot, metadata.snapshot(entry.snapshot_id));
      snapshots.push_back(*snapshot);
    }
  }
  TableHistory history;
  history.snapshots = snapshots;
  ICEBLINK_ASSIGN_OR_RETURN(history.snapshot_log, metadata.snapshot_log());
  ICEBLINK_ASSIGN_OR_RETURN(history.metadata_log, metadata.metadata_log());
  return write_table_metadata(metadata, history);
}

}  // namespace

Result<std::string> write_with_referenced_snapshots(const TableMetadata& metadata) noexcept try {
  return write_referenced(metadata);
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

}  // namespace iceblink::iceberg
