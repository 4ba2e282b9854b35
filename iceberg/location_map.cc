#include "iceberg/location_map.h"

#include <algorithm>
#include <utility>

#include "iceberg/location.h"

namespace iceblink::iceberg {
namespace {

constexpr std::string_view kAuthority = "://";

/// Without the slashes at its end; "s3://" keeps those that belong to it. Empty for "/".
std::string without_end_slashes(std::string text) {
  while (text.ends_with('/') && !text.ends_with(kAuthority)) text.pop_back();
  return text;
}

bool is_target(std::string_view to) noexcept {
  return to.starts_with('/') || scheme_of(to).has_value();
}

bool covers(std::string_view from, std::string_view location) noexcept {
  if (!location.starts_with(from)) return false;
  return location.size() == from.size() || location[from.size()] == '/' ||
         from.ends_with(kAuthority);
}

Error invalid(const LocationPrefix& mapping, std::string_view why) {
  return {ErrorKind::kInvalidArgument,
          "location prefix '" + mapping.from + "=" + mapping.to + "' " + std::string(why)};
}

}  // namespace

Result<LocationMap> LocationMap::of(std::vector<LocationPrefix> mappings) {
  for (LocationPrefix& mapping : mappings) {
    if (mapping.from.empty()) return invalid(mapping, "says no prefix to replace");
    if (mapping.to.empty()) return invalid(mapping, "says nothing to replace it by");
    if ((mapping.from + mapping.to).find('\0') != std::string::npos) {
      return {ErrorKind::kInvalidArgument, "a location prefix holds a NUL"};
    }
    if (!is_target(mapping.to)) {
      return invalid(mapping, "leads neither to an absolute path nor to a location with a scheme");
    }
    mapping.from = without_end_slashes(std::move(mapping.from));
    mapping.to = without_end_slashes(std::move(mapping.to));
  }
  std::sort(mappings.begin(), mappings.end(), [](const auto& a, const auto& b) {
    return std::pair(b.from.size(), std::string_view(a.from)) <
           std::pair(a.from.size(), std::string_view(b.from));
  });
  const auto twin =
      std::adjacent_find(mappings.begin(), mappings.end(),
                         [](const auto& a, const auto& b) { return a.from == b.from; });
  if (twin != mappings.end()) return invalid(*twin, "is one of two for the same prefix");
  LocationMap map;
  map.mappings_ = std::move(mappings);
  return map;
}

std::string LocationMap::map(std::string_view location) const {
  const auto found = std::find_if(mappings_.begin(), mappings_.end(),
                                  [&](const auto& m) { return covers(m.from, location); });
  if (found == mappings_.end()) return std::string(location);
  const std::string_view rest = location.substr(found->from.size());
  std::string mapped = found->to;
  if (mapped.empty() && rest.empty()) return "/";
  const bool ends_with_slash = mapped.ends_with('/');
  if (ends_with_slash && rest.starts_with('/')) return mapped.append(rest.substr(1));
  if (!ends_with_slash && !rest.empty() && !rest.starts_with('/')) mapped += '/';
  return mapped.append(rest);
}

Result<std::string> LocationMap::path_of(std::string_view location) const {
  const std::string mapped = map(location);
  auto path = local_path(mapped);
  if (path || mapped == location) return path;
  return {path.error().kind(),
          "location '" + std::string(location) + "' is mapped to what is not served"};
}

Result<LocationPrefix> parse_location_prefix(std::string_view text) {
  for (auto at = text.find('='); at != std::string_view::npos; at = text.find('=', at + 1)) {
    const auto to = text.substr(at + 1);
    if (at != 0 && is_target(to)) {
      return LocationPrefix{std::string(text.substr(0, at)), std::string(to)};
    }
  }
  return {ErrorKind::kInvalidArgument,
          "'" + std::string(text) +
              "' is not FROM=TO with an absolute path or a location with a scheme as TO"};
}

}  // namespace iceblink::iceberg
