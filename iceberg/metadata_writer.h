// From the model to the JSON of a metadata file, as the specification wants it for its format.
//
// What a format does not have is left out (format 1: sequence numbers; below 3: row lineage,
// encryption keys, key-id), what it demands for older readers is added (format 1: schema and
// partition-spec beside the lists; 1 and 2: current-snapshot-id -1 for none). Optional lists and
// maps that are empty are written, but for encryption-keys and identifier-field-ids. What was not
// there and has no natural "none" is not made up: parents, schema-ids, summaries, a next-row-id
// that a writer of format 3 forgot. Members that the reader did not know are gone.
//
// 64-bit integers are written exactly. A table-uuid is written as it stood, defaults as they stood
// but for the space in them.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>
#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "iceberg/json_writer.h"

namespace iceblink::iceberg {

/// What of a table's metadata is not in its TableValues.
struct TableHistory {
  std::span<const TableSnapshot> snapshots;
  std::span<const SnapshotLogEntry> snapshot_log;
  std::span<const MetadataLogEntry> metadata_log;
};

/// Compact JSON. Builds what was lazy: kCorrupt where that fails. kOutOfMemory.
[[nodiscard]] Result<std::string> write_table_metadata(const TableMetadata& metadata) noexcept;

inline constexpr std::size_t kAnyDepth = std::numeric_limits<std::size_t>::max();

/// For who makes metadata. Texts are UTF-8. kInvalidArgument: what its format cannot do without is
/// missing (a uuid from format 2 on; format 1: the current schema, the default spec), there is no
/// such format, or more than `depth_max` objects and arrays would lie within each other;
/// kOutOfMemory. Whether the ids fit together is the caller's to know.
[[nodiscard]] Result<std::string> write_table_metadata(const TableValues& values,
                                                       const TableHistory& history,
                                                       std::size_t depth_max = kAnyDepth) noexcept;

/// The members of a snapshot's object, which the caller has opened. Throws std::bad_alloc.
void write_snapshot_members(JsonWriter& json, const TableSnapshot& snapshot,
                            std::uint8_t format_version);

/// kInvalidArgument: a version with two SQL representations of one dialect, which may be read and
/// must not be written, or too deep, as above. kOutOfMemory.
[[nodiscard]] Result<std::string> write_view_metadata(const ViewValues& metadata,
                                                      std::size_t depth_max = kAnyDepth) noexcept;

}  // namespace iceblink::iceberg
