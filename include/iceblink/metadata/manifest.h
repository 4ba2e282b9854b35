// Manifest lists and manifests, formats 1 to 3 (Iceberg table specification, "Manifests").
//
// Names are the specification's. What entries inherit (snapshot id, sequence numbers, first row id)
// has been filled in. Everything reached from a document lives as long as it does.
#pragma once

#include <iceblink/metadata/literal.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace iceblink {

namespace iceberg {
class Arena;
}

/// What was parsed from one file, in one piece of memory. Immutable; safe to share.
class ManifestDocument {
 public:
  ManifestDocument(const ManifestDocument&) = delete;
  ManifestDocument& operator=(const ManifestDocument&) = delete;
  /// All memory it holds, in bytes.
  [[nodiscard]] std::size_t weight_bytes() const noexcept { return weight_bytes_; }

 protected:
  ManifestDocument(std::size_t own_bytes, std::unique_ptr<iceberg::Arena> arena) noexcept;
  ~ManifestDocument();

 private:
  std::unique_ptr<iceberg::Arena> arena_;
  std::size_t weight_bytes_;
};

// ---- Manifest lists

enum class ManifestContent : std::uint8_t { kData = 0, kDeletes = 1 };

/// What the files of a manifest have in one field of its partition spec.
struct FieldSummary {
  bool contains_null = true;
  std::optional<bool> contains_nan;
  std::optional<std::string_view> lower_bound;  ///< single-value serialised, by the field's type
  std::optional<std::string_view> upper_bound;
};

/// Counts of what a manifest holds. Absent where a writer of format 1 left them out.
struct ManifestCounts {
  std::optional<std::int64_t> added_files_count;
  std::optional<std::int64_t> existing_files_count;
  std::optional<std::int64_t> deleted_files_count;
  std::optional<std::int64_t> added_rows_count;
  std::optional<std::int64_t> existing_rows_count;
  std::optional<std::int64_t> deleted_rows_count;
};

/// An entry of a manifest list.
struct ManifestFile {
  std::string_view manifest_path;
  std::optional<std::int64_t> manifest_length;    ///< in bytes; absent: embedded in the metadata
  std::optional<std::int32_t> partition_spec_id;  ///< absent: embedded; the manifest itself knows
  ManifestContent content = ManifestContent::kData;
  std::int64_t sequence_number = 0;
  std::int64_t min_sequence_number = 0;
  std::optional<std::int64_t> added_snapshot_id;
  ManifestCounts counts;
  /// One for each field of the spec, or empty: not known.
  std::span<const FieldSummary> partitions;
  std::optional<std::string_view> key_metadata;
  std::optional<std::int64_t> first_row_id;  ///< v3
};

/// The manifests of a snapshot, in the file's order.
class ManifestList final : public ManifestDocument {
 public:
  ManifestList(std::unique_ptr<iceberg::Arena> arena, std::int64_t snapshot_id,
               std::span<const ManifestFile> manifests) noexcept;

  [[nodiscard]] std::int64_t snapshot_id() const noexcept { return snapshot_id_; }
  [[nodiscard]] std::span<const ManifestFile> manifests() const noexcept { return manifests_; }

 private:
  std::int64_t snapshot_id_;
  std::span<const ManifestFile> manifests_;
};

// ---- Manifests

enum class EntryStatus : std::uint8_t { kExisting = 0, kAdded = 1, kDeleted = 2 };
/// A deletion vector is kPositionDeletes of format kPuffin.
enum class FileContent : std::uint8_t { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };
enum class FileFormat : std::uint8_t { kAvro, kOrc, kParquet, kPuffin, kUnknown };

/// "AVRO", "ORC", "PARQUET", "PUFFIN", "UNKNOWN".
[[nodiscard]] std::string_view name_of(FileFormat format) noexcept;

inline constexpr std::int64_t kNotCounted = -1;

/// What a file's writer knew of one column. Counts are kNotCounted where they were left out.
struct ColumnMetrics {
  std::int32_t field_id = 0;
  std::int64_t column_size = kNotCounted;  ///< in bytes
  std::int64_t value_count = kNotCounted;  ///< nulls and NaNs included
  std::int64_t null_value_count = kNotCounted;
  std::int64_t nan_value_count = kNotCounted;
  /// As stored: the bytes of a single value, by the type the column had then (decode_single_value).
  /// A string's or binary's may be cut: below, or above, all values.
  std::optional<std::string_view> lower_bound;
  std::optional<std::string_view> upper_bound;

  /// Decoded. Nothing: no bound. kCorrupt: no value of `type`.
  [[nodiscard]] Result<std::optional<Literal>> lower(const Type& type) const noexcept;
  [[nodiscard]] Result<std::optional<Literal>> upper(const Type& type) const noexcept;
};

/// A data file or a delete file.
struct DataFile {
  FileContent content = FileContent::kData;
  FileFormat format = FileFormat::kUnknown;
  std::string_view file_format;  ///< as written
  std::string_view file_path;
  std::int32_t spec_id = 0;
  /// One for each field of that spec, in its order.
  std::span<const Literal> partition;
  std::int64_t record_count = 0;
  std::int64_t file_size_in_bytes = 0;
  std::span<const ColumnMetrics> columns;  ///< by ascending field id
  std::optional<std::string_view> key_metadata;
  std::span<const std::int64_t> split_offsets;
  std::span<const std::int32_t> equality_ids;  ///< equality deletes
  std::optional<std::int32_t> sort_order_id;
  /// v3, data files: their own, or inherited.
  std::optional<std::int64_t> first_row_id;
  /// Position deletes that are all of one data file. Deletion vectors always name it.
  std::optional<std::string_view> referenced_data_file;
  std::optional<std::int64_t> content_offset;         ///< deletion vectors: of the blob
  std::optional<std::int64_t> content_size_in_bytes;  ///< deletion vectors: of the blob

  // Of its entry, inherited where it was left out.
  std::optional<std::int64_t> snapshot_id;  ///< that added it; deleted entries: that deleted it
  /// Of its data, which deletes are matched by. 0 also where an early writer left out that of a
  /// deleted entry.
  std::int64_t sequence_number = 0;
  std::int64_t file_sequence_number = 0;  ///< of the snapshot that added the file

  [[nodiscard]] bool is_deletion_vector() const noexcept {
    return content == FileContent::kPositionDeletes && format == FileFormat::kPuffin;
  }
  /// O(log columns). Null: nothing is known of it.
  [[nodiscard]] const ColumnMetrics* find_column(std::int32_t field_id) const noexcept;
};

struct ManifestEntry {
  EntryStatus status = EntryStatus::kExisting;
  DataFile file;

  /// Whether the file is part of the snapshot.
  [[nodiscard]] bool is_live() const noexcept { return status != EntryStatus::kDeleted; }
};

class Manifest final : public ManifestDocument {
 public:
  Manifest(std::unique_ptr<iceberg::Arena> arena, std::int32_t spec_id, ManifestContent content,
           const ManifestCounts& counts, std::span<const ManifestEntry> entries) noexcept;

  [[nodiscard]] std::int32_t spec_id() const noexcept { return spec_id_; }
  [[nodiscard]] ManifestContent content() const noexcept { return content_; }
  /// Of its entries, all of them known.
  [[nodiscard]] const ManifestCounts& counts() const noexcept { return counts_; }
  /// In the file's order, deleted ones included.
  [[nodiscard]] std::span<const ManifestEntry> entries() const noexcept { return entries_; }

 private:
  std::int32_t spec_id_;
  ManifestContent content_;
  ManifestCounts counts_;
  std::span<const ManifestEntry> entries_;
};

}  // namespace iceblink
