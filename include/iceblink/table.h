// A table as it was when it was resolved: what an engine plans a query with.
//
// A handle is pinned: it stays what it is, whatever is committed, for as long as it is held, the
// catalog's end included. Catalog::load_table always gives the newest. So a query loads once and
// keeps its handle, and the next query loads again, which costs two lookups while nothing has
// changed.
//
// Thread safety: immutable but for the object cache and the lazy parts of the metadata; everything
// may be called from any thread. What a cache has is found without writing memory that another
// thread reads. After fork the child reads on.
#pragma once

#include <iceblink/file_plan.h>
#include <iceblink/identifier.h>
#include <iceblink/metadata/manifest.h>
#include <iceblink/metadata/predicate.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>
#include <iceblink/stats.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iceblink {

namespace client {
class ObjectCache;
}

struct PlanOptions {
  /// Files in which no row can be what it asks for are left out. What is left holds all such rows,
  /// and others: the rows are the engine's to judge.
  std::optional<Predicate> predicate;
  /// Whose columns the predicate names, one of the table's. Null: the schema that the snapshot was
  /// written with; for a plan of the current snapshot that does not name it, the table's current
  /// one.
  const Schema* schema = nullptr;
};

class Table {
 public:
  [[nodiscard]] const TableIdent& identifier() const noexcept { return identifier_; }
  /// Below which its files are.
  [[nodiscard]] std::string_view location() const noexcept { return metadata_->location; }
  /// As stored in the catalog.
  [[nodiscard]] const std::string& metadata_location() const noexcept { return metadata_location_; }
  /// The catalog's at the lookup that made this handle. Loads that found it in the cache since saw
  /// later ones, at which the table was the same.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

  [[nodiscard]] const TableMetadata& metadata() const noexcept { return *metadata_; }
  [[nodiscard]] const Schema& schema() const noexcept { return metadata_->current_schema(); }
  /// Null, here and below: there is none of this id.
  [[nodiscard]] const Schema* schema(std::int32_t schema_id) const noexcept {
    return metadata_->find_schema(schema_id);
  }
  [[nodiscard]] std::span<const Schema> schemas() const noexcept { return metadata_->schemas; }
  [[nodiscard]] const PartitionSpec& partition_spec() const noexcept {
    return metadata_->default_partition_spec();
  }
  [[nodiscard]] const PartitionSpec* partition_spec(std::int32_t spec_id) const noexcept {
    return metadata_->find_partition_spec(spec_id);
  }
  [[nodiscard]] std::span<const PartitionSpec> partition_specs() const noexcept {
    return metadata_->partition_specs;
  }
  [[nodiscard]] const SortOrder& sort_order() const noexcept {
    return metadata_->default_sort_order();
  }
  [[nodiscard]] const SortOrder* sort_order(std::int32_t order_id) const noexcept {
    return metadata_->find_sort_order(order_id);
  }
  [[nodiscard]] std::span<const SortOrder> sort_orders() const noexcept {
    return metadata_->sort_orders;
  }
  [[nodiscard]] std::span<const Property> properties() const noexcept {
    return metadata_->properties;
  }
  [[nodiscard]] std::optional<std::string_view> property(std::string_view key) const noexcept {
    return find_property(metadata_->properties, key);
  }

  // ---- Snapshots. Errors of all: kCorrupt (a lazy part of the metadata is damaged; messages begin
  // with the metadata location), kOutOfMemory. What is returned lives as long as this handle.

  /// Null: the table has none.
  [[nodiscard]] Result<const TableSnapshot*> current_snapshot() const noexcept;
  /// kNotFound.
  [[nodiscard]] Result<const TableSnapshot*> snapshot(std::int64_t snapshot_id) const noexcept;
  /// Of a branch or tag. kNotFound.
  [[nodiscard]] Result<const TableSnapshot*> snapshot_of_ref(std::string_view name) const noexcept;
  /// The one that was the table's current one at that time, by the snapshot log ("Point in Time
  /// Reads"): its last entry that is not later. O(log entries). kNotFound: the log has none, or the
  /// snapshot has expired.
  [[nodiscard]] Result<const TableSnapshot*> snapshot_as_of(
      std::int64_t timestamp_ms) const noexcept;
  /// A snapshot and its ancestors, newest first, as far as they have not expired. O(snapshots).
  /// kNotFound; kCorrupt: the parents are a cycle.
  [[nodiscard]] Result<std::vector<const TableSnapshot*>> ancestors(
      std::int64_t snapshot_id) const noexcept;
  /// What the snapshot was written with; the current schema where it does not say. kCorrupt: that
  /// is none of the table's.
  [[nodiscard]] Result<const Schema*> schema_of(const TableSnapshot& snapshot) const noexcept;

  // ---- Manifests, from the handle's object cache where they are there, else from their files;
  // several are read together. Errors of all: those of reading a file (kNotFound, kNotAllowed,
  // kUnsupported, kTooLarge, kIo); kCorrupt: the file is no such file, is cut short, or is not what
  // the manifest list or the metadata says of it; kUnsupported: a codec, encryption; kOutOfMemory.
  // Messages name the file. What fails leaves nothing behind.

  /// kNotFound: no such snapshot, or no such file.
  [[nodiscard]] Result<std::shared_ptr<const ManifestList>> manifest_list(
      std::int64_t snapshot_id) const noexcept;
  /// `listed`: of a manifest list of this table.
  [[nodiscard]] Result<std::shared_ptr<const Manifest>> manifest(
      const ManifestFile& listed) const noexcept;
  /// Each with its own result.
  [[nodiscard]] Result<std::vector<Result<std::shared_ptr<const Manifest>>>> manifests(
      std::span<const ManifestFile> listed) const noexcept;

  /// Every live file of a snapshot, data and deletes. O(files).
  [[nodiscard]] Result<FileList> files(std::int64_t snapshot_id) const noexcept;
  /// The data files of a snapshot with the delete files that apply to each. kInvalidArgument: the
  /// predicate names no column of the snapshot's schema, or what that cannot be compared with.
  [[nodiscard]] Result<FilePlan> plan_files(std::int64_t snapshot_id,
                                            const PlanOptions& options = {}) const noexcept;
  [[nodiscard]] Result<FilePlan> plan_files(const TableSnapshot& snapshot,
                                            const PlanOptions& options = {}) const noexcept {
    return plan_files(snapshot.snapshot_id, options);
  }
  /// Of the current snapshot; without one, no files.
  [[nodiscard]] Result<FilePlan> plan_files(const PlanOptions& options = {}) const noexcept;

  [[nodiscard]] CacheStats object_cache_stats() const noexcept;

  Table(TableIdent identifier, std::string metadata_location, std::uint64_t generation,
        std::shared_ptr<const TableMetadata> metadata,
        std::unique_ptr<client::ObjectCache> objects) noexcept;
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

 private:
  [[nodiscard]] Error at_metadata(const Error& error) const noexcept;

  const TableIdent identifier_;
  const std::string metadata_location_;
  const std::uint64_t generation_;
  const std::shared_ptr<const TableMetadata> metadata_;
  const std::unique_ptr<client::ObjectCache> objects_;
};

}  // namespace iceblink
