#include "iceberg/metadata_writer.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

#include "iceberg/json_writer.h"
#include "iceberg/metadata_header.h"
#include "iceberg/schema_writer.h"
#include "iceberg/uuid.h"
#include "iceberg/view_dialects.h"

namespace iceblink::iceberg {
namespace {

void write_properties(JsonWriter& json, std::string_view name,
                      std::span<const Property> properties) {
  json.begin_object(name);
  for (const auto& [key, value] : properties) json.string(key, value);
  json.end_object();
}

template <typename Integer>
void write_optional(JsonWriter& json, std::string_view name, const std::optional<Integer>& value) {
  if (value) json.integer(name, *value);
}

void write_optional(JsonWriter& json, std::string_view name,
                    const std::optional<std::string_view>& value) {
  if (value) json.string(name, *value);
}

Result<std::string> taken(JsonWriter& json, std::size_t depth_max) {
  if (json.deepest() <= depth_max) return json.take();
  return {ErrorKind::kInvalidArgument,
          "metadata cannot be written: it would be nested deeper than " +
              std::to_string(depth_max) + " levels"};
}

// ---- Partition specs and sort orders

void write_source_ids(JsonWriter& json, std::span<const std::int32_t> ids) {
  if (ids.size() == 1) {
    json.integer("source-id", ids[0]);
    return;
  }
  json.begin_array("source-ids");
  for (const std::int32_t id : ids) json.integer(id);
  json.end_array();
}

void write_partition_fields(JsonWriter& json, std::span<const PartitionField> fields) {
  json.begin_array();
  for (const auto& field : fields) {
    json.begin_object();
    json.string("name", field.name);
    json.string("transform", field.transform.text);
    write_source_ids(json, field.source_ids);
    json.integer("field-id", field.field_id);
    json.end_object();
  }
  json.end_array();
}

void write_partition_specs(JsonWriter& json, std::span<const PartitionSpec> specs) {
  json.begin_array("partition-specs");
  for (const auto& spec : specs) {
    json.begin_object();
    json.integer("spec-id", spec.spec_id);
    json.key("fields");
    write_partition_fields(json, spec.fields);
    json.end_object();
  }
  json.end_array();
}

void write_sort_orders(JsonWriter& json, std::span<const SortOrder> orders) {
  json.begin_array("sort-orders");
  for (const auto& order : orders) {
    json.begin_object();
    json.integer("order-id", order.order_id);
    json.begin_array("fields");
    for (const auto& field : order.fields) {
      const bool is_descending = field.direction == SortDirection::kDescending;
      const bool is_nulls_last = field.null_order == NullOrder::kNullsLast;
      json.begin_object();
      json.string("transform", field.transform.text);
      write_source_ids(json, field.source_ids);
      json.string("direction", is_descending ? "desc" : "asc");
      json.string("null-order", is_nulls_last ? "nulls-last" : "nulls-first");
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

// ---- Snapshots, refs, logs

void write_refs(JsonWriter& json, std::span<const SnapshotRef> refs) {
  json.begin_object("refs");
  for (const auto& ref : refs) {
    json.begin_object(ref.name);
    json.integer("snapshot-id", ref.snapshot_id);
    json.string("type", ref.type == RefType::kTag ? "tag" : "branch");
    write_optional(json, "min-snapshots-to-keep", ref.min_snapshots_to_keep);
    write_optional(json, "max-snapshot-age-ms", ref.max_snapshot_age_ms);
    write_optional(json, "max-ref-age-ms", ref.max_ref_age_ms);
    json.end_object();
  }
  json.end_object();
}

void write_logs(JsonWriter& json, const TableHistory& history) {
  json.begin_array("snapshot-log");
  for (const auto& entry : history.snapshot_log) {
    json.begin_object();
    json.integer("timestamp-ms", entry.timestamp_ms);
    json.integer("snapshot-id", entry.snapshot_id);
    json.end_object();
  }
  json.end_array();
  json.begin_array("metadata-log");
  for (const auto& entry : history.metadata_log) {
    json.begin_object();
    json.integer("timestamp-ms", entry.timestamp_ms);
    json.string("metadata-file", entry.metadata_file);
    json.end_object();
  }
  json.end_array();
}

// ---- Statistics, encryption keys

void write_blob(JsonWriter& json, const BlobMetadata& blob) {
  json.begin_object();
  json.string("type", blob.type);
  json.integer("snapshot-id", blob.snapshot_id);
  json.integer("sequence-number", blob.sequence_number);
  json.begin_array("fields");
  for (const std::int32_t id : blob.fields) json.integer(id);
  json.end_array();
  if (!blob.properties.empty()) write_properties(json, "properties", blob.properties);
  json.end_object();
}

void write_statistics(JsonWriter& json, const TableValues& values) {
  json.begin_array("statistics");
  for (const auto& file : values.statistics) {
    json.begin_object();
    json.integer("snapshot-id", file.snapshot_id);
    json.string("statistics-path", file.statistics_path);
    json.integer("file-size-in-bytes", file.file_size_in_bytes);
    json.integer("file-footer-size-in-bytes", file.file_footer_size_in_bytes);
    write_optional(json, "key-metadata", file.key_metadata);
    json.begin_array("blob-metadata");
    for (const auto& blob : file.blob_metadata) write_blob(json, blob);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.begin_array("partition-statistics");
  for (const auto& file : values.partition_statistics) {
    json.begin_object();
    json.integer("snapshot-id", file.snapshot_id);
    json.string("statistics-path", file.statistics_path);
    json.integer("file-size-in-bytes", file.file_size_in_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_encryption_keys(JsonWriter& json, std::span<const EncryptionKey> keys) {
  if (keys.empty()) return;
  json.begin_array("encryption-keys");
  for (const auto& key : keys) {
    json.begin_object();
    json.string("key-id", key.key_id);
    json.string("encrypted-key-metadata", key.encrypted_key_metadata);
    write_optional(json, "encrypted-by-id", key.encrypted_by_id);
    if (!key.properties.empty()) write_properties(json, "properties", key.properties);
    json.end_object();
  }
  json.end_array();
}

// ---- Tables

Error cannot_be_written(std::string what) {
  return {ErrorKind::kInvalidArgument, "table metadata cannot be written: " + what};
}

/// The element with that id, or null.
template <typename Element>
const Element* find(std::span<const Element> elements, std::int32_t Element::*id,
                    std::int32_t wanted) {
  const auto found = std::find_if(elements.begin(), elements.end(),
                                  [&](const Element& element) { return element.*id == wanted; });
  return found == elements.end() ? nullptr : &*found;
}

Status write_identity(JsonWriter& json, const TableValues& values) {
  json.integer("format-version", values.format_version);
  if (!values.table_uuid_text.empty()) {
    json.string("table-uuid", values.table_uuid_text);
  } else if (values.table_uuid) {
    json.string("table-uuid", format_uuid(*values.table_uuid));
  } else if (values.format_version > 1) {
    return cannot_be_written("it has no table-uuid");
  }
  json.string("location", values.location);
  if (values.format_version > 1) json.integer("last-sequence-number", values.last_sequence_number);
  json.integer("last-updated-ms", values.last_updated_ms);
  json.integer("last-column-id", values.last_column_id);
  return Ok{};
}

// Schemas, specs and orders. Readers of format 1 alone know the current ones by themselves.
Status write_structure(JsonWriter& json, const TableValues& values) {
  if (values.format_version == 1) {
    const auto* const schema = find(values.schemas, &Schema::schema_id, values.current_schema_id);
    if (schema == nullptr) return cannot_be_written("its current schema is not there");
    json.key("schema");
    write_schema(json, *schema);
  }
  json.integer("current-schema-id", values.current_schema_id);
  json.key("schemas");
  write_schemas(json, values.schemas);
  if (values.format_version == 1) {
    const auto* const spec =
        find(values.partition_specs, &PartitionSpec::spec_id, values.default_spec_id);
    if (spec == nullptr) return cannot_be_written("its default partition spec is not there");
    json.key("partition-spec");
    write_partition_fields(json, spec->fields);
  }
  json.integer("default-spec-id", values.default_spec_id);
  write_partition_specs(json, values.partition_specs);
  json.integer("last-partition-id", values.last_partition_id);
  json.integer("default-sort-order-id", values.default_sort_order_id);
  write_sort_orders(json, values.sort_orders);
  return Ok{};
}

void write_current_snapshot_id(JsonWriter& json, const TableValues& values) {
  json.key("current-snapshot-id");
  if (values.current_snapshot_id) {
    json.integer(*values.current_snapshot_id);
  } else if (values.format_version > 2) {
    json.null();
  } else {
    json.integer(-1);
  }
}

// ---- Views

Status check_dialects(const ViewVersion& version) {
  const std::vector<std::string> dialects = sql_dialects(version);
  const auto repeated = std::adjacent_find(dialects.begin(), dialects.end());
  if (repeated == dialects.end()) return Ok{};
  return {ErrorKind::kInvalidArgument,
          "view metadata cannot be written: the version " + std::to_string(version.version_id) +
              " has two SQL representations of the dialect '" + *repeated + "'"};
}

void write_version(JsonWriter& json, const ViewVersion& version) {
  json.begin_object();
  json.integer("version-id", version.version_id);
  json.integer("timestamp-ms", version.timestamp_ms);
  json.integer("schema-id", version.schema_id);
  write_properties(json, "summary", version.summary);
  write_optional(json, "default-catalog", version.default_catalog);
  json.begin_array("default-namespace");
  for (const auto level : version.default_namespace) json.string(level);
  json.end_array();
  json.begin_array("representations");
  for (const auto& representation : version.representations) {
    if (representation.type != "sql") {
      json.raw(representation.json);
      continue;
    }
    json.begin_object();
    json.string("type", representation.type);
    json.string("sql", representation.sql);
    json.string("dialect", representation.dialect);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

Result<std::string> write_table_metadata(const TableMetadata& metadata) noexcept {
  TableHistory history;
  ICEBLINK_ASSIGN_OR_RETURN(history.snapshots, metadata.snapshots());
  ICEBLINK_ASSIGN_OR_RETURN(history.snapshot_log, metadata.snapshot_log());
  ICEBLINK_ASSIGN_OR_RETURN(history.metadata_log, metadata.metadata_log());
  return write_table_metadata(metadata, history);
}

Result<std::string> write_table_metadata(const TableValues& values, const TableHistory& history,
                                         std::size_t depth_max) noexcept try {
  if (values.format_version < 1 || values.format_version > kTableFormatVersionMax) {
    return cannot_be_written("its format-version is " + std::to_string(values.format_version));
  }
  JsonWriter json;
  json.begin_object();
  ICEBLINK_RETURN_IF_ERROR(write_identity(json, values));
  ICEBLINK_RETURN_IF_ERROR(write_structure(json, values));
  write_properties(json, "properties", values.properties);
  write_current_snapshot_id(json, values);
  if (values.format_version > 2) {
    write_optional(json, "next-row-id", values.next_row_id);
    write_encryption_keys(json, values.encryption_keys);
  }
  write_refs(json, values.refs);
  json.begin_array("snapshots");
  for (const auto& snapshot : history.snapshots) {
    json.begin_object();
    write_snapshot_members(json, snapshot, values.format_version);
    json.end_object();
  }
  json.end_array();
  write_statistics(json, values);
  write_logs(json, history);
  json.end_object();
  return taken(json, depth_max);
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

void write_snapshot_members(JsonWriter& json, const TableSnapshot& snapshot,
                            std::uint8_t format_version) {
  if (format_version > 1) json.integer("sequence-number", snapshot.sequence_number);
  json.integer("snapshot-id", snapshot.snapshot_id);
  write_optional(json, "parent-snapshot-id", snapshot.parent_snapshot_id);
  json.integer("timestamp-ms", snapshot.timestamp_ms);
  if (!snapshot.summary.empty()) write_properties(json, "summary", snapshot.summary);
  if (!snapshot.manifest_list.empty()) {
    json.string("manifest-list", snapshot.manifest_list);
  } else {
    json.begin_array("manifests");
    for (const auto manifest : snapshot.manifests) json.string(manifest);
    json.end_array();
  }
  write_optional(json, "schema-id", snapshot.schema_id);
  if (format_version > 2) {
    write_optional(json, "first-row-id", snapshot.first_row_id);
    write_optional(json, "added-rows", snapshot.added_rows);
    write_optional(json, "key-id", snapshot.key_id);
  }
}

Result<std::string> write_view_metadata(const ViewValues& metadata, std::size_t depth_max) noexcept
    try {
  for (const auto& version : metadata.versions) ICEBLINK_RETURN_IF_ERROR(check_dialects(version));
  JsonWriter json;
  json.begin_object();
  json.string("view-uuid", format_uuid(metadata.view_uuid));
  json.integer("format-version", metadata.format_version);
  json.string("location", metadata.location);
  write_properties(json, "properties", metadata.properties);
  json.key("schemas");
  write_schemas(json, metadata.schemas);
  json.integer("current-version-id", metadata.current_version_id);
  json.begin_array("versions");
  for (const auto& version : metadata.versions) write_version(json, version);
  json.end_array();
  json.begin_array("version-log");
  for (const auto& entry : metadata.version_log) {
    json.begin_object();
    json.integer("timestamp-ms", entry.timestamp_ms);
    json.integer("version-id", entry.version_id);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return taken(json, depth_max);
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

}  // namespace iceblink::iceberg
