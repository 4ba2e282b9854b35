// Snapshots, refs and logs from JSON (Iceberg table specification, "Snapshots", appendix C).
#pragma once

#include <iceblink/metadata/table_metadata.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

/// What the scan at load finds out about one snapshot.
struct ScannedSnapshot {
  SnapshotIndexEntry entry;
  std::uint32_t begin = 0;  // of its object in the text
  std::uint32_t bytes = 0;
};

/// Scans an array of snapshots for ids and sequence numbers, and looks at nothing else.
void scan_snapshots(JsonReader& reader, std::vector<ScannedSnapshot>& found);

/// One snapshot, whole. What the table's format does not have is passed over.
[[nodiscard]] TableSnapshot read_snapshot(JsonReader& reader, std::uint8_t format_version);

/// A snapshot and whether its sequence number is written.
struct WrittenSnapshot {
  TableSnapshot snapshot;
  bool has_sequence_number = false;
};
[[nodiscard]] WrittenSnapshot read_written_snapshot(JsonReader& reader,
                                                    std::uint8_t format_version);

/// The object of a ref, whose name stands elsewhere.
[[nodiscard]] SnapshotRef read_ref(JsonReader& reader, std::string_view name);

/// An object of refs by name, or null, which is none.
[[nodiscard]] std::vector<SnapshotRef> read_refs(JsonReader& reader);

/// Logs: arrays, or null, which is empty. Reported: entries that go back by more than a minute.
[[nodiscard]] std::span<const SnapshotLogEntry> read_snapshot_log(JsonReader& reader,
                                                                  std::int64_t last_updated_ms);
[[nodiscard]] std::span<const MetadataLogEntry> read_metadata_log(JsonReader& reader,
                                                                  std::int64_t last_updated_ms);

}  // namespace iceblink::iceberg
