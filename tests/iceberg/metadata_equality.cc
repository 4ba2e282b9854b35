#include "tests/iceberg/metadata_equality.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "iceberg/uuid.h"

namespace iceblink::iceberg::testing {
namespace {

std::string without_space(std::string_view json) {
  std::string text;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!in_string && std::string_view(" \t\r\n").find(c) != std::string_view::npos) continue;
    text += c;
    if (c == '"') in_string = !in_string;
    if (c == '\\' && in_string) text += json[++i];
  }
  return text;
}

std::string shown(std::string_view text) {
  return "'" + std::string(text) + "'";
}
std::string shown(bool value) {
  return value ? "true" : "false";
}
std::string shown(const std::array<std::uint8_t, 16>& uuid) {
  return format_uuid(uuid);
}
template <typename T>
requires std::is_enum_v<T> std::string shown(T value) {
  return std::to_string(static_cast<int>(value));
}
template <typename T>
requires std::is_integral_v<T> std::string shown(T value) {
  return std::to_string(value);
}

/// Walks over two values side by side and remembers the first difference.
class Comparison {
 public:
  [[nodiscard]] const std::string& found() const { return found_; }

  template <typename T>
  void same(const std::string& field, const T& a, const T& b) {
    if (a == b) return;
    differ(field, shown(a) + ", and " + shown(b));
  }
  template <typename T>
  void same(const std::string& field, const std::optional<T>& a, const std::optional<T>& b) {
    if (a.has_value() != b.has_value()) {
      differ(field, a ? shown(*a) + ", and nothing" : "nothing, and " + shown(*b));
    } else if (a) {
      same(field, *a, *b);
    }
  }
  /// `compare(a, b)` compares two elements, inside of their place.
  template <typename T, typename Compare>
  void each(const std::string& field, std::span<const T> a, std::span<const T> b, Compare compare) {
    if (a.size() != b.size()) {
      differ(field, std::to_string(a.size()) + " of them, and " + std::to_string(b.size()));
      return;
    }
    for (std::size_t i = 0; i < a.size() && found_.empty(); ++i) {
      inside(field + '[' + std::to_string(i) + ']', [&] { compare(a[i], b[i]); });
    }
  }
  template <typename T>
  void each_same(const std::string& field, std::span<const T> a, std::span<const T> b) {
    each(field, a, b, [&](const T& x, const T& y) { same("", x, y); });
  }
  template <typename Work>
  void inside(const std::string& place, Work work) {
    const std::string outside = place_;
    place_ += (place_.empty() ? "" : ".") + place;
    work();
    place_ = outside;
  }
  void differ(const std::string& field, const std::string& how) {
    if (!found_.empty()) return;
    found_ = place_ + (place_.empty() || field.empty() ? "" : ".") + field + ": " + how;
  }

 private:
  std::string place_;
  std::string found_;
};

#define SAME(field) in.same(#field, a.field, b.field)

void compare(Comparison& in, const std::string& field, std::span<const Property> all_a,
             std::span<const Property> all_b) {
  in.each(field, all_a, all_b, [&](const Property& a, const Property& b) {
    SAME(key);
    SAME(value);
  });
}

// ---- Schemas, specs, orders

void compare(Comparison& in, const Transform& a, const Transform& b) {
  SAME(kind);
  SAME(parameter);
  SAME(text);
}

void compare_defaults(Comparison& in, const std::string& field,
                      const std::optional<std::string_view>& a,
                      const std::optional<std::string_view>& b) {
  const auto text = [](const auto& json) {
    return json ? std::optional(without_space(*json)) : std::nullopt;
  };
  in.same(field, text(a), text(b));
}

void compare_fields(Comparison& in, std::span<const Field> all_a, std::span<const Field> all_b) {
  in.each("fields", all_a, all_b, [&](const Field& a, const Field& b) {
    SAME(id);
    SAME(required);
    SAME(name);
    SAME(doc);
    compare_defaults(in, "initial_default", a.initial_default, b.initial_default);
    compare_defaults(in, "write_default", a.write_default, b.write_default);
    SAME(type.kind);
    SAME(type.algorithm);
    SAME(type.precision);
    SAME(type.scale);
    SAME(type.fixed_bytes);
    SAME(type.crs);
    in.inside("type", [&] { compare_fields(in, a.type.fields, b.type.fields); });
  });
}

void compare(Comparison& in, std::span<const Schema> all_a, std::span<const Schema> all_b) {
  in.each("schemas", all_a, all_b, [&](const Schema& a, const Schema& b) {
    SAME(schema_id);
    compare_fields(in, a.fields, b.fields);
    in.each_same("identifier_field_ids", a.identifier_field_ids, b.identifier_field_ids);
  });
}

void compare(Comparison& in, std::span<const PartitionSpec> all_a,
             std::span<const PartitionSpec> all_b) {
  in.each("partition_specs", all_a, all_b, [&](const PartitionSpec& spec_a, const auto& spec_b) {
    in.same("spec_id", spec_a.spec_id, spec_b.spec_id);
    in.each("fields", spec_a.fields, spec_b.fields,
            [&](const PartitionField& a, const PartitionField& b) {
              SAME(field_id);
              SAME(name);
              compare(in, a.transform, b.transform);
              in.each_same("source_ids", a.source_ids, b.source_ids);
            });
  });
}

void compare(Comparison& in, std::span<const SortOrder> all_a, std::span<const SortOrder> all_b) {
  in.each("sort_orders", all_a, all_b, [&](const SortOrder& order_a, const auto& order_b) {
    in.same("order_id", order_a.order_id, order_b.order_id);
    in.each("fields", order_a.fields, order_b.fields, [&](const SortField& a, const SortField& b) {
      compare(in, a.transform, b.transform);
      in.each_same("source_ids", a.source_ids, b.source_ids);
      SAME(direction);
      SAME(null_order);
    });
  });
}

// ---- The rest of a table

void compare(Comparison& in, std::span<const SnapshotRef> all_a,
             std::span<const SnapshotRef> all_b) {
  in.each("refs", all_a, all_b, [&](const SnapshotRef& a, const SnapshotRef& b) {
    SAME(name);
    SAME(snapshot_id);
    SAME(type);
    SAME(min_snapshots_to_keep);
    SAME(max_snapshot_age_ms);
    SAME(max_ref_age_ms);
  });
}

void compare(Comparison& in, std::span<const StatisticsFile> all_a,
             std::span<const StatisticsFile> all_b) {
  in.each("statistics", all_a, all_b, [&](const StatisticsFile& a, const StatisticsFile& b) {
    SAME(snapshot_id);
    SAME(statistics_path);
    SAME(file_size_in_bytes);
    SAME(file_footer_size_in_bytes);
    SAME(key_metadata);
    in.each("blob_metadata", a.blob_metadata, b.blob_metadata,
            [&](const BlobMetadata& blob_a, const BlobMetadata& blob_b) {
              in.same("type", blob_a.type, blob_b.type);
              in.same("snapshot_id", blob_a.snapshot_id, blob_b.snapshot_id);
              in.same("sequence_number", blob_a.sequence_number, blob_b.sequence_number);
              in.each_same("fields", blob_a.fields, blob_b.fields);
              compare(in, "properties", blob_a.properties, blob_b.properties);
            });
  });
}

void compare_rest(Comparison& in, const TableValues& table_a, const TableValues& table_b) {
  in.each("partition_statistics", table_a.partition_statistics, table_b.partition_statistics,
          [&](const PartitionStatisticsFile& a, const PartitionStatisticsFile& b) {
            SAME(snapshot_id);
            SAME(statistics_path);
            SAME(file_size_in_bytes);
          });
  in.each("encryption_keys", table_a.encryption_keys, table_b.encryption_keys,
          [&](const EncryptionKey& a, const EncryptionKey& b) {
            SAME(key_id);
            SAME(encrypted_key_metadata);
            SAME(encrypted_by_id);
            compare(in, "properties", a.properties, b.properties);
          });
}

void compare_values(Comparison& in, const TableValues& a, const TableValues& b) {
  SAME(format_version);
  SAME(table_uuid);
  SAME(table_uuid_text);
  SAME(location);
  SAME(last_sequence_number);
  SAME(last_updated_ms);
  SAME(last_column_id);
  SAME(current_schema_id);
  SAME(default_spec_id);
  SAME(last_partition_id);
  SAME(default_sort_order_id);
  SAME(current_snapshot_id);
  SAME(next_row_id);
  compare(in, a.schemas, b.schemas);
  compare(in, a.partition_specs, b.partition_specs);
  compare(in, a.sort_orders, b.sort_orders);
  compare(in, "properties", a.properties, b.properties);
  compare(in, a.refs, b.refs);
  compare(in, a.statistics, b.statistics);
  compare_rest(in, a, b);
}

void compare(Comparison& in, std::span<const TableSnapshot> all_a,
             std::span<const TableSnapshot> all_b) {
  in.each("snapshots", all_a, all_b, [&](const TableSnapshot& a, const TableSnapshot& b) {
    SAME(snapshot_id);
    SAME(parent_snapshot_id);
    SAME(sequence_number);
    SAME(timestamp_ms);
    SAME(manifest_list);
    in.each_same("manifests", a.manifests, b.manifests);
    compare(in, "summary", a.summary, b.summary);
    SAME(schema_id);
    SAME(first_row_id);
    SAME(added_rows);
    SAME(key_id);
  });
}

void compare_log(Comparison& in, std::span<const SnapshotLogEntry> all_a,
                 std::span<const SnapshotLogEntry> all_b) {
  in.each("snapshot_log", all_a, all_b, [&](const SnapshotLogEntry& a, const auto& b) {
    SAME(timestamp_ms);
    SAME(snapshot_id);
  });
}
void compare_log(Comparison& in, std::span<const MetadataLogEntry> all_a,
                 std::span<const MetadataLogEntry> all_b) {
  in.each("metadata_log", all_a, all_b, [&](const MetadataLogEntry& a, const auto& b) {
    SAME(timestamp_ms);
    SAME(metadata_file);
  });
}

/// What is built when it is asked for.
template <typename T, typename Compare>
void compare_built(Comparison& in, const std::string& field, const Result<std::span<const T>>& a,
                   const Result<std::span<const T>>& b, Compare compare_elements) {
  for (const auto* const part : {&a, &b}) {
    if (!part->ok()) return in.differ(field, part->error().message());
  }
  compare_elements(*a, *b);
}

// ---- A view

void compare_versions(Comparison& in, const ViewValues& view_a, const ViewValues& view_b) {
  in.each("versions", view_a.versions, view_b.versions,
          [&](const ViewVersion& a, const ViewVersion& b) {
            SAME(version_id);
            SAME(schema_id);
            SAME(timestamp_ms);
            compare(in, "summary", a.summary, b.summary);
            in.each("representations", a.representations, b.representations,
                    [&](const ViewRepresentation& sql_a, const ViewRepresentation& sql_b) {
                      in.same("type", sql_a.type, sql_b.type);
                      in.same("sql", sql_a.sql, sql_b.sql);
                      in.same("dialect", sql_a.dialect, sql_b.dialect);
                      in.same("json", without_space(sql_a.json), without_space(sql_b.json));
                    });
            SAME(default_catalog);
            in.each_same("default_namespace", a.default_namespace, b.default_namespace);
          });
  in.each("version_log", view_a.version_log, view_b.version_log,
          [&](const ViewHistoryEntry& a, const ViewHistoryEntry& b) {
            SAME(timestamp_ms);
            SAME(version_id);
          });
}

}  // namespace

std::string difference(const TableMetadata& a, const TableMetadata& b) {
  Comparison in;
  compare_values(in, a, b);
  in.each("snapshot_index", a.snapshot_index(), b.snapshot_index(),
          [&](const SnapshotIndexEntry& x, const SnapshotIndexEntry& y) {
            in.same("snapshot_id", x.snapshot_id, y.snapshot_id);
            in.same("sequence_number", x.sequence_number, y.sequence_number);
          });
  compare_built(in, "snapshots", a.snapshots(), b.snapshots(),
                [&](auto x, auto y) { compare(in, x, y); });
  const auto compare_logs = [&](auto x, auto y) { compare_log(in, x, y); };
  compare_built(in, "snapshot_log", a.snapshot_log(), b.snapshot_log(), compare_logs);
  compare_built(in, "metadata_log", a.metadata_log(), b.metadata_log(), compare_logs);
  return in.found();
}

std::string difference(const ViewMetadata& a, const ViewMetadata& b) {
  Comparison in;
  SAME(format_version);
  SAME(view_uuid);
  SAME(location);
  SAME(current_version_id);
  compare(in, a.schemas, b.schemas);
  compare_versions(in, a, b);
  compare(in, "properties", a.properties, b.properties);
  return in.found();
}

std::string difference(const MetadataDocument& a, const MetadataDocument& b) {
  if (a.kind() != b.kind()) return "one is a table, the other a view";
  if (a.kind() == MetadataDocument::Kind::kView) {
    return difference(static_cast<const ViewMetadata&>(a), static_cast<const ViewMetadata&>(b));
  }
  return difference(static_cast<const TableMetadata&>(a), static_cast<const TableMetadata&>(b));
}

}  // namespace iceblink::iceberg::testing
