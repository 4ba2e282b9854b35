#include "iceberg/avro/avro_schema.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "iceberg/avro/type_names.h"
#include "iceberg/json_reader.h"
#include "iceberg/json_tokens.h"
#include "iceberg/member_set.h"

namespace iceblink::iceberg::avro {
namespace {

constexpr std::size_t kTypesMax = std::size_t{1} << 16;
/// Types are read twice, once for their names, so that nesting costs time.
constexpr std::size_t kJsonBytesMax = std::size_t{4} << 20;
/// Each name has its namespace in front, which the text says once.
constexpr std::size_t kNameBytesMax = 1000;
constexpr std::size_t kNamesBytesMax = kJsonBytesMax;

/// A type with what limits are about.
struct Parsed {
  std::shared_ptr<const Schema> schema;
  std::size_t depth = 1;
  std::size_t types = 1;  // and symbols; with each reference replaced by what it refers to
};

class SchemaParser {
 public:
  explicit SchemaParser(JsonReader& reader) : reader_(reader) {
    for (std::size_t i = 0; i < kPrimitiveCount; ++i) {
      auto schema = std::make_shared<Schema>();
      schema->kind = static_cast<Kind>(i);
      primitives_.at(i) = std::move(schema);
    }
  }

  [[nodiscard]] Parsed read_type(std::string_view space);

 private:
  /// What has to be known of a type before its parts are read.
  struct Head {
    std::optional<std::string_view> type;  // where it is a string
    std::string_view name;
    std::string_view space;
  };
  struct Definition {
    std::optional<Parsed> parsed;  // nothing: it is being read
    bool is_repeated = false;
  };

  [[nodiscard]] Parsed read_union(std::string_view space);
  [[nodiscard]] Parsed read_object(std::string_view space);
  [[nodiscard]] Head read_head(std::string_view space);
  void read_parts(const Head& head, Schema& schema, LogicalType& logical, Parsed& parsed);
  bool read_logical(std::string_view key, LogicalType& logical);
  void read_record_field(std::string_view space, Schema& schema, Parsed& parsed);
  void check_field_ids(const Schema& schema);
  [[nodiscard]] Parsed refer_to(std::string_view name, std::string_view space);
  [[nodiscard]] Definition* define(const Head& head, Schema& schema);
  [[nodiscard]] std::optional<std::int32_t> read_id() {
    if (reader_.take_null()) return std::nullopt;
    return reader_.read_int32();
  }
  /// `inner` is a part of `outer`.
  void add(const Parsed& inner, Parsed& outer) {
    outer.depth = std::max(outer.depth, inner.depth + 1);
    outer.types += inner.types;
    if (outer.depth > kSchemaDepthMax) {
      refuse_size("types are nested deeper than " + std::to_string(kSchemaDepthMax) + " levels");
    }
    check_types(outer);
  }
  void check_types(const Parsed& parsed) {
    if (parsed.types > kTypesMax) {
      refuse_size("more than " + std::to_string(kTypesMax) + " types and symbols");
    }
  }
  void refuse_size(std::string_view what) { reader_.refuse(ErrorKind::kTooLarge, what); }

  JsonReader& reader_;
  std::array<std::shared_ptr<const Schema>, kPrimitiveCount> primitives_;
  std::map<std::string, Definition, std::less<>> definitions_;
  std::size_t names_bytes_ = 0;
};

Parsed SchemaParser::read_type(std::string_view space) {
  if (reader_.peek() == '[') return read_union(space);
  if (reader_.peek() == '{') return read_object(space);
  const std::string_view name = reader_.read_string();
  return refer_to(name, space);
}

Parsed SchemaParser::refer_to(std::string_view name, std::string_view space) {
  if (!reader_.goes_on()) return {};
  if (const auto kind = kind_of(name); kind && is_primitive(*kind)) {
    return {primitives_.at(static_cast<std::size_t>(*kind)), 1, 1};
  }
  auto found = definitions_.end();
  if (!space.empty() && name.find('.') == std::string_view::npos) {
    found = definitions_.find(std::string(space) + '.' + std::string(name));
  }
  if (found == definitions_.end()) found = definitions_.find(name);
  const std::string quoted = '\'' + std::string(name) + '\'';
  if (found == definitions_.end()) {
    reader_.report(quoted + " is not the name of a type");
  } else if (found->second.is_repeated) {
    reader_.report(quoted + " is the name of two types");
  } else if (!found->second.parsed) {
    reader_.refuse(ErrorKind::kUnsupported, quoted + " is a type inside of itself");
  } else {
    return *found->second.parsed;
  }
  return {};
}

Parsed SchemaParser::read_union(std::string_view space) {
  auto schema = std::make_shared<Schema>();
  schema->kind = Kind::kUnion;
  Parsed parsed;
  reader_.read_array([&] {
    const Parsed branch = read_type(space);
    if (!reader_.goes_on()) return;
    schema->children.push_back(branch.schema);
    add(branch, parsed);
  });
  parsed.schema = std::move(schema);
  return parsed;
}

SchemaParser::Head SchemaParser::read_head(std::string_view space) {
  enum class Member { kType, kName, kNamespace };
  MemberSet<Member> members;
  Head head;
  head.space = space;
  reader_.read_object([&](std::string_view key) {
    const bool is_string = reader_.peek() == '"';
    if (is(key, "type") && members.add(reader_, Member::kType)) {
      if (is_string) {
        head.type = reader_.read_string();
      } else {
        reader_.skip_raw();
      }
    } else if (is_string && is(key, "name")) {
      if (members.add(reader_, Member::kName)) head.name = reader_.read_string();
    } else if (is_string && is(key, "namespace")) {
      if (members.add(reader_, Member::kNamespace)) head.space = reader_.read_string();
    } else if (!is(key, "type")) {
      reader_.skip_raw();
    }
  });
  members.require(reader_, {{Member::kType, "type"}});
  return head;
}

Parsed SchemaParser::read_object(std::string_view space) {
  const JsonReader::Place begin = reader_.place();
  Head head = read_head(space);
  if (!reader_.goes_on()) return {};
  auto schema = std::make_shared<Schema>();
  const auto kind = head.type ? kind_of(*head.type) : std::nullopt;
  if (kind) schema->kind = *kind;
  Definition* definition = nullptr;
  if (schema->kind == Kind::kRecord || schema->kind == Kind::kEnum ||
      schema->kind == Kind::kFixed) {
    definition = define(head, *schema);
    // What is inside belongs to the namespace that the name says.
    const std::size_t dot = schema->name.rfind('.');
    head.space = dot == std::string::npos
                     ? std::string_view{}
                     : reader_.arena().copy(std::string_view(schema->name)).substr(0, dot);
  }
  LogicalType logical;
  Parsed parsed;
  reader_.go_to(begin);
  read_parts(head, *schema, logical, parsed);
  if (!reader_.goes_on()) return {};
  if (!kind) {
    // A type in a type is that type. Of its own it can have no more than a logical type.
    if (head.type) parsed = refer_to(*head.type, space);
    if (parsed.schema == nullptr || !is_primitive(parsed.schema->kind)) return parsed;
    *schema = *parsed.schema;
  }
  logical.apply(*schema);
  const bool is_plain = is_primitive(schema->kind) && schema->logical_type.empty();
  parsed.schema = is_plain ? primitives_.at(static_cast<std::size_t>(schema->kind))
                           : std::shared_ptr<const Schema>(std::move(schema));
  if (definition != nullptr) definition->parsed = parsed;
  return parsed;
}

SchemaParser::Definition* SchemaParser::define(const Head& head, Schema& schema) {
  if (head.name.empty()) reader_.report("is missing", "name");
  const bool is_full = head.space.empty() || head.name.find('.') != std::string_view::npos;
  const std::size_t bytes = head.name.size() + (is_full ? 0 : head.space.size() + 1);
  names_bytes_ += bytes;
  if (bytes > kNameBytesMax || names_bytes_ > kNamesBytesMax) {
    refuse_size("a name of more than " + std::to_string(kNameBytesMax) + " bytes, or more than " +
                std::to_string(kNamesBytesMax) + " of all names");
    return nullptr;
  }
  schema.name =
      is_full ? std::string(head.name) : std::string(head.space) + '.' + std::string(head.name);
  const auto [place, is_new] = definitions_.try_emplace(schema.name);
  if (!is_new) {
    place->second.is_repeated = true;  // no harm unless something refers to it
    return nullptr;
  }
  return &place->second;
}

bool SchemaParser::read_logical(std::string_view key, LogicalType& logical) {
  const char first = reader_.peek();
  const bool is_number = first == '-' || (first >= '0' && first <= '9');
  if (first == '"' && is(key, "logicalType")) {
    logical.name = reader_.read_string();
  } else if (is_number && is(key, "precision")) {
    logical.precision = reader_.read_int32();
  } else if (is_number && is(key, "scale")) {
    logical.scale = reader_.read_int32();
  } else if ((first == 't' || first == 'f') && is(key, "adjust-to-utc")) {
    logical.adjust_to_utc = reader_.read_bool();
  } else {
    return false;
  }
  return true;
}

void SchemaParser::read_parts(const Head& head, Schema& schema, LogicalType& logical,
                              Parsed& parsed) {
  enum class Member { kFields, kSymbols, kSize, kItems, kValues, kElementId, kKeyId, kValueId };
  MemberSet<Member> members;
  const auto has = [&](Kind kind, std::string_view key, std::string_view name, Member member) {
    return schema.kind == kind && key == name && members.add(reader_, member);
  };
  const auto add_child = [&] {
    const Parsed child = read_type(head.space);
    schema.children.push_back(child.schema);
    add(child, parsed);
  };
  reader_.read_object([&](std::string_view key) {
    if (has(Kind::kRecord, key, "fields", Member::kFields)) {
      reader_.read_array([&] { read_record_field(head.space, schema, parsed); });
    } else if (has(Kind::kEnum, key, "symbols", Member::kSymbols)) {
      reader_.read_array([&] {
        schema.symbols.emplace_back(reader_.read_string());
        ++parsed.types;
        check_types(parsed);
      });
    } else if (has(Kind::kFixed, key, "size", Member::kSize)) {
      const std::int64_t size = reader_.read_int64();
      if (size < 0) reader_.report("is negative");
      schema.fixed_bytes = static_cast<std::size_t>(size);
    } else if (has(Kind::kArray, key, "items", Member::kItems) ||
               has(Kind::kMap, key, "values", Member::kValues)) {
      add_child();
    } else if (has(Kind::kArray, key, "element-id", Member::kElementId)) {
      schema.element_id = read_id();
    } else if (has(Kind::kMap, key, "key-id", Member::kKeyId)) {
      schema.key_id = read_id();
    } else if (has(Kind::kMap, key, "value-id", Member::kValueId)) {
      schema.value_id = read_id();
    } else if (!head.type && is(key, "type")) {
      parsed = read_type(head.space);
    } else if (!read_logical(key, logical)) {
      reader_.skip();
    }
  });
  if (schema.kind == Kind::kRecord) members.require(reader_, {{Member::kFields, "fields"}});
  if (schema.kind == Kind::kEnum) members.require(reader_, {{Member::kSymbols, "symbols"}});
  if (schema.kind == Kind::kFixed) members.require(reader_, {{Member::kSize, "size"}});
  if (schema.kind == Kind::kArray) members.require(reader_, {{Member::kItems, "items"}});
  if (schema.kind == Kind::kMap) members.require(reader_, {{Member::kValues, "values"}});
  if (schema.kind == Kind::kRecord && reader_.goes_on()) check_field_ids(schema);
}

void SchemaParser::read_record_field(std::string_view space, Schema& schema, Parsed& parsed) {
  enum class Member { kName, kType, kFieldId };
  MemberSet<Member> members;
  SchemaField field;
  Parsed type;
  reader_.read_object([&](std::string_view key) {
    if (is(key, "name")) {
      if (members.add(reader_, Member::kName)) field.name = reader_.read_string();
    } else if (is(key, "type")) {
      if (members.add(reader_, Member::kType)) type = read_type(space);
    } else if (is(key, "field-id")) {
      if (members.add(reader_, Member::kFieldId)) field.field_id = read_id();
    } else {
      reader_.skip();
    }
  });
  members.require(reader_, {{Member::kName, "name"}, {Member::kType, "type"}});
  if (!reader_.goes_on()) return;
  add(type, parsed);
  field.type = std::move(type.schema);
  schema.fields.push_back(std::move(field));
}

void SchemaParser::check_field_ids(const Schema& schema) {
  std::vector<std::int32_t> ids;
  for (const SchemaField& field : schema.fields) {
    if (field.field_id) ids.push_back(*field.field_id);
  }
  std::ranges::sort(ids);
  const auto repeated = std::ranges::adjacent_find(ids);
  if (repeated == ids.end()) return;
  reader_.report("two fields have the id " + std::to_string(*repeated), "fields");
}

}  // namespace

Result<std::shared_ptr<const Schema>> parse_schema(std::string_view json) {
  if (json.size() > kJsonBytesMax) {
    return {ErrorKind::kTooLarge, "more than " + std::to_string(kJsonBytesMax) + " bytes"};
  }
  JsonTokens tokens;
  ICEBLINK_RETURN_IF_ERROR(tokens.find(json));
  const MetadataLimits limits;
  Arena arena;
  std::vector<MetadataProblem> problems;
  JsonReader reader(json, tokens, limits, arena, JsonReader::Wanted::kFirstProblem, problems);
  Parsed parsed = SchemaParser(reader).read_type({});
  reader.expect_end();
  if (!problems.empty()) {
    const auto& [path, what] = problems.front();
    return {reader.error_kind(), path.empty() ? what : path + ": " + what};
  }
  return std::move(parsed.schema);
}

}  // namespace iceblink::iceberg::avro
