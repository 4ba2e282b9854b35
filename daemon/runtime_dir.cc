#include "daemon/runtime_dir.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "daemon/log_event.h"

namespace iceblink::daemon {
namespace {

constexpr ::mode_t kRuntimeDirMode = 0750;

Status check_directory(const std::string& path, std::string_view role) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 ? S_ISDIR(found.st_mode) : errno != ENOTDIR) return Ok{};
  return {ErrorKind::kInvalidArgument, path + ": " + std::string(role) + ": Not a directory"};
}

}  // namespace

Status check_directories(const std::string& runtime_dir, const std::string& data_dir) {
  ICEBLINK_RETURN_IF_ERROR(check_directory(runtime_dir, "runtime directory"));
  ICEBLINK_RETURN_IF_ERROR(check_directory(data_dir, "data directory"));
  std::error_code error;
  const auto resolved = [&](const std::string& path) {
    auto out =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path + "/.", error), error);
    return out.has_filename() ? out : out.parent_path();
  };
  if (resolved(runtime_dir) != resolved(data_dir) || error) return Ok{};
  return {ErrorKind::kInvalidArgument,
          runtime_dir + ": is the runtime directory and the data directory, it cannot be both"};
}

Status make_runtime_dir(const std::string& path) {
  std::error_code error;
  const auto parent = std::filesystem::absolute(path, error).parent_path();
  std::filesystem::create_directories(parent, error);
  if (::mkdir(path.c_str(), kRuntimeDirMode) == 0) return Ok{};
  const int code = errno;
  if (code == EEXIST && std::filesystem::is_directory(path, error)) return Ok{};
  return {code == EACCES || code == EPERM ? ErrorKind::kNotAllowed : ErrorKind::kIo,
          path + ": runtime directory: " + std::system_category().message(code)};
}

void warn_unless_tmpfs(const std::string& path) {
  struct statfs found {};
  if (::statfs(path.c_str(), &found) != 0) return;
  if (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC) return;
  log_event(level::warn, "runtime directory not on a tmpfs",
            {{"dir", path}, {"message", "the segment will be written to a disk"}});
}

}  // namespace iceblink::daemon
