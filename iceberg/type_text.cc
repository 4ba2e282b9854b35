#include "iceberg/type_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "iceberg/ascii.h"

namespace iceblink::iceberg {
namespace {

constexpr std::string_view kDefaultCrs = "OGC:CRS84";

constexpr std::array<std::pair<std::string_view, TypeKind>, 18> kPlainTypes{{
    {"boolean", TypeKind::kBoolean},
    {"int", TypeKind::kInt},
    {"long", TypeKind::kLong},
    {"float", TypeKind::kFloat},
    {"double", TypeKind::kDouble},
    {"date", TypeKind::kDate},
    {"time", TypeKind::kTime},
    {"timestamp", TypeKind::kTimestamp},
    {"timestamptz", TypeKind::kTimestampTz},
    {"timestamp_ns", TypeKind::kTimestampNs},
    {"timestamptz_ns", TypeKind::kTimestampTzNs},
    {"string", TypeKind::kString},
    {"uuid", TypeKind::kUuid},
    {"binary", TypeKind::kBinary},
    {"unknown", TypeKind::kUnknown},
    {"variant", TypeKind::kVariant},
    {"geometry", TypeKind::kGeometry},
    {"geography", TypeKind::kGeography},
}};

constexpr std::array<std::pair<std::string_view, EdgeAlgorithm>, 5> kAlgorithms{{
    {"spherical", EdgeAlgorithm::kSpherical},
    {"vincenty", EdgeAlgorithm::kVincenty},
    {"thomas", EdgeAlgorithm::kThomas},
    {"andoyer", EdgeAlgorithm::kAndoyer},
    {"karney", EdgeAlgorithm::kKarney},
}};

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// What stands between the brackets of "name(...)"; nothing where it is written otherwise.
std::optional<std::string_view> arguments_of(std::string_view text, std::string_view name,
                                             char open, char close) noexcept {
  if (text.size() < name.size() + 2 || !equals_ignoring_case(text.substr(0, name.size()), name)) {
    return std::nullopt;
  }
  text = trimmed(text.substr(name.size()));
  if (text.size() < 2 || text.front() != open || text.back() != close) return std::nullopt;
  return trimmed(text.substr(1, text.size() - 2));
}

std::optional<std::uint32_t> number(std::string_view text) noexcept {
  text = trimmed(text);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error unknown(std::string_view text, std::string_view why) {
  return {ErrorKind::kCorrupt, "the type '" + std::string(text) + "' " + std::string(why)};
}

Result<Type> parse_decimal(std::string_view text, std::string_view arguments) {
  const auto comma = arguments.find(',');
  if (comma == std::string_view::npos) return unknown(text, "has no scale");
  const auto precision = number(arguments.substr(0, comma));
  const auto scale = number(arguments.substr(comma + 1));
  if (!precision || !scale) return unknown(text, "has no precision and scale that are numbers");
  if (*precision < 1 || *precision > 38) return unknown(text, "has a precision outside of 1 to 38");
  if (*scale > 38) return unknown(text, "has a scale above 38");
  Type type;
  type.kind = TypeKind::kDecimal;
  type.precision = static_cast<std::uint8_t>(*precision);
  type.scale = static_cast<std::uint8_t>(*scale);
  return type;
}

Result<Type> parse_geography(std::string_view text, std::string_view arguments) {
  Type type;
  type.kind = TypeKind::kGeography;
  const auto comma = arguments.find(',');
  type.crs = trimmed(arguments.substr(0, comma));
  if (type.crs.empty()) return unknown(text, "has an empty coordinate reference system");
  if (comma == std::string_view::npos) return type;
  const auto name = trimmed(arguments.substr(comma + 1));
  const auto* const known =
      std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                   [&](const auto& entry) { return equals_ignoring_case(name, entry.first); });
  if (known == kAlgorithms.end()) return unknown(text, "has an unknown edge algorithm");
  type.algorithm = known->second;
  return type;
}

}  // namespace

Result<Type> parse_primitive_type(std::string_view text) {
  Type type;
  for (const auto& [name, kind] : kPlainTypes) {
    if (!equals_ignoring_case(text, name)) continue;
    type.kind = kind;
    if (kind == TypeKind::kGeometry || kind == TypeKind::kGeography) type.crs = kDefaultCrs;
    return type;
  }
  if (const auto arguments = arguments_of(text, "decimal", '(', ')')) {
    return parse_decimal(text, *arguments);
  }
  if (const auto arguments = arguments_of(text, "fixed", '[', ']')) {
    const auto bytes = number(*arguments);
    if (!bytes) return unknown(text, "has no length that is a number");
    type.kind = TypeKind::kFixed;
    type.fixed_bytes = *bytes;
    return type;
  }
  if (const auto arguments = arguments_of(text, "geometry", '(', ')')) {
    if (arguments->empty()) return unknown(text, "has an empty coordinate reference system");
    type.kind = TypeKind::kGeometry;
    type.crs = *arguments;
    return type;
  }
  if (const auto arguments = arguments_of(text, "geography", '(', ')')) {
    return parse_geography(text, *arguments);
  }
  return unknown(text, "is not known");
}

std::string format_primitive_type(const Type& type) {
  switch (type.kind) {
    case TypeKind::kDecimal:
      return "decimal(" + std::to_string(type.precision) + ", " + std::to_string(type.scale) + ")";
    case TypeKind::kFixed:
      return "fixed[" + std::to_string(type.fixed_bytes) + "]";
    case TypeKind::kGeometry:
      return type.crs == kDefaultCrs ? "geometry" : "geometry(" + std::string(type.crs) + ")";
    case TypeKind::kGeography: {
      const bool is_plain = type.algorithm == EdgeAlgorithm::kSpherical;
      if (is_plain && type.crs == kDefaultCrs) return "geography";
      std::string text = "geography(" + std::string(type.crs);
      if (!is_plain) {
        text += ", ";
        text += kAlgorithms[static_cast<std::size_t>(type.algorithm)].first;
      }
      return text + ")";
    }
    default:
      for (const auto& [name, kind] : kPlainTypes) {
        if (kind == type.kind) return std::string(name);
      }
      return "";
  }
}

std::string format_type_briefly(const Type& type) {
  switch (type.kind) {
    case TypeKind::kStruct:
      return "struct";
    case TypeKind::kList:
      return "list";
    case TypeKind::kMap:
      return "map";
    default:
      return format_primitive_type(type);
  }
}

}  // namespace iceblink::iceberg
