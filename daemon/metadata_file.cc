#include "daemon/metadata_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "daemon/file_errors.h"
#include "daemon/owned_fd.h"
#include "iceberg/fingerprint.h"
#include "iceberg/metadata_header.h"

namespace iceblink::daemon {
namespace {

Error error_of(int code, std::string_view location, std::string_view doing) {
  if (code == ENOENT || code == ENOTDIR) {
    // The words of the reference implementation: clients look for them.
    return {ErrorKind::kNotFound, "Failed to open input stream for file: " + std::string(location)};
  }
  if (code == EXDEV) {
    return {ErrorKind::kNotAllowed,
            std::string(location) + ": leaves the directories that this catalog reads"};
  }
  return {file_error_kind(code),
          std::string(location) + ": " + std::string(doing) + ": " + std::strerror(code)};
}

Error own_file(std::string_view location) {
  return {ErrorKind::kNotAllowed, std::string(location) + ": a file of the catalog's own store"};
}

Error too_large(std::string_view location, std::size_t bytes_max) {
  return {ErrorKind::kTooLarge, std::string(location) + ": the file is larger than " +
                                    std::to_string(bytes_max) + " bytes"};
}

// Reads to the end, wherever that is: the size from fstat is a guess.
Result<std::string> read_all(int fd, std::size_t guess, std::string_view location,
                             std::size_t bytes_max) {
  std::string bytes;
  std::size_t size = 0;
  bytes.resize(guess + 1);  // one more, so that a file of that size ends with the second read
  while (true) {
    if (size == bytes.size()) bytes.resize(bytes.size() * 2);
    const auto got = ::read(fd, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error_of(errno, location, "read");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > bytes_max) return too_large(location, bytes_max);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

Result<std::string> read_metadata_file(std::string_view location,
                                       const MetadataFileRules& rules) try {
  ICEBLINK_ASSIGN_OR_RETURN(const ReadRoots::Place place,
                            rules.read_roots.find(location, rules.map));
  const OwnedFd found(find_file(place));
  if (found.get() < 0) return error_of(errno, location, "open");
  struct stat status {};
  if (::fstat(found.get(), &status) != 0) return error_of(errno, location, "stat");
  if (is_among(status, rules.own_files)) return own_file(location);
  if (!S_ISREG(status.st_mode)) {
    return {ErrorKind::kInvalidArgument, std::string(location) + ": not a regular file"};
  }
  const OwnedFd file(open_found(found.get()));
  if (file.get() < 0) return error_of(errno, location, "open");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > rules.stored_bytes_max) return too_large(location, rules.stored_bytes_max);
  return read_all(file.get(), size, location, rules.stored_bytes_max);
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, std::string(location) + ": out of memory"};
}

Result<DescribedFile> describe_metadata_file(std::string_view location,
                                             const MetadataFileRules& rules) {
  DescribedFile described;
  ICEBLINK_ASSIGN_OR_RETURN(described.bytes, read_metadata_file(location, rules));
  const auto bytes = std::as_bytes(std::span(described.bytes));
  const auto header = iceberg::parse_metadata_header(bytes, rules.inflated_bytes_max);
  if (!header) {
    return {header.error().kind(), std::string(location) + ": " + header.error().message()};
  }
  described.row.location = location;
  described.row.table_uuid = header->table_uuid.value_or(iceberg::Uuid{});
  described.row.metadata_fingerprint = iceberg::fingerprint_of(bytes);
  described.row.format_version = header->format_version;
  described.is_view = header->is_view;
  return described;
}

}  // namespace iceblink::daemon
