#include "daemon/local_path.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace iceblink::daemon {

Result<std::string> clean_path_of(std::string_view location, const iceberg::LocationMap& map) {
  ICEBLINK_ASSIGN_OR_RETURN(const std::string raw, map.path_of(location));
  std::string_view path = raw;
  std::string clean;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      return {ErrorKind::kNotAllowed, std::string(location) + ": '..' is not followed"};
    }
    clean += '/';
    clean += segment;
  }
  return clean;
}

bool is_below(std::string_view path, std::string_view directory) noexcept {
  return path.size() > directory.size() + 1 && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

std::optional<std::string> real_path_of(const std::string& path) {
  std::error_code failure;
  const auto real = std::filesystem::weakly_canonical(path, failure);
  return failure ? std::nullopt : std::optional(real.string());
}

}  // namespace iceblink::daemon
