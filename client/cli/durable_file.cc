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

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Error already_there(const std::string& path) {
  return {ErrorKind::kAlreadyExists, path + ": is there already"};
}

}  // namespace

Result<DurableFile> DurableFile::create(std::string path, IfExists if_exists) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return {ErrorKind::kInvalidArgument, path + ": is a directory"};
    if (if_exists == IfExists::kFail) return already_there(path);
  }
  DurableFile file(std::move(path), if_exists);
  // Without a name, so that nothing is left behind whatever ends the process.
  const std::string directory = directory_of(file.path_);
  file.descriptor_ = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file.descriptor_ >= 0) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR) return shm::system_error(file.path_, errno);
  std::string name = file.path_ + ".tmp-XXXXXX";          // on file systems that know no O_TMPFILE
  file.descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);  // 0600
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

Status DurableFile::give_name() {
  std::string name = path_ + ".tmp-" + std::to_string(::getpid());
  const std::string unnamed = "/proc/self/fd/" + std::to_string(descriptor_);
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return shm::system_error(name, errno);
  }
  temporary_path_ = std::move(name);
  return Ok{};
}

Status DurableFile::commit() {
  ICEBLINK_RETURN_IF_ERROR(flush());
  if (::fsync(descriptor_) != 0) return shm::system_error(path_, errno);
  if (temporary_path_.empty()) ICEBLINK_RETURN_IF_ERROR(give_name());
  const unsigned flags = if_exists_ == IfExists::kFail ? RENAME_NOREPLACE : 0;
  if (::renameat2(AT_FDCWD, temporary_path_.c_str(), AT_FDCWD, path_.c_str(), flags) != 0) {
    return errno == EEXIST ? already_there(path_) : shm::system_error(path_, errno);
  }
  temporary_path_.clear();
  const std::string directory = directory_of(path_);
  const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return shm::system_error(directory, errno);
  const int failed = ::fsync(opened) != 0 ? errno : 0;
  ::close(opened);
  return failed == 0 ? Status(Ok{}) : Status(shm::system_error(directory, failed));
}

}  // namespace iceblink::cli
