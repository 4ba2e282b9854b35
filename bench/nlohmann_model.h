// The other side of C10: the same model built with nlohmann/json, as one would write it.
#pragma once

#include <iceblink/metadata/table_metadata.h>

#include <span>
#include <string_view>
#include <vector>

#include "iceberg/arena.h"

namespace iceblink::bench {

/// The whole of a table's metadata, with every snapshot and log built.
struct NlohmannTable {
  iceberg::Arena arena;
  TableValues values;
  std::span<const TableSnapshot> snapshots;
  std::span<const SnapshotLogEntry> snapshot_log;
  std::span<const MetadataLogEntry> metadata_log;
};

/// Documents of format 2 as sample_metadata makes them. Throws what nlohmann/json does.
void read_with_nlohmann(std::string_view text, NlohmannTable& table);

}  // namespace iceblink::bench
