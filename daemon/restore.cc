#include "daemon/restore.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/data_dir.h"
#include "daemon/file_errors.h"
#include "daemon/owned_fd.h"
#include "daemon/store_file.h"
#include "daemon/write_all.h"
#include "iceberg/sha256.h"
#include "shm/backup_trailer.h"

namespace iceblink::daemon {
namespace {

constexpr const char* kDataFile = "/data.mdb";
constexpr const char* kLockFile = "/lock.mdb";
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

Status copy_file(const std::string& from, const std::string& to) {
  // O_NONBLOCK: a FIFO would make the open wait.
  const OwnedFd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
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
    const int code = write_all(out.get(), {part.data(), static_cast<std::size_t>(count)});
    if (code != 0) return failed(to, code);
  }
  if (::fsync(out.get()) != 0) return failed(to, errno);
  return Ok{};
}

/// The sum of the first `bytes` bytes.
Result<std::string> sha256_of(int fd, std::uint64_t bytes, const std::string& path) {
  iceberg::Sha256 sum;
  std::vector<char> part(kCopyBytes);
  for (std::uint64_t at = 0; at < bytes;) {
    const auto wanted = std::min<std::uint64_t>(part.size(), bytes - at);
    const auto count = ::pread(fd, part.data(), wanted, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed(path, count < 0 ? errno : EIO);
    sum.add({part.data(), static_cast<std::size_t>(count)});
    at += static_cast<std::uint64_t>(count);
  }
  return sum.hex();
}

/// Compares the copy with the checksum behind its last page, and cuts that off.
Result<Restored::Checksum> take_checksum(int fd, const std::string& path, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return failed(path, errno);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t beyond = size % shm::kBackupPageBytes;
  if (beyond == 0) return Restored::Checksum::kNone;
  std::string trailer(shm::kBackupTrailerBytes, '\0');
  const std::uint64_t store_bytes = size - beyond;
  if (beyond != trailer.size() ||
      ::pread(fd, trailer.data(), trailer.size(), static_cast<off_t>(store_bytes)) !=
          static_cast<ssize_t>(trailer.size()) ||
      !trailer.starts_with(shm::kBackupTrailerMagic)) {
    return {ErrorKind::kCorrupt, name + ": no backup, or cut short: it does not end with a page"};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const std::string sum, sha256_of(fd, store_bytes, path));
  if (trailer.substr(shm::kBackupTrailerMagic.size()) != sum) {
    return {ErrorKind::kCorrupt, name + ": damaged: its SHA-256 is not the one that it ends with"};
  }
  if (::ftruncate(fd, static_cast<off_t>(store_bytes)) != 0 || ::fsync(fd) != 0) {
    return failed(path, errno);
  }
  return Restored::Checksum::kRight;
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

/// The store that is replaced, under a second name: there is a store at every moment. Taken back,
/// unless it is to stay.
class KeptStore {
 public:
  KeptStore() = default;
  ~KeptStore() {
    if (path_.empty()) return;
    ::unlink((path_ + kDataFile).c_str());
    ::rmdir(path_.c_str());
  }
  KeptStore(const KeptStore&) = delete;
  KeptStore& operator=(const KeptStore&) = delete;

  Status keep(const std::string& data_dir, const std::string& data_file, const struct stat& owner) {
    const std::string wanted = data_dir + "/lmdb." + timestamp();
    std::string kept = wanted;
    for (int again = 1; ::mkdir(kept.c_str(), 0700) != 0; ++again) {
      if (errno != EEXIST || again == 1000) return failed(kept, errno);
      kept = wanted + "-" + std::to_string(again);
    }
    path_ = std::move(kept);
    if (::link(data_file.c_str(), (path_ + kDataFile).c_str()) != 0) return failed(path_, errno);
    ICEBLINK_RETURN_IF_ERROR(give(path_, owner));
    ICEBLINK_RETURN_IF_ERROR(sync_directory(path_));
    return sync_directory(data_dir);
  }
  [[nodiscard]] std::string stay() { return std::exchange(path_, {}); }

 private:
  std::string path_;
};

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
  TemporaryFile copy(dir.restore_file());
  ICEBLINK_RETURN_IF_ERROR(copy_file(options.backup_file, copy.path()));
  const OwnedFd copied(::open(copy.path().c_str(), O_RDWR | O_CLOEXEC));
  if (copied.get() < 0) return failed(copy.path(), errno);
  ICEBLINK_ASSIGN_OR_RETURN(const Restored::Checksum checksum,
                            take_checksum(copied.get(), copy.path(), options.backup_file));
  ICEBLINK_ASSIGN_OR_RETURN(const StoreFileSummary summary,
                            check_store_file(copied.get(), options.backup_file));
  ICEBLINK_RETURN_IF_ERROR(give(copy.path(), owner));
  // LMDB's table of readers, of the store before: made anew, whichever store it is made for.
  if (::unlink((store_dir + kLockFile).c_str()) != 0 && errno != ENOENT) {
    return failed(store_dir + kLockFile, errno);
  }
  Restored restored{summary.generation, summary.table_count, checksum, {}};
  KeptStore kept;
  if (is_there) ICEBLINK_RETURN_IF_ERROR(kept.keep(dir.path(), data_file, owner));
  ICEBLINK_RETURN_IF_ERROR(copy.move_to(data_file));
  if (is_there) restored.replaced_dir = kept.stay();
  const Status synced = sync_directory(store_dir);
  if (synced) return restored;
  return {synced.error().kind(),
          "the backup is in its place, but may not be durable: " + synced.error().message()};
}

}  // namespace iceblink::daemon
