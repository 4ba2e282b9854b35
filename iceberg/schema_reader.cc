#include "iceberg/schema_reader.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "iceberg/member_set.h"
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

/// Of a name's length and its ends: enough to tell most columns apart.
std::uint64_t hash_of_ends(std::string_view name) noexcept {
  constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (name.size() >= sizeof(first)) [[likely]] {
    std::memcpy(&first, name.data(), sizeof(first));
    std::memcpy(&last, name.data() + name.size() - sizeof(last), sizeof(last));
  } else {
    for (const char c : name) last = last << 8 | static_cast<unsigned char>(c);
  }
  return ((first * kMultiplier) ^ (last + name.size())) * kMultiplier;
}

/// The position of a field that has the name of another one; else how many fields there are.
std::size_t find_repeated_name_by_sorting(std::span<const Field> fields) {
  std::vector<std::size_t> by_name(fields.size());
  std::iota(by_name.begin(), by_name.end(), std::size_t{0});
  const auto name_of = [&](std::size_t i) { return fields[i].name; };
  std::ranges::sort(by_name, {}, name_of);
  const auto repeated = std::ranges::adjacent_find(by_name, {}, name_of);
  return repeated == by_name.end() ? fields.size() : *std::next(repeated);
}

/// The same. Names that are alike by chance, or made so, are compared a few times at most.
std::size_t find_repeated_name(std::span<const Field> fields) {
  constexpr int kBits = 11;
  constexpr int kComparedMax = 64;
  std::bitset<1U << kBits> seen;
  int compared = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view name = fields[i].name;
    const std::size_t bit = hash_of_ends(name) >> (64 - kBits);
    if (seen[bit]) {
      if (++compared > kComparedMax) return find_repeated_name_by_sorting(fields);
      const auto has_name = [&](const Field& field) { return field.name == name; };
      if (std::ranges::any_of(fields.first(i), has_name)) return i;
    }
    seen.set(bit);
  }
  return fields.size();
}

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

/// What a default of this type begins with, as a single value is serialised (appendix D).
std::string_view first_characters_of_values(TypeKind kind) noexcept {
  switch (kind) {
    case TypeKind::kBoolean:
      return "tf";
    case TypeKind::kInt:
    case TypeKind::kLong:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return "-0123456789";
    case TypeKind::kStruct:
    case TypeKind::kMap:
      return "{";
    case TypeKind::kList:
      return "[";
    case TypeKind::kUnknown:
    case TypeKind::kVariant:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      return "";
    default:
      return "\"";
  }
}

void TypeReader::check_default(const Type& type, std::string_view json, std::string_view member) {
  const auto fitting = first_characters_of_values(type.kind);
  if (json.empty() || fitting.find(json.front()) != std::string_view::npos) return;
  const std::string what =
      type.is_nested() ? "the column's nested type" : format_primitive_type(type);
  reader_.report(fitting.empty() ? "a column of type " + what + " has no default but null"
                                 : "is not a value of " + what,
                 member);
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
  std::sort(ids_.begin(), ids_.end());
  const auto repeated = std::adjacent_find(ids_.begin(), ids_.end());
  if (repeated == ids_.end()) return;
  reader_.report("two fields have the id " + std::to_string(*repeated), "fields");
}

/// A field, and why it cannot identify rows (specification, "Identifier Field IDs"); empty: it can.
struct IdentifierFault {
  std::int32_t id;
  std::string_view fault;
};

/// Of all `fields`; those inside have the fault of what they are in, where it has one.
void add_identifier_faults(std::span<const Field> fields, std::string_view outer_fault,
                           std::vector<IdentifierFault>& faults) {
  for (const Field& field : fields) {
    std::string_view fault = outer_fault;
    std::string_view inner_fault = outer_fault;
    const TypeKind kind = field.type.kind;
    if (fault.empty() && !field.required) fault = "is optional";
    if (fault.empty() && field.type.is_nested()) fault = "is not primitive";
    if (fault.empty() && (kind == TypeKind::kFloat || kind == TypeKind::kDouble)) {
      fault = "is a floating-point number";
    }
    if (inner_fault.empty() && kind == TypeKind::kStruct && !field.required) {
      inner_fault = "is inside of an optional struct";
    }
    if (inner_fault.empty() && kind != TypeKind::kStruct)
      inner_fault = "is inside of a list or a map";
    faults.push_back({field.id, fault});
    add_identifier_faults(field.type.fields, inner_fault, faults);
  }
}

void check_identifiers(JsonReader& reader, const Schema& schema) {
  std::vector<IdentifierFault> faults;
  add_identifier_faults(schema.fields, {}, faults);
  std::ranges::sort(faults, {}, &IdentifierFault::id);
  for (const std::int32_t id : schema.identifier_field_ids) {
    const auto found = std::ranges::lower_bound(faults, id, {}, &IdentifierFault::id);
    const bool is_there = found != faults.end() && found->id == id;
    const std::string_view fault = is_there ? found->fault : "is not in the schema";
    if (fault.empty()) continue;
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
  if (!schema.identifier_field_ids.empty()) check_identifiers(reader, schema);
  return schema;
}

std::span<const Schema> read_schemas(JsonReader& reader) {
  std::vector<Schema> schemas;
  reader.read_array([&] { schemas.push_back(read_schema(reader, 0)); });
  return reader.arena().copy(schemas);
}

}  // namespace iceblink::iceberg
