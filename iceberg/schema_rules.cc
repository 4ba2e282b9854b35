#include "iceberg/schema_rules.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <numeric>

#include "iceberg/type_text.h"

namespace iceblink::iceberg {
namespace {

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

}  // namespace

// Names that are alike by chance, or made so, are compared a few times at most.
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

std::optional<std::int32_t> find_repeated_id(std::vector<std::int32_t> ids) {
  std::sort(ids.begin(), ids.end());
  const auto repeated = std::adjacent_find(ids.begin(), ids.end());
  return repeated == ids.end() ? std::nullopt : std::optional(*repeated);
}

std::vector<IdentifierFault> find_identifier_faults(const Schema& schema) {
  std::vector<IdentifierFault> of_all;
  if (!schema.identifier_field_ids.empty()) add_identifier_faults(schema.fields, {}, of_all);
  std::ranges::sort(of_all, {}, &IdentifierFault::id);
  std::vector<IdentifierFault> faults;
  for (const std::int32_t id : schema.identifier_field_ids) {
    const auto found = std::ranges::lower_bound(of_all, id, {}, &IdentifierFault::id);
    const bool is_there = found != of_all.end() && found->id == id;
    const std::string_view fault = is_there ? found->fault : "is not in the schema";
    if (!fault.empty()) faults.push_back({id, fault});
  }
  return faults;
}

std::string find_default_fault(const Type& type, std::string_view json) {
  const auto fitting = first_characters_of_values(type.kind);
  if (json.empty() || fitting.find(json.front()) != std::string_view::npos) return "";
  const std::string what =
      type.is_nested() ? "the column's nested type" : format_primitive_type(type);
  return fitting.empty() ? "a column of type " + what + " has no default but null"
                         : "is not a value of " + what;
}

}  // namespace iceblink::iceberg
