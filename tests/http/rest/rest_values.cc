#include "tests/http/rest/rest_values.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <utility>

namespace iceblink::test {
namespace {

constexpr std::int64_t kSomeTimeMs = 1'700'000'000'000;

Value string_of(std::string_view text) {
  return boost::json::string(text);
}

Object column(int id, std::string_view name, Value type) {
  Object made;
  made["id"] = id;
  made["name"] = name;
  made["type"] = std::move(type);
  return made;
}

Object tagged(std::string_view tag, std::string_view name, std::string_view member, Value value) {
  Object made;
  made[tag] = name;
  made[member] = std::move(value);
  return made;
}

Object requirement(std::string_view type, std::string_view member, Value value) {
  return tagged("type", type, member, std::move(value));
}

Object update(std::string_view action, std::string_view member, Value value) {
  return tagged("action", action, member, std::move(value));
}

Object set_ref(std::string_view name, std::string_view type, std::int64_t snapshot_id) {
  Object made = update("set-snapshot-ref", "ref-name", string_of(name));
  made["type"] = type;
  made["snapshot-id"] = snapshot_id;
  return made;
}

}  // namespace

Value json_of(std::string_view text) {
  boost::json::error_code error;
  auto value = boost::json::parse(text, error);
  EXPECT_FALSE(error) << "not JSON: " << text;
  return value;
}

Object required_column(int id, std::string_view name, Value type) {
  Object made = column(id, name, std::move(type));
  made["required"] = true;
  return made;
}

Object optional_column(int id, std::string_view name, Value type) {
  Object made = column(id, name, std::move(type));
  made["required"] = false;
  return made;
}

Object schema_of(Array columns, int schema_id) {
  Object made;
  made["type"] = "struct";
  made["schema-id"] = schema_id;
  made["fields"] = std::move(columns);
  return made;
}

Object id_and_data(int first_id, int schema_id) {
  Object id = required_column(first_id, "id", "int");
  id["doc"] = "unique ID \xF0\x9F\xA4\xAA";
  return schema_of(Array{id, required_column(first_id + 1, "data", "string")}, schema_id);
}

Object some_id() {
  return schema_of(Array{required_column(1, "some_id", "int")});
}

Object with_column(const Value& schema, int schema_id, int column_id, std::string_view name,
                   Value type) {
  Object made = schema.as_object();
  made["schema-id"] = schema_id;
  made["fields"].as_array().push_back(optional_column(column_id, name, std::move(type)));
  return made;
}

Object partition_field(int source_id, int field_id, std::string_view name,
                       std::string_view transform) {
  Object made;
  made["source-id"] = source_id;
  made["field-id"] = field_id;
  made["name"] = name;
  made["transform"] = transform;
  return made;
}

Object spec_of(Array fields, int spec_id) {
  Object made;
  made["spec-id"] = spec_id;
  made["fields"] = std::move(fields);
  return made;
}

Object id_buckets(int source_id, int spec_id) {
  return spec_of(Array{partition_field(source_id, 1000, "id_bucket", "bucket[16]")}, spec_id);
}

Object sort_field(int source_id, std::string_view transform) {
  Object made;
  made["transform"] = transform;
  made["source-id"] = source_id;
  made["direction"] = "asc";
  made["null-order"] = "nulls-first";
  return made;
}

Object order_of(Array fields, int order_id) {
  Object made;
  made["order-id"] = order_id;
  made["fields"] = std::move(fields);
  return made;
}

Object snapshot_of(const SnapshotText& text) {
  Object made;
  made["snapshot-id"] = text.snapshot_id;
  if (text.parent_id) made["parent-snapshot-id"] = *text.parent_id;
  made["sequence-number"] = text.sequence_number;
  made["timestamp-ms"] = kSomeTimeMs + text.snapshot_id;
  made["manifest-list"] =
      "/data/elsewhere/snap-" + std::to_string(text.snapshot_id) + "-1-c0ffee.avro";
  made["summary"] = Object{{"operation", "append"}, {"added-records", "2"}};
  made["schema-id"] = text.schema_id;
  return made;
}

Object sql_of(std::string_view dialect, std::string_view sql) {
  Object made;
  made["type"] = "sql";
  made["sql"] = sql;
  made["dialect"] = dialect;
  return made;
}

Object view_version(Array representations, int version_id, int schema_id) {
  Object made;
  made["version-id"] = version_id;
  made["timestamp-ms"] = kSomeTimeMs;
  made["schema-id"] = schema_id;
  made["summary"] = Object{{"engine-name", "spark"}, {"engine-version", "3.5.0"}};
  made["representations"] = std::move(representations);
  made["default-namespace"] = Array{"ns"};
  return made;
}

Object view_creation(std::string_view name, Array representations) {
  Object made;
  made["name"] = name;
  made["schema"] = id_and_data();
  made["view-version"] = view_version(std::move(representations));
  made["properties"] = Object{};
  return made;
}

Object assert_create() {
  return Object{{"type", "assert-create"}};
}
Object assert_table_uuid(const Value& uuid) {
  return requirement("assert-table-uuid", "uuid", uuid);
}
Object assert_view_uuid(const Value& uuid) {
  return requirement("assert-view-uuid", "uuid", uuid);
}
Object assert_ref(std::string_view ref, Value snapshot_id) {
  Object made = requirement("assert-ref-snapshot-id", "ref", string_of(ref));
  made["snapshot-id"] = std::move(snapshot_id);
  return made;
}
Object assert_last_assigned_field_id(const Value& id) {
  return requirement("assert-last-assigned-field-id", "last-assigned-field-id", id);
}
Object assert_current_schema_id(const Value& id) {
  return requirement("assert-current-schema-id", "current-schema-id", id);
}
Object assert_last_assigned_partition_id(const Value& id) {
  return requirement("assert-last-assigned-partition-id", "last-assigned-partition-id", id);
}
Object assert_default_spec_id(const Value& id) {
  return requirement("assert-default-spec-id", "default-spec-id", id);
}
Object assert_default_sort_order_id(const Value& id) {
  return requirement("assert-default-sort-order-id", "default-sort-order-id", id);
}

Object assign_uuid(const Value& uuid) {
  return update("assign-uuid", "uuid", uuid);
}
Object upgrade_format_version(const Value& version) {
  return update("upgrade-format-version", "format-version", version);
}
Object add_schema(Object schema) {
  return update("add-schema", "schema", std::move(schema));
}
Object set_current_schema(int id) {
  return update("set-current-schema", "schema-id", id);
}
Object add_spec(Object spec) {
  return update("add-spec", "spec", std::move(spec));
}
Object set_default_spec(int id) {
  return update("set-default-spec", "spec-id", id);
}
Object add_sort_order(Object order) {
  return update("add-sort-order", "sort-order", std::move(order));
}
Object set_default_sort_order(int id) {
  return update("set-default-sort-order", "sort-order-id", id);
}
Object add_snapshot(Object snapshot) {
  return update("add-snapshot", "snapshot", std::move(snapshot));
}
Object set_branch(std::string_view name, std::int64_t snapshot_id) {
  return set_ref(name, "branch", snapshot_id);
}
Object set_tag(std::string_view name, std::int64_t snapshot_id) {
  return set_ref(name, "tag", snapshot_id);
}
Object remove_snapshots(Array ids) {
  return update("remove-snapshots", "snapshot-ids", std::move(ids));
}
Object remove_ref(std::string_view name) {
  return update("remove-snapshot-ref", "ref-name", string_of(name));
}
Object set_location(std::string_view location) {
  return update("set-location", "location", string_of(location));
}
Object set_properties(Object properties) {
  return update("set-properties", "updates", std::move(properties));
}
Object remove_properties(Array keys) {
  return update("remove-properties", "removals", std::move(keys));
}
Object remove_specs(Array ids) {
  return update("remove-partition-specs", "spec-ids", std::move(ids));
}
Object remove_schemas(Array ids) {
  return update("remove-schemas", "schema-ids", std::move(ids));
}
Object add_view_version(Object version) {
  return update("add-view-version", "view-version", std::move(version));
}
Object set_current_view_version(int id) {
  return update("set-current-view-version", "view-version-id", id);
}

Object Commit::body() const {
  Object made;
  made["requirements"] = requirements;
  made["updates"] = updates;
  return made;
}

Object Commit::body_for(std::string_view namespace_level, std::string_view name) const {
  Object made = body();
  made["identifier"] = Object{{"namespace", Array{namespace_level}}, {"name", name}};
  return made;
}

}  // namespace iceblink::test
