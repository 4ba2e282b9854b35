#include "iceberg/avro/type_names.h"

#include <algorithm>

namespace iceblink::iceberg::avro {
namespace {

struct NamedKind {
  std::string_view name;
  Kind kind;
};

constexpr NamedKind kKinds[] = {
    {"null", Kind::kNull},   {"boolean", Kind::kBoolean}, {"int", Kind::kInt},
    {"long", Kind::kLong},   {"float", Kind::kFloat},     {"double", Kind::kDouble},
    {"bytes", Kind::kBytes}, {"string", Kind::kString},   {"fixed", Kind::kFixed},
    {"enum", Kind::kEnum},   {"record", Kind::kRecord},   {"error", Kind::kRecord},
    {"array", Kind::kArray}, {"map", Kind::kMap}};

/// With what they may annotate. Arrays as maps are Iceberg's.
constexpr NamedKind kLogicalTypes[] = {{"decimal", Kind::kBytes},
                                       {"decimal", Kind::kFixed},
                                       {"date", Kind::kInt},
                                       {"time-millis", Kind::kInt},
                                       {"time-micros", Kind::kLong},
                                       {"time-nanos", Kind::kLong},
                                       {"timestamp-millis", Kind::kLong},
                                       {"timestamp-micros", Kind::kLong},
                                       {"timestamp-nanos", Kind::kLong},
                                       {"local-timestamp-millis", Kind::kLong},
                                       {"local-timestamp-micros", Kind::kLong},
                                       {"local-timestamp-nanos", Kind::kLong},
                                       {"uuid", Kind::kString},
                                       {"uuid", Kind::kFixed},
                                       {"duration", Kind::kFixed},
                                       {"map", Kind::kArray}};

bool fits(const LogicalType& type, Kind kind) noexcept {
  const auto annotates = [&](const NamedKind& known) {
    return known.name == type.name && known.kind == kind;
  };
  if (!std::ranges::any_of(kLogicalTypes, annotates)) return false;
  return type.name != "decimal" ||
         (type.precision > 0 && type.scale >= 0 && type.scale <= type.precision);
}

}  // namespace

std::optional<Kind> kind_of(std::string_view name) noexcept {
  for (const NamedKind& known : kKinds) {
    if (known.name == name) return known.kind;
  }
  return std::nullopt;
}

void LogicalType::apply(Schema& schema) const {
  if (!fits(*this, schema.kind)) return;
  schema.logical_type = name;
  schema.adjust_to_utc = adjust_to_utc;
  if (name != "decimal") return;
  schema.precision = precision;
  schema.scale = scale;
}

}  // namespace iceblink::iceberg::avro
