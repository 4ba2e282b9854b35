#include "daemon/own_directories.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "daemon/data_dir.h"
#include "daemon/file_identity.h"
#include "daemon/local_path.h"

namespace iceblink::daemon {
namespace {

std::optional<std::string> real_directory_of(const std::string& path) {
  std::error_code failure;
  auto absolute = std::filesystem::absolute(path, failure).string();
  if (failure) return std::nullopt;
  while (absolute.size() > 1 && absolute.back() == '/') absolute.pop_back();
  return real_path_of(absolute);
}

bool is_one_of(int directory, const std::vector<std::string>& paths) noexcept {
  struct stat found {};
  if (paths.empty() || ::fstat(directory, &found) != 0) return false;
  return std::ranges::any_of(paths, [&](const std::string& path) {
    struct stat own {};
    return ::stat(path.c_str(), &own) == 0 && FileIdentity::of(own) == FileIdentity::of(found);
  });
}

}  // namespace

OwnDirectories::OwnDirectories(const std::string& data_dir, const std::string& runtime_dir)
    : closed_{store_dir_of(data_dir), runtime_dir},
      with_files_{store_dir_of(data_dir), runtime_dir, data_dir} {}

bool OwnDirectories::hold(const std::string& path) const {
  const auto real = real_directory_of(path);
  return real && std::ranges::any_of(closed_, [&](const std::string& closed) {
           const auto own = real_directory_of(closed);
           return own && (*real == *own || is_below(*real, *own));
         });
}

bool OwnDirectories::are_closed_as(int directory) const noexcept {
  return is_one_of(directory, closed_);
}

bool OwnDirectories::have_files_in(int directory) const noexcept {
  return is_one_of(directory, with_files_);
}

}  // namespace iceblink::daemon
