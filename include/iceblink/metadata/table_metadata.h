// The metadata of a table, formats 1 to 3 (Iceberg table specification, "Table Metadata").
//
// Names are the specification's. A member that the specification makes optional and that has no
// natural "none" is a std::optional; absent lists and maps are empty. Times are milliseconds since
// 1970-01-01T00:00:00Z.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/metadata/partitioning.h>
#include <iceblink/metadata/schema.h>
#include <iceblink/result.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace iceblink {

/// An entry of a map of strings. In the file's order; no key occurs twice.
struct Property {
  std::string_view key;
  std::string_view value;
};

/// The value of `key`, if it is there. O(properties).
[[nodiscard]] std::optional<std::string_view> find_property(std::span<const Property> properties,
                                                            std::string_view key) noexcept;

/// A snapshot of a table, not of the catalog.
struct TableSnapshot {
  std::int64_t snapshot_id = 0;
  std::optional<std::int64_t> parent_snapshot_id;
  std::int64_t sequence_number = 0;  ///< 0 in what format 1 wrote
  std::int64_t timestamp_ms = 0;
  /// Empty: the manifests are embedded (format 1).
  std::string_view manifest_list;
  std::span<const std::string_view> manifests;
  /// Without "operation" where the writer left it out: then it is "overwrite".
  std::span<const Property> summary;
  std::optional<std::int32_t> schema_id;
  std::optional<std::int64_t> first_row_id;  ///< v3
  std::optional<std::int64_t> added_rows;    ///< v3
  std::optional<std::string_view> key_id;    ///< v3: of the key that encrypts the manifest list

  /// "append", "replace", "overwrite" or "delete"; "overwrite" where it is not written.
  [[nodiscard]] std::string_view operation() const noexcept {
    return find_property(summary, "operation").value_or("overwrite");
  }
};

enum class RefType : std::uint8_t { kBranch, kTag };

struct SnapshotRef {
  std::string_view name;
  std::int64_t snapshot_id = 0;
  RefType type = RefType::kBranch;
  std::optional<std::int32_t> min_snapshots_to_keep;
  std::optional<std::int64_t> max_snapshot_age_ms;
  std::optional<std::int64_t> max_ref_age_ms;
};

struct SnapshotLogEntry {
  std::int64_t timestamp_ms = 0;
  std::int64_t snapshot_id = 0;
};

struct MetadataLogEntry {
  std::int64_t timestamp_ms = 0;
  std::string_view metadata_file;
};

struct BlobMetadata {
  std::string_view type;
  std::int64_t snapshot_id = 0;
  std::int64_t sequence_number = 0;
  std::span<const std::int32_t> fields;
  std::span<const Property> properties;
};

struct StatisticsFile {
  std::int64_t snapshot_id = 0;
  std::string_view statistics_path;
  std::int64_t file_size_in_bytes = 0;
  std::int64_t file_footer_size_in_bytes = 0;
  std::optional<std::string_view> key_metadata;  ///< base64
  std::span<const BlobMetadata> blob_metadata;
};

struct PartitionStatisticsFile {
  std::int64_t snapshot_id = 0;
  std::string_view statistics_path;
  std::int64_t file_size_in_bytes = 0;
};

struct EncryptionKey {
  std::string_view key_id;
  std::string_view encrypted_key_metadata;  ///< base64
  std::optional<std::string_view> encrypted_by_id;
  std::span<const Property> properties;
};

/// What the scan at load keeps of each snapshot.
struct SnapshotIndexEntry {
  std::int64_t snapshot_id = 0;
  std::int64_t sequence_number = 0;
};

/// Everything of a table's metadata that is built when it is loaded.
struct TableValues {
  std::uint8_t format_version = 0;
  /// Absent in some files of format 1, and where what stands there is no UUID.
  std::optional<std::array<std::uint8_t, 16>> table_uuid;
  std::string_view table_uuid_text;  ///< as written; empty where it is not
  std::string_view location;
  std::int64_t last_sequence_number = 0;
  std::int64_t last_updated_ms = 0;
  std::int32_t last_column_id = 0;
  std::int32_t current_schema_id = 0;
  std::int32_t default_spec_id = 0;
  std::int32_t last_partition_id = 0;
  std::int32_t default_sort_order_id = 0;
  std::span<const Schema> schemas;
  std::span<const PartitionSpec> partition_specs;
  std::span<const SortOrder> sort_orders;
  std::span<const Property> properties;
  std::optional<std::int64_t> current_snapshot_id;
  std::span<const SnapshotRef> refs;  ///< with "main", written or not, where there is a current one
  std::span<const StatisticsFile> statistics;
  std::span<const PartitionStatisticsFile> partition_statistics;
  std::span<const EncryptionKey> encryption_keys;  ///< v3
  /// v3. Absent where a writer forgot it: then 0 for readers, and no base for a commit.
  std::optional<std::int64_t> next_row_id;
};

namespace iceberg {
class LazyTableParts;
}

/// Immutable. What has to do with every snapshot stays raw until it is asked for: the functions
/// below build it then, once, and charge it to weight_bytes().
///
/// Errors of those: kCorrupt (with the field's path: a fault that only shows when the part is
/// built), kOutOfMemory. They may be called from any thread; one that needs a part that another
/// thread is building waits for it.
class TableMetadata final : public MetadataDocument, public TableValues {
 public:
  TableMetadata(std::unique_ptr<iceberg::Arena> arena, const TableValues& values,
                std::unique_ptr<iceberg::LazyTableParts> parts);
  ~TableMetadata() override;

  /// Null where the id is none of theirs.
  [[nodiscard]] const Schema* find_schema(std::int32_t schema_id) const noexcept;
  [[nodiscard]] const PartitionSpec* find_partition_spec(std::int32_t spec_id) const noexcept;
  [[nodiscard]] const SortOrder* find_sort_order(std::int32_t order_id) const noexcept;
  [[nodiscard]] const SnapshotRef* find_ref(std::string_view name) const noexcept;
  /// They are there: a document without them is refused.
  [[nodiscard]] const Schema& current_schema() const noexcept;
  [[nodiscard]] const PartitionSpec& default_partition_spec() const noexcept;
  [[nodiscard]] const SortOrder& default_sort_order() const noexcept;

  /// In the file's order. Known since the load.
  [[nodiscard]] std::span<const SnapshotIndexEntry> snapshot_index() const noexcept;

  /// Builds that one alone. Null: there is no current snapshot; there is none of this id.
  [[nodiscard]] Result<const TableSnapshot*> current_snapshot() const noexcept;
  [[nodiscard]] Result<const TableSnapshot*> snapshot(std::int64_t snapshot_id) const noexcept;

  /// All of them, in the file's order.
  [[nodiscard]] Result<std::span<const TableSnapshot>> snapshots() const noexcept;
  [[nodiscard]] Result<std::span<const SnapshotLogEntry>> snapshot_log() const noexcept;
  [[nodiscard]] Result<std::span<const MetadataLogEntry>> metadata_log() const noexcept;

 private:
  friend class iceberg::LazyTableParts;
  const std::unique_ptr<iceberg::LazyTableParts> parts_;
};

}  // namespace iceblink
