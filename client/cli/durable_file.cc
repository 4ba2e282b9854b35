#include "client/cli/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "shm/file_mapping.h"

namespace iceblink::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
/// Short whatever the file's own name is, which may be as long as names can be.
constexpr const char* kTemporaryName = "/.iceblink-tmp-";
constexpr int kNamesMax = 100;

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Error already_there(const std::string& path) {
  return {ErrorKind::kAlreadyExists, path + ": is there already"};
}

/// Where `path` leads. A device or a pipe would be gone, and a file in its place.
Result<std::string> file_to_replace(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return shm::system_error(path, errno);
  std::string target = resolved;
  std::free(resolved);
  struct stat status {};
  if (::lstat(target.c_str(), &status) != 0) return shm::system_error(path, errno);
  if (S_ISREG(status.st_mode)) return target;
  return {ErrorKind::kInvalidArgument, path + ": is there, and not a regular file"};
}

}  // namespace

Result<DurableFile> DurableFile::create(std::string path, IfExists if_exists) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return {ErrorKind::kInvalidArgument, path + ": is a directory"};
    if (if_exists == IfExists::kFail) return already_there(path);
    ICEBLINK_ASSIGN_OR_RETURN(path, file_to_replace(path));
  } else if (errno != ENOENT) {
    return shm::system_error(path, errno);
  }
  DurableFile file(std::move(path), if_exists);
  // Without a name, so that nothing is left behind whatever ends the process.
  const std::string directory = directory_of(file.path_);
  file.descriptor_ = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file.descriptor_ >= 0) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR) return shm::system_error(file.path_, errno);
  std::string name = directory + kTemporaryName + "XXXXXX";  // file systems that know no O_TMPFILE
  file.descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);     // 0600
  if (file.descriptor_ < 0) return shm::system_error(file.path_, errno);
  file.temporary_path_ = std::move(name);
  return file;
}

DurableFile::DurableFile(DurableFile&& other) noexcept
    : path_(std::move(other.path_)),
      if_exists_(other.if_exists_),
      temporary_path_(std::exchange(other.temporary_path_, {})),
      buffer_(std::move(other.buffer_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

Status DurableFile::write(std::string_view bytes) {
  buffer_ += bytes;
  return buffer_.size() < kBufferBytes ? Status(Ok{}) : flush();
}

Status DurableFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const auto count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return shm::system_error(path_, errno);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  buffer_.clear();
  return Ok{};
}

std::string DurableFile::unnamed_path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

Status DurableFile::give_name() {
  const std::string wanted = directory_of(path_) + kTemporaryName + std::to_string(::getpid());
  std::string name = wanted;
  // One of an earlier process of that number may be there.
  for (int again = 1;
       ::linkat(AT_FDCWD, unnamed_path().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0;
       ++again) {
    if (errno != EEXIST || again == kNamesMax) return shm::system_error(name, errno);
    name = wanted + "-" + std::to_string(again);
  }
  temporary_path_ = std::move(name);
  return Ok{};
}

// By a link, which every file system that has links refuses where the name is taken; NFS, among
// others, has no rename that does.
Status DurableFile::put_where_nothing_is() {
  const std::string from = temporary_path_.empty() ? unnamed_path() : temporary_path_;
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
    return Ok{};
  }
  const bool has_no_links = errno == EPERM || errno == EOPNOTSUPP;
  if (errno == EEXIST) return already_there(path_);
  if (!has_no_links || temporary_path_.empty()) return shm::system_error(path_, errno);
  if (::renameat2(AT_FDCWD, temporary_path_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) ==
      0) {
    return Ok{};
  }
  return errno == EEXIST ? already_there(path_) : shm::system_error(path_, errno);
}

Status DurableFile::replace() {
  if (temporary_path_.empty()) ICEBLINK_RETURN_IF_ERROR(give_name());
  if (::rename(temporary_path_.c_str(), path_.c_str()) == 0) return Ok{};
  return shm::system_error(path_, errno);
}

Status DurableFile::commit() {
  ICEBLINK_RETURN_IF_ERROR(flush());
  if (::fsync(descriptor_) != 0) return shm::system_error(path_, errno);
  ICEBLINK_RETURN_IF_ERROR(if_exists_ == IfExists::kFail ? put_where_nothing_is() : replace());
  temporary_path_.clear();
  const std::string directory = directory_of(path_);
  const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return shm::system_error(directory, errno);
  const int failed = ::fsync(opened) != 0 ? errno : 0;
  ::close(opened);
  return failed == 0 ? Status(Ok{}) : Status(shm::system_error(directory, failed));
}

}  // namespace iceblink::cli
