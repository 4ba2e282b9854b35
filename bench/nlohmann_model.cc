#include "bench/nlohmann_model.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "iceberg/partitioning_reader.h"
#include "iceberg/type_text.h"
#include "iceberg/uuid.h"

namespace iceblink::bench {
namespace {

using nlohmann::json;

class Builder {
 public:
  explicit Builder(NlohmannTable& table) : table_(table), arena_(table.arena) {}

  void build(const json& document);

 private:
  [[nodiscard]] std::string_view text(const json& value) {
    return arena_.copy(std::string_view(value.get_ref<const std::string&>()));
  }
  template <typename Element, typename Read>
  [[nodiscard]] std::span<const Element> array(const json& values, Read read) {
    std::vector<Element> elements;
    elements.reserve(values.size());
    for (const auto& value : values) elements.push_back(read(value));
    return arena_.copy(elements);
  }
  template <typename Value>
  [[nodiscard]] static std::optional<Value> optional(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return std::nullopt;
    return found->get<Value>();
  }
  [[nodiscard]] std::span<const Property> properties(const json& object) {
    std::vector<Property> entries;
    entries.reserve(object.size());
    for (const auto& [key, value] : object.items()) {
      entries.push_back({arena_.copy(std::string_view(key)), text(value)});
    }
    return arena_.copy(entries);
  }
  [[nodiscard]] Field field(const json& object);
  [[nodiscard]] Schema schema(const json& object);
  [[nodiscard]] PartitionSpec spec(const json& object);
  [[nodiscard]] TableSnapshot snapshot(const json& object);
  [[nodiscard]] std::span<const SnapshotRef> refs(const json& object);

  NlohmannTable& table_;
  iceberg::Arena& arena_;
};

Field Builder::field(const json& object) {
  Field field;
  field.id = object.at("id").get<std::int32_t>();
  field.name = text(object.at("name"));
  field.required = object.at("required").get<bool>();
  field.type =
      iceberg::parse_primitive_type(object.at("type").get_ref<const std::string&>()).value();
  return field;
}

Schema Builder::schema(const json& object) {
  Schema schema;
  schema.schema_id = object.at("schema-id").get<std::int32_t>();
  schema.fields =
      array<Field>(object.at("fields"), [&](const json& value) { return field(value); });
  return schema;
}

PartitionSpec Builder::spec(const json& object) {
  PartitionSpec spec;
  spec.spec_id = object.at("spec-id").get<std::int32_t>();
  spec.fields = array<PartitionField>(object.at("fields"), [&](const json& value) {
    PartitionField field;
    field.field_id = value.at("field-id").get<std::int32_t>();
    field.name = text(value.at("name"));
    field.transform = iceberg::parse_transform(text(value.at("transform")));
    const auto source_id = value.at("source-id").get<std::int32_t>();
    field.source_ids = arena_.copy(std::span(&source_id, 1));
    return field;
  });
  return spec;
}

TableSnapshot Builder::snapshot(const json& object) {
  TableSnapshot snapshot;
  snapshot.snapshot_id = object.at("snapshot-id").get<std::int64_t>();
  snapshot.parent_snapshot_id = optional<std::int64_t>(object, "parent-snapshot-id");
  snapshot.sequence_number = object.value("sequence-number", std::int64_t{0});
  snapshot.timestamp_ms = object.at("timestamp-ms").get<std::int64_t>();
  snapshot.summary = properties(object.at("summary"));
  snapshot.manifest_list = text(object.at("manifest-list"));
  snapshot.schema_id = optional<std::int32_t>(object, "schema-id");
  return snapshot;
}

std::span<const SnapshotRef> Builder::refs(const json& object) {
  std::vector<SnapshotRef> refs;
  for (const auto& [name, value] : object.items()) {
    SnapshotRef ref;
    ref.name = arena_.copy(std::string_view(name));
    ref.snapshot_id = value.at("snapshot-id").get<std::int64_t>();
    ref.type = value.at("type") == "tag" ? RefType::kTag : RefType::kBranch;
    ref.min_snapshots_to_keep = optional<std::int32_t>(value, "min-snapshots-to-keep");
    ref.max_snapshot_age_ms = optional<std::int64_t>(value, "max-snapshot-age-ms");
    ref.max_ref_age_ms = optional<std::int64_t>(value, "max-ref-age-ms");
    refs.push_back(ref);
  }
  return arena_.copy(refs);
}

void Builder::build(const json& document) {
  TableValues& values = table_.values;
  values.format_version = document.at("format-version").get<std::uint8_t>();
  values.table_uuid_text = text(document.at("table-uuid"));
  values.table_uuid = iceberg::parse_uuid(values.table_uuid_text);
  values.location = text(document.at("location"));
  values.last_sequence_number = document.at("last-sequence-number").get<std::int64_t>();
  values.last_updated_ms = document.at("last-updated-ms").get<std::int64_t>();
  values.last_column_id = document.at("last-column-id").get<std::int32_t>();
  values.current_schema_id = document.at("current-schema-id").get<std::int32_t>();
  values.default_spec_id = document.at("default-spec-id").get<std::int32_t>();
  values.last_partition_id = document.at("last-partition-id").get<std::int32_t>();
  values.default_sort_order_id = document.at("default-sort-order-id").get<std::int32_t>();
  values.schemas =
      array<Schema>(document.at("schemas"), [&](const json& value) { return schema(value); });
  values.partition_specs = array<PartitionSpec>(document.at("partition-specs"),
                                                [&](const json& value) { return spec(value); });
  values.sort_orders = array<SortOrder>(document.at("sort-orders"), [](const json& value) {
    SortOrder order;
    order.order_id = value.at("order-id").get<std::int32_t>();
    return order;
  });
  values.properties = properties(document.at("properties"));
  values.current_snapshot_id = optional<std::int64_t>(document, "current-snapshot-id");
  values.refs = refs(document.at("refs"));
  table_.snapshots = array<TableSnapshot>(document.at("snapshots"),
                                          [&](const json& value) { return snapshot(value); });
  table_.snapshot_log = array<SnapshotLogEntry>(document.at("snapshot-log"), [](const json& value) {
    return SnapshotLogEntry{value.at("timestamp-ms").get<std::int64_t>(),
                            value.at("snapshot-id").get<std::int64_t>()};
  });
  table_.metadata_log =
      array<MetadataLogEntry>(document.at("metadata-log"), [&](const json& value) {
        return MetadataLogEntry{value.at("timestamp-ms").get<std::int64_t>(),
                                text(value.at("metadata-file"))};
      });
}

}  // namespace

void read_with_nlohmann(std::string_view text, NlohmannTable& table) {
  const json document = json::parse(text.begin(), text.end());
  Builder(table).build(document);
}

}  // namespace iceblink::bench
