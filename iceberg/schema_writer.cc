#include "iceberg/schema_writer.h"

#include "iceberg/type_text.h"

namespace iceblink::iceberg {
namespace {

void write_fields(JsonWriter& json, std::span<const Field> fields);

void write_type(JsonWriter& json, const Type& type) {
  if (!type.is_nested()) {
    json.string(format_primitive_type(type));
    return;
  }
  json.begin_object();
  if (type.kind == TypeKind::kStruct) {
    json.string("type", "struct");
    write_fields(json, type.fields);
  } else if (type.kind == TypeKind::kList) {
    const Field& element = type.fields[0];
    json.string("type", "list");
    json.integer("element-id", element.id);
    json.key("element");
    write_type(json, element.type);
    json.boolean("element-required", element.required);
  } else {
    const Field& key = type.fields[0];
    const Field& value = type.fields[1];
    json.string("type", "map");
    json.integer("key-id", key.id);
    json.key("key");
    write_type(json, key.type);
    json.integer("value-id", value.id);
    json.key("value");
    write_type(json, value.type);
    json.boolean("value-required", value.required);
  }
  json.end_object();
}

void write_default(JsonWriter& json, std::string_view name,
                   const std::optional<std::string_view>& value) {
  if (!value) return;
  json.key(name);
  json.raw(*value);
}

void write_fields(JsonWriter& json, std::span<const Field> fields) {
  json.begin_array("fields");
  for (const Field& field : fields) {
    json.begin_object();
    json.integer("id", field.id);
    json.string("name", field.name);
    json.boolean("required", field.required);
    json.key("type");
    write_type(json, field.type);
    if (field.doc) json.string("doc", *field.doc);
    write_default(json, "initial-default", field.initial_default);
    write_default(json, "write-default", field.write_default);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_schema(JsonWriter& json, const Schema& schema) {
  json.begin_object();
  json.string("type", "struct");
  json.integer("schema-id", schema.schema_id);
  if (!schema.identifier_field_ids.empty()) {
    json.begin_array("identifier-field-ids");
    for (const std::int32_t id : schema.identifier_field_ids) json.integer(id);
    json.end_array();
  }
  write_fields(json, schema.fields);
  json.end_object();
}

void write_schemas(JsonWriter& json, std::span<const Schema> schemas) {
  json.begin_array();
  for (const Schema& schema : schemas) write_schema(json, schema);
  json.end_array();
}

}  // namespace iceblink::iceberg
