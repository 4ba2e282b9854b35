#include "client/cli/metadata_summary.h"

#include <algorithm>
#include <utility>

#include "client/cli/output.h"
#include "iceberg/type_text.h"
#include "iceberg/utf8.h"
#include "iceberg/uuid.h"

namespace iceblink::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kLabelColumns = 16;
constexpr std::size_t kNameColumnsMax = 36;
/// Of lists that may be long, what is shown.
constexpr std::size_t kShownMax = 10;

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

/// Cut to `columns`, on one line.
std::string fit(std::string_view text, std::size_t columns) {
  std::string line = on_one_line(text);
  if (width_of(line) <= columns) return line;
  std::size_t end = 0;
  for (std::size_t width = 0; end < line.size(); ++end) {
    if (begins_character(line[end]) && ++width == columns) break;
  }
  return line.substr(0, end) + "…";
}

std::string padded(std::string text, std::size_t columns) {
  const std::size_t width = width_of(text);
  if (width < columns) text.append(columns - width, ' ');
  return text;
}

std::string time_of(std::int64_t ms) {
  std::string text = ms < 0 ? "" : to_utc(static_cast<std::uint64_t>(ms / 1000));
  return text.empty() ? std::to_string(ms) + " ms" : text;
}

/// Lines with a label each, and lists below them.
class Summary {
 public:
  void add(std::string_view label, std::string_view text) {
    lines_.push_back(padded(std::string(label), kLabelColumns) + on_one_line(text));
  }
  void add_count(std::string_view label, std::size_t count) { add(label, std::to_string(count)); }
  void add_below(std::string_view text) { lines_.push_back("  " + fit(text, kColumns - 2)); }
  /// At most kShownMax of them.
  template <typename Element, typename Format>
  void add_list(std::span<const Element> elements, Format format) {
    for (const auto& element : elements.first(std::min(elements.size(), kShownMax))) {
      add_below(format(element));
    }
    if (elements.size() > kShownMax) {
      add_below("… and " + std::to_string(elements.size() - kShownMax) + " more");
    }
  }
  void add_properties(std::string_view label, std::span<const Property> properties) {
    add_count(label, properties.size());
    add_list(properties, [](const Property& property) {
      return std::string(property.key) + " = " + std::string(property.value);
    });
  }
  void add_schema(const Schema& schema, std::size_t schema_count);

  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  void add_fields(const Schema& schema, std::span<const Field> fields, std::size_t depth,
                  std::size_t name_columns);

  std::vector<std::string> lines_;
};

/// "id 3", and of how many.
std::string chosen(std::int32_t id, std::size_t count) {
  return "id " + std::to_string(id) + (count == 1 ? "" : ", of " + std::to_string(count));
}

std::string with_spaces(std::string_view text) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  return line;
}

/// How wide the widest name is, with what it is indented by.
std::size_t name_columns_of(std::span<const Field> fields, std::size_t depth) {
  std::size_t columns = 0;
  for (const Field& field : fields) {
    columns = std::max({columns, 2 * depth + width_of(on_one_line(field.name)),
                        name_columns_of(field.type.fields, depth + 1)});
  }
  return std::min(columns, kNameColumnsMax);
}

std::string type_of(const Type& type) {
  switch (type.kind) {
    case TypeKind::kStruct:
      return "struct";
    case TypeKind::kList:
      return "list";
    case TypeKind::kMap:
      return "map";
    default:
      return iceberg::format_primitive_type(type);
  }
}

void Summary::add_fields(const Schema& schema, std::span<const Field> fields, std::size_t depth,
                         std::size_t name_columns) {
  const auto& identifiers = schema.identifier_field_ids;
  for (const Field& field : fields) {
    const std::string id = std::to_string(field.id);
    std::string line(id.size() < 4 ? 4 - id.size() : 0, ' ');
    line += id + "  ";
    line += padded(fit(std::string(2 * depth, ' ') + std::string(field.name), kNameColumnsMax),
                   name_columns);
    line += "  " + type_of(field.type);
    if (field.required) line += ", required";
    if (std::find(identifiers.begin(), identifiers.end(), field.id) != identifiers.end()) {
      line += ", identifier";
    }
    if (field.doc && !field.doc->empty()) line += "  -- " + std::string(*field.doc);
    add_below(line);
    add_fields(schema, field.type.fields, depth + 1, name_columns);
  }
}

void Summary::add_schema(const Schema& schema, std::size_t schema_count) {
  add("schema", chosen(schema.schema_id, schema_count));
  add_fields(schema, schema.fields, 0, name_columns_of(schema.fields, 0));
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

void add_partitioning(Summary& summary, const TableMetadata& table) {
  const Schema& schema = table.current_schema();
  const PartitionSpec& spec = table.default_partition_spec();
  summary.add("partition spec", chosen(spec.spec_id, table.partition_specs.size()) +
                                    (spec.fields.empty() ? ", unpartitioned" : ""));
  for (const auto& field : spec.fields) {
    summary.add_below(std::string(field.name) + " = " +
                      application_of(schema, field.transform, field.source_ids));
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

}  // namespace

Result<std::vector<std::string>> summary_of(const TableMetadata& table) {
  ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const current, table.current_snapshot());
  Summary summary;
  summary.add("table", "format version " + std::to_string(table.format_version));
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
