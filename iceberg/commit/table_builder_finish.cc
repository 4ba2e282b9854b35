// From the values of a table that has been built to the text of its next file.
#include <algorithm>
#include <utility>

#include "iceberg/commit/metadata_properties.h"
#include "iceberg/commit/table_builder.h"
#include "iceberg/metadata_writer.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {
namespace {

Error incomplete(const char* what) {
  return {ErrorKind::kInvalidArgument, std::string("Cannot create table: it has no ") + what};
}

}  // namespace

Status TableBuilder::complete_new_table() {
  if (!has_current_schema_) return incomplete("current schema");
  if (values_.location.empty()) {
    values_.location = without_trailing_slashes(context_.default_location);
    if (values_.location.empty()) return incomplete("location");
  }
  if (partition_specs_.empty()) {
    ICEBLINK_RETURN_IF_ERROR(apply_one(AddPartitionSpec{}));
    ICEBLINK_RETURN_IF_ERROR(apply_one(SetDefaultSpec{kLastAdded}));
  }
  if (!has_default_spec_) return incomplete("default partition spec");
  if (sort_orders_.empty()) {
    ICEBLINK_RETURN_IF_ERROR(apply_one(AddSortOrder{}));
    ICEBLINK_RETURN_IF_ERROR(apply_one(SetDefaultSortOrder{kLastAdded}));
  }
  if (!has_default_sort_order_) return incomplete("default sort order");
  return Ok{};
}

void TableBuilder::complete_uuid() {
  // Format 1 may go on without.
  if (values_.table_uuid || (!is_new_ && values_.format_version == 1)) return;
  values_.table_uuid = context_.fresh_uuid;
  values_.table_uuid_text = arena_.copy(format_uuid(context_.fresh_uuid));
}

void TableBuilder::finish_metadata_log(NewMetadata& made) {
  if (is_new_) return;
  MetadataLogEntry previous;
  previous.timestamp_ms = base_updated_ms_;
  previous.metadata_file = context_.base_location;
  metadata_log_.push_back(previous);
  const std::size_t count_max = metadata_log_count_max(values_.properties);
  if (metadata_log_.size() <= count_max) return;
  const auto kept = metadata_log_.end() - static_cast<std::ptrdiff_t>(count_max);
  if (deletes_after_commit(values_.properties)) {
    std::unordered_set<std::string_view, KeyHash> kept_files(0, KeyHash{hash_seed_});
    for (auto entry = kept; entry != metadata_log_.end(); ++entry) {
      kept_files.insert(entry->metadata_file);
    }
    for (auto entry = metadata_log_.begin(); entry != kept; ++entry) {
      // A file that the table went back to is there twice.
      if (!kept_files.insert(entry->metadata_file).second) continue;
      made.files_to_delete.emplace_back(entry->metadata_file);
    }
  }
  metadata_log_.erase(metadata_log_.begin(), kept);
}

Result<NewMetadata> TableBuilder::finish() {
  if (is_new_) ICEBLINK_RETURN_IF_ERROR(complete_new_table());
  if (is_structure_changed_) ICEBLINK_RETURN_IF_ERROR(check_defaults_fit());
  if (is_changed_) complete_uuid();
  const auto schemas = schemas_.elements();
  const auto specs = partition_specs_.elements();
  const auto orders = sort_orders_.elements();
  const auto properties = properties_.elements();
  const auto refs = refs_.elements();
  const auto statistics = statistics_.elements();
  const auto partition_statistics = partition_statistics_.elements();
  const auto keys = encryption_keys_.elements();
  const auto snapshots = snapshots_.elements();
  values_.schemas = schemas;
  values_.partition_specs = specs;
  values_.sort_orders = orders;
  values_.properties = properties;
  values_.refs = refs;
  values_.statistics = statistics;
  values_.partition_statistics = partition_statistics;
  values_.encryption_keys = keys;

  NewMetadata made;
  made.format_version = values_.format_version;
  made.uuid = values_.table_uuid.value_or(Uuid{});
  made.location = values_.location;
  set_file_options(made, values_.properties);
  if (!is_changed_) return made;

  ICEBLINK_RETURN_IF_ERROR(finish_snapshot_log());
  finish_metadata_log(made);
  values_.last_updated_ms = std::max(values_.last_updated_ms, context_.now_ms);
  if (!metadata_log_.empty()) {
    values_.last_updated_ms = std::max(values_.last_updated_ms, metadata_log_.back().timestamp_ms);
  }
  TableHistory history;
  history.snapshots = snapshots;
  history.snapshot_log = snapshot_log_;
  history.metadata_log = metadata_log_;
  ICEBLINK_ASSIGN_OR_RETURN(made.json,
                            write_table_metadata(values_, history, MetadataLimits{}.depth_max));
  return made;
}

}  // namespace iceblink::iceberg
