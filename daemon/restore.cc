#include "daemon/restore.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include "daemon/data_dir.h"
#include "daemon/file_errors.h"
#include "daemon/owned_fd.h"
#include "daemon/store_file.h"

namespace iceblink::daemon {
namespace {

constexpr const char* kDataFile = "/data.mdb";
constexpr const char* kLockFile = "/lock.mdb";
constexpr const char* kTemporaryFile = "/restore.tmp";
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

Error failed(const std::string& what, int code) {
  return {file_error_kind(code), what + ": " + std::strerror(code)};
}

Status sync_directory(const std::string& path) {
  const OwnedFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) return failed(path, errno);
  return Ok{};
}

/// Removed at the end, unless it was put in its place.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  Status move_to(const std::string& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) return failed(path, errno);
    path_.clear();
    return Ok{};
  }

 private:
  std::string path_;
};

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return Ok{};
}

Status copy_file(const std::string& from, const std::string& to) {
  const OwnedFd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) return failed(from, errno);
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) return failed(from, errno);
  if (!S_ISREG(status.st_mode)) return {ErrorKind::kInvalidArgument, from + ": not a regular file"};
  // Left behind by a restore that was killed, perhaps.
  if (::unlink(to.c_str()) != 0 && errno != ENOENT) return failed(to, errno);
  const OwnedFd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (out.get() < 0) return failed(to, errno);
  std::vector<char> part(kCopyBytes);
  while (true) {
    const auto count = ::read(in.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(from, errno);
    if (count == 0) break;
    ICEBLINK_RETURN_IF_ERROR(
        write_all(out.get(), {part.data(), static_cast<std::size_t>(count)}, to));
  }
  if (::fsync(out.get()) != 0) return failed(to, errno);
  return Ok{};
}

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &parts)};
}

// Root restores for the daemon's user, whose directory it is.
Status give(const std::string& path, const struct stat& owner) {
  if (::geteuid() != 0 || ::lchown(path.c_str(), owner.st_uid, owner.st_gid) == 0) return Ok{};
  return failed(path, errno);
}

// Under a second name, not moved: there is a store at every moment.
Result<std::string> keep(const std::string& data_dir, const std::string& data_file) {
  const std::string wanted = data_dir + "/lmdb." + timestamp();
  std::string kept = wanted;
  for (int again = 1; ::mkdir(kept.c_str(), 0700) != 0; ++again) {
    if (errno != EEXIST || again == 1000) return failed(kept, errno);
    kept = wanted + "-" + std::to_string(again);
  }
  if (::link(data_file.c_str(), (kept + kDataFile).c_str()) != 0) return failed(kept, errno);
  ICEBLINK_RETURN_IF_ERROR(sync_directory(kept));
  ICEBLINK_RETURN_IF_ERROR(sync_directory(data_dir));
  return kept;
}

}  // namespace

Result<Restored> restore_backup(const RestoreOptions& options) {
  ICEBLINK_ASSIGN_OR_RETURN(const DataDir dir, DataDir::open(options.data_dir));
  const std::string store_dir = dir.store_dir();
  const std::string data_file = store_dir + kDataFile;
  struct stat owner {};
  if (::stat(dir.path().c_str(), &owner) != 0) return failed(dir.path(), errno);
  for (const std::string& made : {store_dir, dir.path() + "/daemon.lock"}) {
    ICEBLINK_RETURN_IF_ERROR(give(made, owner));
  }
  struct stat status {};
  const bool is_there = ::lstat(data_file.c_str(), &status) == 0;
  if (is_there && options.if_there == RestoreOptions::IfThere::kFail) {
    return {ErrorKind::kAlreadyExists,
            data_file + ": a store is there already; --replace-store puts it aside"};
  }
  TemporaryFile copy(store_dir + kTemporaryFile);
  ICEBLINK_RETURN_IF_ERROR(copy_file(options.backup_file, copy.path()));
  const OwnedFd copied(::open(copy.path().c_str(), O_RDONLY | O_CLOEXEC));
  if (copied.get() < 0) return failed(copy.path(), errno);
  ICEBLINK_ASSIGN_OR_RETURN(const StoreFileSummary summary,
                            check_store_file(copied.get(), options.backup_file));
  ICEBLINK_RETURN_IF_ERROR(give(copy.path(), owner));
  Restored restored{summary.generation, summary.table_count, {}};
  if (is_there) {
    ICEBLINK_ASSIGN_OR_RETURN(restored.replaced_dir, keep(dir.path(), data_file));
    ICEBLINK_RETURN_IF_ERROR(give(*restored.replaced_dir, owner));
  }
  ICEBLINK_RETURN_IF_ERROR(copy.move_to(data_file));
  // LMDB's table of readers, of the store before: made anew.
  if (::unlink((store_dir + kLockFile).c_str()) != 0 && errno != ENOENT) {
    return failed(store_dir + kLockFile, errno);
  }
  ICEBLINK_RETURN_IF_ERROR(sync_directory(store_dir));
  return restored;
}

}  // namespace iceblink::daemon
