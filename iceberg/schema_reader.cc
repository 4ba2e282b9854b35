#include "iceberg/schema_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "iceberg/member_set.h"
#include "iceberg/schema_rules.h"
#include "iceberg/type_text.h"

namespace iceblink::iceberg {
namespace {

/// One schema's types, and the ids of all their fields.
class TypeReader {
 public:
  explicit TypeReader(JsonReader& reader) : reader_(reader) {}

  [[nodiscard]] std::span<const Field> read_fields();
  void report_repeated_ids();

 private:
  [[nodiscard]] Field read_field();
  [[nodiscard]] Type read_type();
  [[nodiscard]] Type read_nested_type();
  void check_field(const Field& field);
  void check_default(const Type& type, std::string_view json, std::string_view member);
  [[nodiscard]] std::int32_t read_id() {
    ids_.push_back(reader_.read_int32());
    return ids_.back();
  }

  JsonReader& reader_;
  std::vector<std::int32_t> ids_;
};

std::span<const Field> TypeReader::read_fields() {
  std::vector<Field> fields;
  reader_.read_array([&] { fields.push_back(read_field()); });
  if (reader_.goes_on()) {
    const std::size_t repeated = find_repeated_name(fields);
    if (repeated < fields.size()) {
      reader_.report("two have the name '" + std::string(fields[repeated].name) + "'");
    }
  }
  return reader_.arena().copy(fields);
}

Field TypeReader::read_field() {
  enum class Member { kId, kName, kType, kRequired, kDoc, kInitialDefault, kWriteDefault };
  Field field;
  MemberSet<Member> members;
  const JsonReader::Watch watch(reader_);
  reader_.read_object([&](std::string_view key) {
    if (is(key, "id")) {
      if (members.add(reader_, Member::kId)) field.id = read_id();
    } else if (is(key, "name")) {
      if (members.add(reader_, Member::kName)) field.name = reader_.read_string();
    } else if (is(key, "required")) {
      if (members.add(reader_, Member::kRequired)) field.required = reader_.read_bool();
    } else if (is(key, "type")) {
      if (members.add(reader_, Member::kType)) field.type = read_type();
    } else if (is(key, "doc")) {
      if (!members.add(reader_, Member::kDoc)) return;
      if (!reader_.take_null()) field.doc = reader_.read_string();
    } else if (is(key, "initial-default")) {
      if (!members.add(reader_, Member::kInitialDefault)) return;
      if (!reader_.take_null()) field.initial_default = reader_.read_raw();
    } else if (is(key, "write-default")) {
      if (!members.add(reader_, Member::kWriteDefault)) return;
      if (!reader_.take_null()) field.write_default = reader_.read_raw();
    } else {
      reader_.skip();
    }
  });
  members.require(reader_, {{Member::kId, "id"},
                            {Member::kName, "name"},
                            {Member::kType, "type"},
                            {Member::kRequired, "required"}});
  if (watch.all_is_well()) check_field(field);
  return field;
}

void TypeReader::check_field(const Field& field) {
  if (field.type.kind == TypeKind::kUnknown && field.required) {
    reader_.report("is of type unknown and cannot be required", "required");
  }
  if (field.initial_default) check_default(field.type, *field.initial_default, "initial-default");
  if (field.write_default) check_default(field.type, *field.write_default, "write-default");
}

void TypeReader::check_default(const Type& type, std::string_view json, std::string_view member) {
  const std::string fault = find_default_fault(type, json);
  if (!fault.empty()) reader_.report(fault, member);
}

Type TypeReader::read_type() {
  if (reader_.peek() == '{') return read_nested_type();
  if (reader_.peek() != '"') {
    (void)reader_.read_string();  // says what it expected
    return {};
  }
  const std::string_view text = reader_.read_string();
  if (!reader_.goes_on()) return {};
  const auto type = parse_primitive_type(text);
  if (!type) {
    reader_.report(type.error().message());
    return {};
  }
  return *type;
}

Type TypeReader::read_nested_type() {
  enum class Member {
    kType,
    kFields,
    kElementId,
    kElement,
    kElementRequired,
    kKeyId,
    kKey,
    kValueId,
    kValue,
    kValueRequired
  };
  MemberSet<Member> members;
  std::string_view kind;
  std::span<const Field> fields;
  Field first;
  Field second;
  first.name = "element";
  second.name = "value";
  reader_.read_object([&](std::string_view key) {
    if (is(key, "type")) {
      if (members.add(reader_, Member::kType)) kind = reader_.read_string();
    } else if (is(key, "fields")) {
      if (members.add(reader_, Member::kFields)) fields = read_fields();
    } else if (is(key, "element-id")) {
      if (members.add(reader_, Member::kElementId)) first.id = read_id();
    } else if (is(key, "element")) {
      if (members.add(reader_, Member::kElement)) first.type = read_type();
    } else if (is(key, "element-required")) {
      if (members.add(reader_, Member::kElementRequired)) first.required = reader_.read_bool();
    } else if (is(key, "key-id")) {
      if (members.add(reader_, Member::kKeyId)) first.id = read_id();
    } else if (is(key, "key")) {
      if (members.add(reader_, Member::kKey)) first.type = read_type();
    } else if (is(key, "value-id")) {
      if (members.add(reader_, Member::kValueId)) second.id = read_id();
    } else if (is(key, "value")) {
      if (members.add(reader_, Member::kValue)) second.type = read_type();
    } else if (is(key, "value-required")) {
      if (members.add(reader_, Member::kValueRequired)) second.required = reader_.read_bool();
    } else {
      reader_.skip();
    }
  });
  members.require(reader_, {{Member::kType, "type"}});
  if (!reader_.goes_on()) return {};
  Type type;
  if (kind == "struct") {
    members.require(reader_, {{Member::kFields, "fields"}});
    type.kind = TypeKind::kStruct;
    type.fields = fields;
  } else if (kind == "list") {
    members.require(reader_, {{Member::kElementId, "element-id"},
                              {Member::kElement, "element"},
                              {Member::kElementRequired, "element-required"}});
    type.kind = TypeKind::kList;
    type.fields = reader_.arena().copy(std::vector{first});
  } else if (kind == "map") {
    members.require(reader_, {{Member::kKeyId, "key-id"},
                              {Member::kKey, "key"},
                              {Member::kValueId, "value-id"},
                              {Member::kValue, "value"},
                              {Member::kValueRequired, "value-required"}});
    type.kind = TypeKind::kMap;
    first.name = "key";
    first.required = true;
    type.fields = reader_.arena().copy(std::vector{first, second});
  } else if (members.has(Member::kType)) {
    reader_.report("'" + std::string(kind) + "' is not struct, list or map", "type");
  }
  return type;
}

void TypeReader::report_repeated_ids() {
  const auto repeated = find_repeated_id(std::move(ids_));
  if (repeated) reader_.report("two fields have the id " + std::to_string(*repeated), "fields");
}

void check_identifiers(JsonReader& reader, const Schema& schema) {
  for (const auto& [id, fault] : find_identifier_faults(schema)) {
    reader.report("the field " + std::to_string(id) + " " + std::string(fault),
                  "identifier-field-ids");
  }
}

}  // namespace

std::span<const std::int32_t> read_ids(JsonReader& reader) {
  std::vector<std::int32_t> ids;
  reader.read_array([&] { ids.push_back(reader.read_int32()); });
  return reader.arena().copy(ids);
}

Schema read_schema(JsonReader& reader, std::int32_t default_id) {
  enum class Member { kType, kSchemaId, kIdentifierFieldIds, kFields };
  Schema schema;
  schema.schema_id = default_id;
  MemberSet<Member> members;
  TypeReader types(reader);
  const JsonReader::Watch watch(reader);
  reader.read_object([&](std::string_view key) {
    if (is(key, "type")) {
      if (!members.add(reader, Member::kType)) return;
      const auto type = reader.read_string();
      if (reader.goes_on() && type != "struct") reader.report("a schema is of type struct");
    } else if (is(key, "schema-id")) {
      if (members.add(reader, Member::kSchemaId)) schema.schema_id = reader.read_int32();
    } else if (is(key, "identifier-field-ids")) {
      if (!members.add(reader, Member::kIdentifierFieldIds) || reader.take_null()) return;
      schema.identifier_field_ids = read_ids(reader);
    } else if (is(key, "fields")) {
      if (members.add(reader, Member::kFields)) schema.fields = types.read_fields();
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kType, "type"}, {Member::kFields, "fields"}});
  if (!watch.all_is_well()) return schema;
  types.report_repeated_ids();
  check_identifiers(reader, schema);
  return schema;
}

std::span<const Schema> read_schemas(JsonReader& reader) {
  std::vector<Schema> schemas;
  reader.read_array([&] { schemas.push_back(read_schema(reader, 0)); });
  return reader.arena().copy(schemas);
}

}  // namespace iceblink::iceberg
