#include "iceberg/manifest/record_fields.h"

#include <algorithm>
#include <limits>

#include "iceberg/utf8.h"

namespace iceblink::iceberg {
namespace {

using avro::Kind;

constexpr std::string_view kKindsWithArticle[] = {
    "null",     "a boolean", "an int",  "a long",   "a float",  "a double", "bytes",
    "a string", "a fixed",   "an enum", "a record", "an array", "a map",    "a union"};

constexpr std::string_view kTypesWithArticle[] = {
    "a boolean", "an int or a long", "a string", "bytes", "a record", "an array", "a map"};

bool is_of(FieldType type, Kind kind) noexcept {
  switch (type) {
    case FieldType::kBoolean:
      return kind == Kind::kBoolean;
    case FieldType::kInteger:
      return kind == Kind::kInt || kind == Kind::kLong;
    case FieldType::kString:
      return kind == Kind::kString;
    case FieldType::kBytes:
      return kind == Kind::kBytes || kind == Kind::kFixed;
    case FieldType::kRecord:
      return kind == Kind::kRecord;
    case FieldType::kArray:
      return kind == Kind::kArray;
    case FieldType::kMap:
      return kind == Kind::kArray || kind == Kind::kMap;
  }
  return false;
}

}  // namespace

std::string_view with_article(Kind kind) noexcept {
  return kKindsWithArticle[static_cast<std::size_t>(kind)];
}

std::string text_of(std::int32_t field_id, std::string_view name) {
  return "field-id " + std::to_string(field_id) + " (" + std::string(name) + ")";
}

Result<const avro::Schema*> value_type(const avro::Schema& type, std::string_view what) {
  if (type.kind == Kind::kNull) return nullptr;
  if (type.kind != Kind::kUnion) return &type;
  const avro::Schema* found = nullptr;
  for (const auto& branch : type.children) {
    if (branch->kind == Kind::kNull) continue;
    if (found != nullptr) return Error(ErrorKind::kCorrupt, {what, " is of several types"});
    found = branch.get();
  }
  return found;
}

// ---- RecordFields

Result<RecordFields> RecordFields::bind(const avro::Schema& record,
                                        std::span<const KnownField> known) {
  if (record.kind != Kind::kRecord) {
    return Error(ErrorKind::kCorrupt,
                 {"the file holds ", with_article(record.kind), " where a record has to be"});
  }
  RecordFields bound(known, record.fields.size());
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    ICEBLINK_RETURN_IF_ERROR(bound.place(record.fields[i], i));
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].presence == Presence::kRequired && !bound.has(i)) {
      return Error(ErrorKind::kCorrupt,
                   {text_of(known[i].id, known[i].name), " is not in the file's schema"});
    }
  }
  return bound;
}

Status RecordFields::place(const avro::SchemaField& field, std::size_t position) {
  if (!field.field_id) return Ok{};
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const KnownField& k) { return k.id == *field.field_id; });
  if (known == known_.end()) return Ok{};
  Place& place = places_[static_cast<std::size_t>(known - known_.begin())];
  const std::string what = text_of(known->id, known->name);
  ICEBLINK_ASSIGN_OR_RETURN(const avro::Schema* const type, value_type(*field.type, what));
  if (type != nullptr && !is_of(known->type, type->kind)) {
    return Error(ErrorKind::kCorrupt, {what, " is ", with_article(type->kind), ", and has to be ",
                                       kTypesWithArticle[static_cast<std::size_t>(known->type)]});
  }
  place = {position, type};
  return Ok{};
}

const avro::Value* RecordFields::find(const avro::Value& record, std::size_t field) const noexcept {
  const Place& place = places_[field];
  if (place.position >= record.children.size()) return nullptr;
  const avro::Value& value = record.children[place.position];
  return value.is_null() ? nullptr : &value;
}

std::vector<bool> RecordFields::wanted() const {
  std::vector<bool> wanted(field_count_);
  for (const Place& place : places_) {
    if (place.position != kAbsent) wanted[place.position] = true;
  }
  return wanted;
}

// ---- RecordValues

const avro::Value* RecordValues::find(std::size_t field) const {
  const avro::Value* const value = fields_.find(record_, field);
  if (value == nullptr && fields_.known(field).presence == Presence::kRequired) {
    refuse(field, "is missing");
  }
  return value;
}

std::optional<bool> RecordValues::boolean(std::size_t field) const {
  const avro::Value* const value = find(field);
  return value == nullptr ? std::nullopt : std::optional(value->integer != 0);
}

std::optional<std::int64_t> RecordValues::integer(std::size_t field) const {
  const avro::Value* const value = find(field);
  return value == nullptr ? std::nullopt : std::optional(value->integer);
}

std::optional<std::int32_t> RecordValues::int32(std::size_t field) const {
  const auto value = integer(field);
  if (!value) return std::nullopt;
  if (*value < std::numeric_limits<std::int32_t>::min() ||
      *value > std::numeric_limits<std::int32_t>::max()) {
    refuse(field, std::to_string(*value) + " does not fit into 32 bits");
    return std::nullopt;
  }
  return static_cast<std::int32_t>(*value);
}

std::optional<std::int64_t> RecordValues::count(std::size_t field) const {
  const auto value = integer(field);
  if (value && *value < 0) {
    refuse(field, std::to_string(*value) + " is negative");
    return std::nullopt;
  }
  return value;
}

std::uint8_t RecordValues::enumerator(std::size_t field, std::uint8_t last) const {
  const std::int64_t value = integer(field).value_or(0);
  if (value < 0 || value > last) {
    refuse(field, std::to_string(value) + " is not among 0 to " + std::to_string(last));
    return 0;
  }
  return static_cast<std::uint8_t>(value);
}

std::optional<std::string_view> RecordValues::text(std::size_t field) const {
  const avro::Value* const value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!is_utf8(value->bytes)) {
    refuse(field, "is not UTF-8");
    return std::nullopt;
  }
  return value->bytes;
}

std::optional<std::string_view> RecordValues::bytes(std::size_t field) const {
  const avro::Value* const value = find(field);
  return value == nullptr ? std::nullopt : std::optional(value->bytes);
}

std::span<const avro::Value> RecordValues::elements(std::size_t field) const {
  const avro::Value* const value = find(field);
  return value == nullptr ? std::span<const avro::Value>() : value->children;
}

void RecordValues::refuse(std::size_t field, std::string_view what) const {
  if (fault_.is_set()) return;
  fault_.set(std::string(path_).append(fields_.known(field).name), what);
}

}  // namespace iceblink::iceberg
