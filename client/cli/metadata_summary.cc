#include "client/cli/metadata_summary.h"

#include <algorithm>
#include <utility>

#include "client/cli/summary.h"
#include "client/cli/time_text.h"
#include "iceberg/utf8.h"
#include "iceberg/uuid.h"

namespace iceblink::cli {
namespace {

std::string with_spaces(std::string_view text) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  return line;
}

// ---- Tables

std::string column_of(const Schema& schema, std::int32_t id) {
  const Field* const field = schema.find_field(id);
  return field == nullptr ? "column " + std::to_string(id) : std::string(field->name);
}

/// "bucket[16](id)"
std::string application_of(const Schema& schema, const Transform& transform,
                           std::span<const std::int32_t> source_ids) {
  std::string text = std::string(transform.text) + "(";
  for (std::size_t i = 0; i < source_ids.size(); ++i) {
    text += (i == 0 ? "" : ", ") + column_of(schema, source_ids[i]);
  }
  return text + ")";
}

/// "b = bucket[16](id)"
std::string definition_of(const Schema& schema, const PartitionField& field) {
  return std::string(field.name) + " = " +
         application_of(schema, field.transform, field.source_ids);
}

/// "id 0: b = bucket[16](id), day = day(ts)"
std::string line_of(const Schema& schema, const PartitionSpec& spec) {
  std::string line = "id " + std::to_string(spec.spec_id) + ": ";
  if (spec.fields.empty()) line += "unpartitioned";
  for (const auto& field : spec.fields) {
    line += (&field == spec.fields.data() ? "" : ", ") + definition_of(schema, field);
  }
  return line;
}

void add_partitioning(Summary& summary, const TableMetadata& table) {
  const Schema& schema = table.current_schema();
  const PartitionSpec& spec = table.default_partition_spec();
  summary.add("partition spec", chosen(spec.spec_id, table.partition_specs.size()) +
                                    (spec.fields.empty() ? ", unpartitioned" : ""));
  for (const auto& field : spec.fields) summary.add_below(definition_of(schema, field));
  std::vector<const PartitionSpec*> others;
  for (const auto& other : table.partition_specs) {
    if (&other != &spec) others.push_back(&other);
  }
  if (!others.empty()) {
    summary.add_count("other specs", others.size());
    summary.add_list(std::span<const PartitionSpec* const>(others),
                     [&](const PartitionSpec* other) { return line_of(schema, *other); });
  }
  const SortOrder& order = table.default_sort_order();
  summary.add("sort order", chosen(order.order_id, table.sort_orders.size()) +
                                (order.fields.empty() ? ", unsorted" : ""));
  for (const auto& field : order.fields) {
    const bool is_descending = field.direction == SortDirection::kDescending;
    const bool is_nulls_last = field.null_order == NullOrder::kNullsLast;
    summary.add_below(application_of(schema, field.transform, field.source_ids) +
                      (is_descending ? " descending" : " ascending") +
                      (is_nulls_last ? ", nulls last" : ", nulls first"));
  }
}

void add_snapshots(Summary& summary, const TableMetadata& table, const TableSnapshot* current) {
  summary.add_count("snapshots", table.snapshot_index().size());
  if (current == nullptr) {
    summary.add("current", "none: the table is empty");
  } else {
    summary.add("current", std::to_string(current->snapshot_id) + ", " +
                               std::string(current->operation()) + ", " +
                               time_of(current->timestamp_ms));
    if (!current->manifest_list.empty()) summary.add("manifest list", current->manifest_list);
  }
  summary.add_count("refs", table.refs.size());
  summary.add_list(table.refs, [](const SnapshotRef& ref) {
    return std::string(ref.name) + (ref.type == RefType::kTag ? ", tag: " : ", branch: ") +
           std::to_string(ref.snapshot_id);
  });
}

std::string uuid_of(const TableMetadata& table) {
  if (table.table_uuid) return iceberg::format_uuid(*table.table_uuid);
  const std::string text(table.table_uuid_text);
  return text.empty() ? "none" : "'" + text + "', which is none";
}

/// What the first lines leave to be said.
void add_table(Summary& summary, const TableMetadata& table, const TableSnapshot* current) {
  summary.add("uuid", uuid_of(table));
  summary.add("location", table.location);
  summary.add("last updated", time_of(table.last_updated_ms));
  if (table.format_version > 1) {
    summary.add("last sequence", std::to_string(table.last_sequence_number));
  }
  if (table.format_version > 2) {
    const auto& next = table.next_row_id;
    summary.add("next row id", next ? std::to_string(*next) : "missing: no base for a commit");
  }
  summary.add_schema(table.current_schema(), table.schemas.size());
  add_partitioning(summary, table);
  add_snapshots(summary, table, current);
  summary.add_count("statistics", table.statistics.size() + table.partition_statistics.size());
  if (!table.encryption_keys.empty()) {
    summary.add_count("encryption keys", table.encryption_keys.size());
  }
  summary.add_properties("properties", table.properties);
}

}  // namespace

Result<std::vector<std::string>> summary_of(const TableMetadata& table) {
  ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const current, table.current_snapshot());
  Summary summary;
  summary.add("table", "format version " + std::to_string(table.format_version));
  add_table(summary, table, current);
  return summary.take();
}

Result<std::vector<std::string>> summary_of(const Table& table) {
  ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const current, table.current_snapshot());
  Summary summary;
  summary.add("table", format(table.identifier()));
  summary.add("metadata", table.metadata_location());
  summary.add("generation", std::to_string(table.generation()));
  summary.add("format version", std::to_string(table.metadata().format_version));
  add_table(summary, table.metadata(), current);
  return summary.take();
}

std::vector<std::string> summary_of(const ViewMetadata& view) {
  const ViewVersion& version = view.current_version();
  Summary summary;
  summary.add("view", "format version " + std::to_string(view.format_version));
  summary.add("uuid", iceberg::format_uuid(view.view_uuid));
  summary.add("location", view.location);
  summary.add("version", chosen(version.version_id, view.versions.size()) + ", " +
                             time_of(version.timestamp_ms));
  if (version.default_catalog) summary.add("catalog", *version.default_catalog);
  std::string levels;
  for (const auto level : version.default_namespace) {
    levels += (levels.empty() ? "" : ".") + std::string(level);
  }
  if (!levels.empty()) summary.add("namespace", levels);
  summary.add_schema(view.current_schema(), view.schemas.size());
  summary.add_count("representations", version.representations.size());
  summary.add_list(version.representations, [](const ViewRepresentation& representation) {
    if (representation.type != "sql") return std::string(representation.type);
    return std::string(representation.dialect) + ": " + with_spaces(representation.sql);
  });
  summary.add_properties("properties", view.properties);
  return summary.take();
}

}  // namespace iceblink::cli
