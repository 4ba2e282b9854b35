#include "iceberg/location.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "iceberg/ascii.h"

namespace iceblink::iceberg {
namespace {

bool is_alpha(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

Error invalid(std::string_view location, std::string_view why) {
  return {ErrorKind::kInvalidArgument,
          "location '" + std::string(location) + "' " + std::string(why)};
}

Result<std::string> percent_decoded(std::string_view path, std::string_view location) {
  std::string out;
  out.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      out += path[i];
      continue;
    }
    const int high = i + 2 < path.size() ? hex_value(path[i + 1]) : -1;
    const int low = high < 0 ? -1 : hex_value(path[i + 2]);
    if (low < 0) return invalid(location, "holds a '%' that is no escape of two hex digits");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (out.find('\0') != std::string::npos) return invalid(location, "holds an escaped NUL");
  return out;
}

}  // namespace

std::optional<std::string_view> scheme_of(std::string_view location) noexcept {
  const auto end = location.find(':');
  if (end == std::string_view::npos || end == 0 || !is_alpha(location[0])) return std::nullopt;
  const auto scheme = location.substr(0, end);
  const bool valid = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return is_alpha(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
  return valid ? std::optional(scheme) : std::nullopt;
}

bool is_same_scheme(std::string_view a, std::string_view b) noexcept {
  return equals_ignoring_case(a, b);
}

Result<std::string> local_path(std::string_view location) {
  if (location.empty()) return invalid(location, "is empty");
  if (location.find('\0') != std::string_view::npos) {
    return {ErrorKind::kInvalidArgument, "a location holds a NUL"};
  }
  if (location.front() == '/') return std::string(location);
  const auto scheme = scheme_of(location);
  if (!scheme) return invalid(location, "is relative; it must be an absolute path or a file: URI");
  if (!equals_ignoring_case(*scheme, "file")) {
    return {ErrorKind::kUnsupported, "location '" + std::string(location) + "': scheme '" +
                                         std::string(*scheme) +
                                         "' is not served, only local files are"};
  }
  std::string_view path = location.substr(scheme->size() + 1);
  if (path.starts_with("//")) {
    path.remove_prefix(2);
    const auto host = path.substr(0, path.find('/'));
    if (!host.empty() && !equals_ignoring_case(host, "localhost")) {
      return {ErrorKind::kUnsupported, "location '" + std::string(location) + "': host '" +
                                           std::string(host) + "' is not this one"};
    }
    path.remove_prefix(host.size());
  }
  if (!path.starts_with('/')) return invalid(location, "names no absolute path");
  return percent_decoded(path, location);
}

}  // namespace iceblink::iceberg
