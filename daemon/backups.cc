#include "daemon/backups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "daemon/disk_space.h"
#include "daemon/file_errors.h"
#include "daemon/store_file.h"
#include "iceberg/sha256.h"

namespace iceblink::daemon {
namespace {

/// What a backup leaves of the disk for the commits meanwhile.
constexpr std::uint64_t kSpareBytes = std::uint64_t{64} << 20;
constexpr std::size_t kReadBytes = std::size_t{1} << 20;

Error failed(const std::string& what, int code) {
  return {file_error_kind(code), what + ": " + std::strerror(code)};
}

// Without a name, so that nothing is left behind whatever ends the process.
Result<OwnedFd> open_unnamed(const std::string& directory) {
  OwnedFd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.get() >= 0) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR) return failed(directory, errno);
  std::string name = directory + "/backup-XXXXXX";  // on file systems that know no O_TMPFILE
  OwnedFd named(::mkostemp(name.data(), O_CLOEXEC));
  if (named.get() < 0) return failed(directory, errno);
  ::unlink(name.c_str());
  return named;
}

Result<std::string> sha256_of(int file, std::uint64_t bytes) {
  iceberg::Sha256 sum;
  std::vector<char> part(kReadBytes);
  for (std::uint64_t at = 0; at < bytes;) {
    const auto count = ::pread(file, part.data(), part.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("the backup's file", count < 0 ? errno : EIO);
    sum.add({part.data(), static_cast<std::size_t>(count)});
    at += static_cast<std::uint64_t>(count);
  }
  return sum.hex();
}

}  // namespace

Backups::Backups(const Store& store, std::string data_dir)
    : store_(store), data_dir_(std::move(data_dir)) {}

void Backups::make(Done done) {
  // relaxed: lets one in, orders nothing
  if (is_taken_->exchange(true, std::memory_order_relaxed)) {
    return done({ErrorKind::kBusy, "another backup is being made or sent"});
  }
  const std::shared_ptr<void> place(nullptr, [taken = is_taken_](void*) {
    taken->store(false, std::memory_order_relaxed);  // relaxed: as above
  });
  const bool is_queued = pool_.run([this, place, done] {
    try {
      done(make_now(place));
    } catch (const std::bad_alloc&) {
      done({ErrorKind::kOutOfMemory, "out of memory for a backup"});
    }
  });
  if (!is_queued) done({ErrorKind::kBusy, "the daemon is stopping"});
}

Status Backups::check_space() const {
  const std::uint64_t free_bytes = disk_space_of(data_dir_).free_bytes;
  const std::uint64_t store_bytes = store_.extent().used_bytes;
  if (free_bytes >= store_bytes + kSpareBytes) return Ok{};
  return {ErrorKind::kNoSpace, data_dir_ + ": no room for a backup: " + std::to_string(free_bytes) +
                                   " bytes are free, the store has " + std::to_string(store_bytes) +
                                   ", and " + std::to_string(kSpareBytes) + " stay for commits"};
}

Result<std::shared_ptr<const Backup>> Backups::make_now(std::shared_ptr<void> place) const {
  ICEBLINK_RETURN_IF_ERROR(check_space());
  auto backup = std::make_shared<Backup>();
  ICEBLINK_ASSIGN_OR_RETURN(backup->file, open_unnamed(data_dir_));
  ICEBLINK_RETURN_IF_ERROR(store_.copy_to(backup->file.get()));
  struct stat status {};
  if (::fstat(backup->file.get(), &status) != 0) return failed(data_dir_, errno);
  backup->bytes = static_cast<std::uint64_t>(status.st_size);
  ICEBLINK_ASSIGN_OR_RETURN(const StoreFileSummary summary,
                            check_store_file(backup->file.get(), "the backup"));
  backup->generation = summary.generation;
  ICEBLINK_ASSIGN_OR_RETURN(backup->sha256, sha256_of(backup->file.get(), backup->bytes));
  backup->place = std::move(place);
  return std::shared_ptr<const Backup>(std::move(backup));
}

}  // namespace iceblink::daemon
