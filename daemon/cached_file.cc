#include "daemon/cached_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/uio.h>
#include <unistd.h>

namespace iceblink::daemon {

std::optional<CachedFile> CachedFile::find(const ReadRoots::Place& place,
                                           std::span<const FileIdentity> own_files) {
  OwnedFd found(find_file(place, RESOLVE_CACHED));
  struct stat status {};
  if (found.get() < 0 || ::fstat(found.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || is_among(status, own_files)) return std::nullopt;
  return CachedFile(std::move(found), status);
}

std::optional<std::string> CachedFile::read(std::size_t bytes_max) const {
  const auto size = static_cast<std::size_t>(status_.st_size);
  if (size == 0 || size > bytes_max) return std::nullopt;
  const OwnedFd file(open_found(found_.get()));
  if (file.get() < 0) return std::nullopt;
  std::string bytes(size, '\0');
  const iovec room{bytes.data(), size};
  // Less than all of it: the rest is on the disk, or the file has changed.
  if (::preadv2(file.get(), &room, 1, 0, RWF_NOWAIT) != status_.st_size) return std::nullopt;
  return bytes;
}

std::optional<std::string> read_if_cached(const ReadRoots::Place& place, std::size_t bytes_max,
                                          std::span<const FileIdentity> own_files) {
  const auto file = CachedFile::find(place, own_files);
  return file ? file->read(bytes_max) : std::nullopt;
}

}  // namespace iceblink::daemon
