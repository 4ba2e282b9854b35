// A base and updates, applied in order, to the values of the table's next metadata.
//
// Each update is judged by what those before it have made of the table; what can only be judged at
// the end (the default spec and the default sort order have their columns, a new table has all that
// a table needs) is judged by finish().
//
// Errors of apply() and finish() are those of commit_table(). After one the builder is of no use.
// Complexity: of all calls together that of the base's text and the request's, but that each
// set-current-schema may index a schema once.
//
// Thread safety: belongs to one thread. Throws std::bad_alloc.
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "iceberg/arena.h"
#include "iceberg/commit/commit_request.h"
#include "iceberg/commit/keyed_list.h"
#include "iceberg/commit/new_metadata.h"
#include "iceberg/commit/schema_index.h"

namespace iceblink::iceberg {

class TableBuilder {
 public:
  /// Of a table that does not exist. `format_version` is one of ours. Context, and all that is
  /// applied, outlive the builder.
  TableBuilder(std::uint8_t format_version, const CommitContext& context);
  /// Of a table as it is. It outlives the builder, too.
  [[nodiscard]] static Result<std::unique_ptr<TableBuilder>> from_base(
      const TableMetadata& base, const CommitContext& context);

  [[nodiscard]] Status apply(const TableUpdate& update);

  /// Once. Nothing is written where no update has changed anything.
  [[nodiscard]] Result<NewMetadata> finish();

 private:
  [[nodiscard]] Status load(const TableMetadata& base);

  // The table itself.
  [[nodiscard]] Status apply_one(const AssignUuid& update);
  [[nodiscard]] Status apply_one(const UpgradeFormatVersion& update);
  [[nodiscard]] Status apply_one(const SetLocation& update);
  [[nodiscard]] Status apply_one(const SetProperties& update);
  [[nodiscard]] Status apply_one(const RemoveProperties& update);
  [[nodiscard]] Status apply_one(const AddEncryptionKey& update);
  [[nodiscard]] Status apply_one(const RemoveEncryptionKey& update);
  [[nodiscard]] Status set_property(const Property& property);

  // Schemas.
  [[nodiscard]] Status apply_one(const AddSchema& update);
  [[nodiscard]] Status apply_one(const SetCurrentSchema& update);
  [[nodiscard]] Status apply_one(const RemoveSchemas& update);
  void index_schemas();
  /// The current schema, or else the one that was added last.
  [[nodiscard]] Result<const SchemaIndex*> binding_schema(std::string_view what);

  // Partition specs and sort orders.
  [[nodiscard]] Status apply_one(const AddPartitionSpec& update);
  [[nodiscard]] Status apply_one(const SetDefaultSpec& update);
  [[nodiscard]] Status apply_one(const RemovePartitionSpecs& update);
  [[nodiscard]] Status apply_one(const AddSortOrder& update);
  [[nodiscard]] Status apply_one(const SetDefaultSortOrder& update);
  void index_partition_specs();
  void index_sort_orders();
  void index_partition_field(const PartitionField& field);
  [[nodiscard]] Status assign_field_ids(const RequestedPartitionSpec& spec,
                                        std::vector<PartitionField>& fields);
  [[nodiscard]] Status assign_sequential_field_ids(const RequestedPartitionSpec& spec,
                                                   std::vector<PartitionField>& fields);
  [[nodiscard]] Status check_given_field_id(const PartitionField& field) const;
  [[nodiscard]] Status check_partition_fields(std::span<const PartitionField> fields,
                                              const SchemaIndex& schema) const;
  [[nodiscard]] Status check_partition_names(std::span<const PartitionField> fields,
                                             const SchemaIndex& schema) const;
  [[nodiscard]] Status check_sort_fields(std::span<const SortField> fields,
                                         const SchemaIndex& schema) const;
  [[nodiscard]] Status check_sources(const Transform& transform,
                                     std::span<const std::int32_t> source_ids,
                                     const SchemaIndex& schema, const std::string& what) const;
  [[nodiscard]] Status check_defaults_fit();

  // Snapshots, refs, logs.
  [[nodiscard]] Status apply_one(const AddSnapshot& update);
  [[nodiscard]] Status apply_one(const SetSnapshotRef& update);
  [[nodiscard]] Status apply_one(const RemoveSnapshots& update);
  [[nodiscard]] Status apply_one(const RemoveSnapshotRef& update);
  [[nodiscard]] Status check_structure_for_snapshots() const;
  [[nodiscard]] Status check_new_snapshot(const TableSnapshot& snapshot,
                                          bool has_sequence_number) const;
  [[nodiscard]] Status add_row_lineage(const TableSnapshot& snapshot);
  void move_main(std::int64_t snapshot_id);
  void put_ref(const SnapshotRef& ref);
  void remove_ref(std::string_view name);
  [[nodiscard]] Status finish_snapshot_log();

  // Statistics.
  [[nodiscard]] Status apply_one(const SetStatistics& update);
  [[nodiscard]] Status apply_one(const RemoveStatistics& update);
  [[nodiscard]] Status apply_one(const SetPartitionStatistics& update);
  [[nodiscard]] Status apply_one(const RemovePartitionStatistics& update);

  // The end.
  [[nodiscard]] Status complete_new_table();
  void complete_uuid();
  void finish_metadata_log(NewMetadata& made);

  const CommitContext& context_;
  const std::uint64_t hash_seed_;
  Arena arena_;
  bool is_new_ = true;
  std::int64_t base_updated_ms_ = 0;
  bool is_changed_ = true;
  /// Scalars; the lists are gathered at the end.
  TableValues values_;

  KeyedList<std::string_view, Property> properties_;
  KeyedList<std::string_view, EncryptionKey> encryption_keys_;

  KeyedList<std::int32_t, Schema> schemas_;
  std::optional<SeededMap<std::string_view, std::int32_t>> schema_ids_;  // by structure
  SeededMap<std::int32_t, std::unique_ptr<SchemaIndex>> schema_indexes_;
  std::int32_t highest_schema_id_ = -1;
  std::optional<std::int32_t> last_added_schema_id_;
  bool has_current_schema_ = false;

  KeyedList<std::int32_t, PartitionSpec> partition_specs_;
  std::optional<SeededMap<std::string_view, std::int32_t>> spec_ids_;  // by structure
  // Of the partition fields of all specs, also of those that were removed.
  SeededMap<std::string_view, std::int32_t> field_ids_;  // by transform and sources
  std::unordered_set<std::int32_t, KeyHash> used_field_ids_;
  std::unordered_set<std::string_view, KeyHash> used_fields_;  // by all of these
  std::int32_t highest_spec_id_ = -1;
  std::optional<std::int32_t> last_added_spec_id_;
  bool has_default_spec_ = false;

  KeyedList<std::int32_t, SortOrder> sort_orders_;
  std::optional<SeededMap<std::string_view, std::int32_t>> sort_order_ids_;  // by structure
  std::int32_t highest_sort_order_id_ = 0;
  std::optional<std::int32_t> last_added_sort_order_id_;
  bool has_default_sort_order_ = false;
  bool is_structure_changed_ = true;

  KeyedList<std::int64_t, TableSnapshot> snapshots_;
  KeyedList<std::string_view, SnapshotRef> refs_;
  KeyedList<std::int64_t, std::string_view> ref_names_;  // by snapshot; some point elsewhere by now
  std::unordered_set<std::int64_t, KeyHash> added_snapshot_ids_;
  std::vector<SnapshotLogEntry> snapshot_log_;
  std::size_t base_snapshot_log_count_ = 0;
  bool has_removed_snapshots_ = false;
  std::vector<MetadataLogEntry> metadata_log_;
  KeyedList<std::int64_t, StatisticsFile> statistics_;
  KeyedList<std::int64_t, PartitionStatisticsFile> partition_statistics_;
};

}  // namespace iceblink::iceberg
