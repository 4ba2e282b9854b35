#include "tests/interop/metadata_dump.h"

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace iceblink::test {
namespace {

constexpr std::array<std::string_view, 23> kTypeNames{
    "boolean",  "int",       "long",      "float",       "double",       "decimal",
    "date",     "time",      "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns",
    "string",   "uuid",      "fixed",     "binary",      "unknown",      "variant",
    "geometry", "geography", "struct",    "list",        "map"};
constexpr std::array<std::string_view, 9> kTransformNames{
    "identity", "bucket", "truncate", "year", "month", "day", "hour", "void", "unknown"};
constexpr std::array<std::string_view, 5> kAlgorithmNames{"spherical", "vincenty", "thomas",
                                                          "andoyer", "karney"};

template <typename Enum, std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "not a value";
}

/// As JSON: ASCII but for what is not, which stays UTF-8.
std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// JSON text without what stands between its tokens, which need not be kept.
std::string compact(std::string_view json) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\' && i + 1 < json.size()) {
      out += c;
      out += json[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) out += c;
  }
  return out;
}

std::optional<std::string> compact(const std::optional<std::string_view>& json) {
  return json ? std::optional(compact(*json)) : std::nullopt;
}

class Dump {
 public:
  void add(const std::string& path, std::integral auto value) { line(path, std::to_string(value)); }
  void add(const std::string& path, bool value) { line(path, value ? "true" : "false"); }
  void add(const std::string& path, std::string_view value) { line(path, quoted(value)); }
  template <typename T>
  void add(const std::string& path, const std::optional<T>& value) {
    if (value) {
      add(path, *value);
    } else {
      line(path, "null");
    }
  }
  void add(const std::string& path, const std::array<std::uint8_t, 16>& uuid) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < uuid.size(); ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
      text += kHex[uuid[i] >> 4];
      text += kHex[uuid[i] & 15];
    }
    add(path, std::string_view(text));
  }
  void add(const std::string& path, std::span<const Property> properties) {
    if (properties.empty()) line(path, "{}");
    for (const auto& [key, value] : properties) add(path + '{' + quoted(key) + '}', value);
  }
  template <typename T>
  void add(const std::string& path, std::span<const T> elements) {
    if (elements.empty()) line(path, "[]");
    for (std::size_t i = 0; i < elements.size(); ++i) {
      add(path + '[' + std::to_string(i) + ']', elements[i]);
    }
  }

  void add(const std::string& path, const Type& type) {
    add(path + ".kind", name_of(kTypeNames, type.kind));
    add(path + ".precision", type.precision);
    add(path + ".scale", type.scale);
    add(path + ".fixed_bytes", type.fixed_bytes);
    add(path + ".crs", type.crs);
    add(path + ".algorithm", name_of(kAlgorithmNames, type.algorithm));
    add(path + ".fields", type.fields);
  }
  void add(const std::string& path, const Field& field) {
    add(path + ".id", field.id);
    add(path + ".name", field.name);
    add(path + ".required", field.required);
    add(path + ".doc", field.doc);
    add(path + ".initial_default", compact(field.initial_default));
    add(path + ".write_default", compact(field.write_default));
    add(path + ".type", field.type);
  }
  void add(const std::string& path, const Schema& schema) {
    add(path + ".schema_id", schema.schema_id);
    add(path + ".identifier_field_ids", schema.identifier_field_ids);
    add(path + ".fields", schema.fields);
  }
  void add(const std::string& path, const Transform& transform) {
    add(path + ".kind", name_of(kTransformNames, transform.kind));
    add(path + ".parameter", transform.parameter);
    add(path + ".text", transform.text);
  }
  void add(const std::string& path, const PartitionField& field) {
    add(path + ".field_id", field.field_id);
    add(path + ".name", field.name);
    add(path + ".transform", field.transform);
    add(path + ".source_ids", field.source_ids);
  }
  void add(const std::string& path, const PartitionSpec& spec) {
    add(path + ".spec_id", spec.spec_id);
    add(path + ".fields", spec.fields);
  }
  void add(const std::string& path, const SortField& field) {
    const bool is_ascending = field.direction == SortDirection::kAscending;
    const bool has_nulls_first = field.null_order == NullOrder::kNullsFirst;
    add(path + ".transform", field.transform);
    add(path + ".source_ids", field.source_ids);
    add(path + ".direction", std::string_view(is_ascending ? "asc" : "desc"));
    add(path + ".null_order", std::string_view(has_nulls_first ? "nulls-first" : "nulls-last"));
  }
  void add(const std::string& path, const SortOrder& order) {
    add(path + ".order_id", order.order_id);
    add(path + ".fields", order.fields);
  }
  void add(const std::string& path, const TableSnapshot& snapshot) {
    add(path + ".snapshot_id", snapshot.snapshot_id);
    add(path + ".parent_snapshot_id", snapshot.parent_snapshot_id);
    add(path + ".sequence_number", snapshot.sequence_number);
    add(path + ".timestamp_ms", snapshot.timestamp_ms);
    add(path + ".manifest_list", snapshot.manifest_list);
    add(path + ".manifests", snapshot.manifests);
    add(path + ".summary", snapshot.summary);
    add(path + ".operation", snapshot.operation());
    add(path + ".schema_id", snapshot.schema_id);
    add(path + ".first_row_id", snapshot.first_row_id);
    add(path + ".added_rows", snapshot.added_rows);
    add(path + ".key_id", snapshot.key_id);
  }
  void add(const std::string& path, const SnapshotIndexEntry& entry) {
    add(path + ".snapshot_id", entry.snapshot_id);
    add(path + ".sequence_number", entry.sequence_number);
  }
  /// A map: its key is the ref's name.
  void add(const std::string& path, std::span<const SnapshotRef> refs) {
    if (refs.empty()) line(path, "{}");
    for (const SnapshotRef& ref : refs) {
      const std::string at = path + '{' + quoted(ref.name) + '}';
      add(at + ".snapshot_id", ref.snapshot_id);
      add(at + ".type", std::string_view(ref.type == RefType::kTag ? "tag" : "branch"));
      add(at + ".min_snapshots_to_keep", ref.min_snapshots_to_keep);
      add(at + ".max_snapshot_age_ms", ref.max_snapshot_age_ms);
      add(at + ".max_ref_age_ms", ref.max_ref_age_ms);
    }
  }
  void add(const std::string& path, const SnapshotLogEntry& entry) {
    add(path + ".timestamp_ms", entry.timestamp_ms);
    add(path + ".snapshot_id", entry.snapshot_id);
  }
  void add(const std::string& path, const MetadataLogEntry& entry) {
    add(path + ".timestamp_ms", entry.timestamp_ms);
    add(path + ".metadata_file", entry.metadata_file);
  }
  void add(const std::string& path, const BlobMetadata& blob) {
    add(path + ".type", blob.type);
    add(path + ".snapshot_id", blob.snapshot_id);
    add(path + ".sequence_number", blob.sequence_number);
    add(path + ".fields", blob.fields);
    add(path + ".properties", blob.properties);
  }
  void add(const std::string& path, const StatisticsFile& file) {
    add(path + ".snapshot_id", file.snapshot_id);
    add(path + ".statistics_path", file.statistics_path);
    add(path + ".file_size_in_bytes", file.file_size_in_bytes);
    add(path + ".file_footer_size_in_bytes", file.file_footer_size_in_bytes);
    add(path + ".key_metadata", file.key_metadata);
    add(path + ".blob_metadata", file.blob_metadata);
  }
  void add(const std::string& path, const PartitionStatisticsFile& file) {
    add(path + ".snapshot_id", file.snapshot_id);
    add(path + ".statistics_path", file.statistics_path);
    add(path + ".file_size_in_bytes", file.file_size_in_bytes);
  }
  void add(const std::string& path, const EncryptionKey& key) {
    add(path + ".key_id", key.key_id);
    add(path + ".encrypted_key_metadata", key.encrypted_key_metadata);
    add(path + ".encrypted_by_id", key.encrypted_by_id);
    add(path + ".properties", key.properties);
  }
  void add(const std::string& path, const ViewRepresentation& representation) {
    add(path + ".type", representation.type);
    add(path + ".sql", representation.sql);
    add(path + ".dialect", representation.dialect);
    add(path + ".json", compact(representation.json));
  }
  void add(const std::string& path, const ViewVersion& version) {
    add(path + ".version_id", version.version_id);
    add(path + ".schema_id", version.schema_id);
    add(path + ".timestamp_ms", version.timestamp_ms);
    add(path + ".summary", version.summary);
    add(path + ".representations", version.representations);
    add(path + ".default_catalog", version.default_catalog);
    add(path + ".default_namespace", version.default_namespace);
  }
  void add(const std::string& path, const ViewHistoryEntry& entry) {
    add(path + ".timestamp_ms", entry.timestamp_ms);
    add(path + ".version_id", entry.version_id);
  }

  Result<std::string> table(const TableMetadata& table) {
    add("format_version", table.format_version);
    add("table_uuid", table.table_uuid);
    add("table_uuid_text", table.table_uuid_text);
    add("location", table.location);
    add("last_sequence_number", table.last_sequence_number);
    add("last_updated_ms", table.last_updated_ms);
    add("last_column_id", table.last_column_id);
    add("current_schema_id", table.current_schema_id);
    add("default_spec_id", table.default_spec_id);
    add("last_partition_id", table.last_partition_id);
    add("default_sort_order_id", table.default_sort_order_id);
    add("schemas", table.schemas);
    add("partition_specs", table.partition_specs);
    add("sort_orders", table.sort_orders);
    add("properties", table.properties);
    add("current_snapshot_id", table.current_snapshot_id);
    add("refs", table.refs);
    add("statistics", table.statistics);
    add("partition_statistics", table.partition_statistics);
    add("encryption_keys", table.encryption_keys);
    add("next_row_id", table.next_row_id);
    add("snapshot_index", table.snapshot_index());
    // One by one first, and then the list, whose elements have to be the same.
    Dump singles;
    std::size_t i = 0;
    for (const auto& entry : table.snapshot_index()) {
      ICEBLINK_ASSIGN_OR_RETURN(const auto* const snapshot, table.snapshot(entry.snapshot_id));
      singles.add("snapshots[" + std::to_string(i++) + ']', *snapshot);
    }
    ICEBLINK_ASSIGN_OR_RETURN(const auto* const current, table.current_snapshot());
    if (current == nullptr) {
      line("current_snapshot", "null");
    } else {
      add("current_snapshot", current->snapshot_id);
    }
    ICEBLINK_ASSIGN_OR_RETURN(const auto snapshots, table.snapshots());
    Dump all;
    all.add("snapshots", snapshots);
    if (!snapshots.empty() && all.text_ != singles.text_) {
      return {ErrorKind::kInternal, "a snapshot differs from itself in the list"};
    }
    text_ += all.text_;
    ICEBLINK_ASSIGN_OR_RETURN(const auto snapshot_log, table.snapshot_log());
    add("snapshot_log", snapshot_log);
    ICEBLINK_ASSIGN_OR_RETURN(const auto metadata_log, table.metadata_log());
    add("metadata_log", metadata_log);
    return std::move(text_);
  }

  std::string view(const ViewMetadata& view) {
    add("format_version", view.format_version);
    add("view_uuid", view.view_uuid);
    add("location", view.location);
    add("current_version_id", view.current_version_id);
    add("schemas", view.schemas);
    add("versions", view.versions);
    add("version_log", view.version_log);
    add("properties", view.properties);
    return std::move(text_);
  }

 private:
  void line(const std::string& path, std::string_view value) {
    text_ += path;
    text_ += '\t';
    text_ += value;
    text_ += '\n';
  }

  std::string text_;
};

}  // namespace

Result<std::string> dump_metadata(const MetadataDocument& document) {
  Dump dump;
  if (document.kind() == MetadataDocument::Kind::kView) {
    return dump.view(static_cast<const ViewMetadata&>(document));
  }
  return dump.table(static_cast<const TableMetadata&>(document));
}

}  // namespace iceblink::test
