#include "iceberg/commit/schema_check.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iceberg/schema_rules.h"
#include "iceberg/type_text.h"

namespace iceblink::iceberg {
namespace {

constexpr std::uint8_t kDefaultsFormatVersion = 3;
/// Above are the ids of metadata columns ("Reserved Field IDs").
constexpr std::int32_t kFieldIdMax = 2147483447;

/// Of the fields that a format has no type for, in one message.
constexpr std::size_t kNamedMax = 10;

/// The format that has it first.
std::uint8_t format_version_of(TypeKind kind) noexcept {
  switch (kind) {
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
    case TypeKind::kUnknown:
    case TypeKind::kVariant:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      return 3;
    default:
      return 1;
  }
}

/// Where a field stands. Its full name is spelled out only where something is wrong with it.
struct FieldPath {
  const FieldPath* outer = nullptr;  // null: a column
  std::string_view name;

  [[nodiscard]] std::string full_name() const {
    std::size_t bytes = 0;
    for (const FieldPath* at = this; at != nullptr; at = at->outer) bytes += at->name.size() + 1;
    std::string full(bytes - 1, '.');
    for (const FieldPath* at = this; at != nullptr; at = at->outer) {
      bytes -= at->name.size() + 1;
      full.replace(bytes, at->name.size(), at->name);
    }
    return full;
  }
};

/// Goes through all fields of a schema.
class SchemaCheck {
 public:
  explicit SchemaCheck(std::uint8_t format_version) : format_version_(format_version) {}

  void visit(std::span<const Field> fields, const FieldPath* outer) {
    const std::size_t repeated = find_repeated_name(fields);
    if (repeated < fields.size() && fault_.empty()) {
      report("two fields have the name '" + FieldPath{outer, fields[repeated].name}.full_name() +
             "'");
    }
    for (const Field& field : fields) {
      ids_.push_back(field.id);
      const FieldPath path{outer, field.name};
      check_format(field, path);
      if (fault_.empty()) report(find_fault(field, path));
      if (field.type.is_nested()) visit(field.type.fields, &path);
    }
  }

  [[nodiscard]] Status status(const Schema& schema) {
    const std::string begin = "Invalid schema for v" + std::to_string(format_version_) + ": ";
    if (unsupported_count_ > kNamedMax) unsupported_ += "; …";
    if (!unsupported_.empty()) return {ErrorKind::kInvalidArgument, begin + unsupported_};
    if (const auto repeated = find_repeated_id(std::move(ids_))) {
      report("two fields have the id " + std::to_string(*repeated));
    }
    for (const auto& [id, fault] : find_identifier_faults(schema)) {
      report("the identifier field " + std::to_string(id) + " " + std::string(fault));
    }
    if (!fault_.empty()) return {ErrorKind::kInvalidArgument, begin + fault_};
    return Ok{};
  }

 private:
  void report(const std::string& fault) {
    if (fault_.empty()) fault_ = fault;
  }
  /// `what` goes before the field's name, `why` behind it.
  void report_unsupported(const char* what, const FieldPath& path, const std::string& why) {
    if (++unsupported_count_ > kNamedMax) return;
    if (!unsupported_.empty()) unsupported_ += "; ";
    unsupported_ += "Invalid ";
    unsupported_ += what;
    unsupported_ += " for " + path.full_name() + ": " + why;
  }
  void check_format(const Field& field, const FieldPath& path) {
    const std::uint8_t first_version = format_version_of(field.type.kind);
    if (format_version_ < first_version) {
      report_unsupported("type", path,
                         format_primitive_type(field.type) + " is not supported until v" +
                             std::to_string(first_version));
    }
    if (field.initial_default && format_version_ < kDefaultsFormatVersion) {
      report_unsupported("initial default", path,
                         "non-null default (" + std::string(*field.initial_default) +
                             ") is not supported until v" + std::to_string(kDefaultsFormatVersion));
    }
  }
  /// The first thing that is wrong with a field itself; empty: nothing.
  [[nodiscard]] static std::string find_fault(const Field& field, const FieldPath& path) {
    for (const auto& [member, json] : {std::pair{"initial-default", field.initial_default},
                                       std::pair{"write-default", field.write_default}}) {
      const std::string fault = json ? find_default_fault(field.type, *json) : "";
      if (fault.empty()) continue;
      return "the " + std::string(member) + " of '" + path.full_name() + "' " + fault;
    }
    if (field.id < 0 || field.id > kFieldIdMax) {
      return "the field '" + path.full_name() + "' has the id " + std::to_string(field.id) +
             ", which no column may have";
    }
    if (field.type.kind == TypeKind::kUnknown && field.required) {
      return "the field '" + path.full_name() + "' is of type unknown and cannot be required";
    }
    return "";
  }

  const std::uint8_t format_version_;
  std::vector<std::int32_t> ids_;
  std::string unsupported_;
  std::size_t unsupported_count_ = 0;
  std::string fault_;
};

std::int32_t highest_id(std::span<const Field> fields) noexcept {
  std::int32_t highest = 0;
  for (const Field& field : fields) {
    highest = std::max({highest, field.id, highest_id(field.type.fields)});
  }
  return highest;
}

}  // namespace

Status check_schema(const Schema& schema, std::uint8_t format_version) {
  SchemaCheck check(format_version);
  check.visit(schema.fields, nullptr);
  return check.status(schema);
}

std::int32_t highest_field_id(const Schema& schema) noexcept {
  return highest_id(schema.fields);
}

}  // namespace iceblink::iceberg
