#include "daemon/new_metadata_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

#include "daemon/file_errors.h"
#include "daemon/random.h"
#include "daemon/write_all.h"
#include "iceberg/fingerprint.h"
#include "iceberg/gzip.h"
#include "shm/fault_point.h"

namespace iceblink::daemon {
namespace {

constexpr mode_t kFileMode = 0644;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Error failed(int code, std::string_view location, std::string_view doing) {
  // The directory is gone again: nothing that a client asked for was not found.
  const ErrorKind kind = code == ENOENT ? ErrorKind::kIo : file_error_kind(code);
  return {kind, std::string(location) + ": " + std::string(doing) + ": " + std::strerror(code)};
}

using Clock = std::chrono::steady_clock;
using Times = NewMetadataFile::Times;

Status write_durably(int fd, std::string_view bytes, std::string_view location, Times& times) {
  const auto begun_at = Clock::now();
  if (const int code = write_all(fd, bytes); code != 0) return failed(code, location, "write");
  ICEBLINK_FAULT_POINT("metadata.after-write");
  // Readers are other users: whatever the umask is, they may read.
  if (::fchmod(fd, kFileMode) != 0) return failed(errno, location, "set the mode");
  const auto written_at = Clock::now();
  times.write = written_at - begun_at;
  if (::fsync(fd) != 0) return failed(errno, location, "sync");
  times.sync = Clock::now() - written_at;
  ICEBLINK_FAULT_POINT("metadata.after-sync");
  return Ok{};
}

/// Without a name until it is whole. Nothing: this file system has no such files.
std::optional<Status> write_unnamed(const WriteRoots::Place& place, std::string_view bytes,
                                    std::string_view location, Times& times) {
  const OwnedFd file(
      ::openat(place.directory.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, kFileMode));
  if (file.get() < 0) {
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT) return std::nullopt;
    return failed(errno, location, "create");
  }
  if (Status status = write_durably(file.get(), bytes, location, times); !status) return status;
  const int directory = place.directory.get();
  const char* const name = place.name.c_str();
  if (::linkat(file.get(), "", directory, name, AT_EMPTY_PATH) == 0) return Status(Ok{});
  // Kernels before 6.10 want a capability for that.
  if (errno != ENOENT) return failed(errno, location, "link");
  const std::string link = "/proc/self/fd/" + std::to_string(file.get());
  if (::linkat(AT_FDCWD, link.c_str(), directory, name, AT_SYMLINK_FOLLOW) == 0) {
    return Status(Ok{});
  }
  if (errno == ENOENT) return std::nullopt;  // there is no /proc
  return failed(errno, location, "link");
}

/// Under another name until it is whole.
Status write_named(const WriteRoots::Place& place, std::string_view bytes,
                   std::string_view location, Times& times) {
  const int directory = place.directory.get();
  const std::string temporary = "." + place.name + ".tmp";
  const OwnedFd file(::openat(directory, temporary.c_str(),
                              O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (file.get() < 0) return failed(errno, location, "create");
  Status status = write_durably(file.get(), bytes, location, times);
  // Not renameat2: what has no O_TMPFILE often has no RENAME_NOREPLACE either.
  if (status && ::linkat(directory, temporary.c_str(), directory, place.name.c_str(), 0) != 0) {
    status = failed(errno, location, "link");
  }
  ::unlinkat(directory, temporary.c_str(), 0);
  return status;
}

Status write_file(const WriteRoots::Place& place, std::string_view bytes, std::string_view location,
                  Times& times) {
  auto unnamed = write_unnamed(place, bytes, location, times);
  ICEBLINK_RETURN_IF_ERROR(unnamed ? std::move(*unnamed)
                                   : write_named(place, bytes, location, times));
  const auto begun_at = Clock::now();
  const int code = ::fsync(place.directory.get()) == 0 ? 0 : errno;
  times.sync += Clock::now() - begun_at;
  if (code == 0) return Ok{};
  ::unlinkat(place.directory.get(), place.name.c_str(), 0);
  return failed(code, location, "sync the directory");
}

Result<std::string> location_of(const iceberg::NewMetadata& metadata, std::uint64_t version) {
  std::string_view base = metadata.metadata_path ? *metadata.metadata_path : metadata.location;
  while (base.ends_with('/')) base.remove_suffix(1);
  if (base.empty()) return {ErrorKind::kInvalidArgument, "the table has no location"};
  ICEBLINK_ASSIGN_OR_RETURN(const iceberg::Uuid uuid, random_uuid());
  char digits[24] = {};
  std::snprintf(digits, sizeof digits, "%05llu", static_cast<unsigned long long>(version));
  std::string location(base);
  if (!metadata.metadata_path) location += "/metadata";
  location += '/';
  location += digits;
  location += '-';
  location += iceberg::format_uuid(uuid);
  location += metadata.is_gzip ? ".gz.metadata.json" : ".metadata.json";
  return location;
}

}  // namespace

std::uint64_t next_metadata_version(std::string_view metadata_location) {
  constexpr std::size_t kDigitsMax = 18;
  std::string_view name = metadata_location.substr(metadata_location.rfind('/') + 1);
  if (name.starts_with('v')) name.remove_prefix(1);
  const auto end = std::find_if_not(name.begin(), name.end(), is_digit);
  const auto digits = static_cast<std::size_t>(end - name.begin());
  const bool is_version =
      digits > 0 && digits <= kDigitsMax && end != name.end() && (*end == '-' || *end == '.');
  if (!is_version) return 0;
  std::uint64_t version = 0;
  for (const char c : name.substr(0, digits))
    version = version * 10 + static_cast<unsigned>(c - '0');
  return version + 1;
}

Result<NewMetadataFile> NewMetadataFile::write(const iceberg::NewMetadata& metadata,
                                               std::uint64_t version, const WriteRoots& roots) {
  TableRow row;
  ICEBLINK_ASSIGN_OR_RETURN(row.location, location_of(metadata, version));
  std::string compressed;
  if (metadata.is_gzip) {
    ICEBLINK_ASSIGN_OR_RETURN(compressed, iceberg::compress_gzip(metadata.json));
  }
  const std::string& bytes = metadata.is_gzip ? compressed : metadata.json;
  row.table_uuid = metadata.uuid;
  row.format_version = metadata.format_version;
  row.metadata_fingerprint = iceberg::fingerprint_of(std::as_bytes(std::span(bytes)));
  ICEBLINK_ASSIGN_OR_RETURN(auto place,
                            roots.open_parent(row.location, WriteRoots::Missing::kIsMade));
  Times times;
  ICEBLINK_RETURN_IF_ERROR(write_file(place, bytes, row.location, times));
  return NewMetadataFile(std::move(row), roots, times);
}

NewMetadataFile::~NewMetadataFile() {
  // One that cannot be removed is named by nothing.
  if (roots_ != nullptr) static_cast<void>(roots_->remove(row_.location));
}

}  // namespace iceblink::daemon
