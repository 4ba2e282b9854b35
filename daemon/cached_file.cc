#include "daemon/cached_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/owned_fd.h"

namespace iceblink::daemon {
namespace {

std::optional<std::string> read_at_once(int fd, const struct stat& found, std::size_t bytes_max) {
  const auto size = static_cast<std::size_t>(found.st_size);
  if (size == 0 || size > bytes_max) return std::nullopt;
  std::string bytes(size, '\0');
  const iovec room{bytes.data(), size};
  // Less than all of it: the rest is on the disk, or the file has changed.
  if (::preadv2(fd, &room, 1, 0, RWF_NOWAIT) != found.st_size) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<std::string> read_if_cached(const ReadRoots::Place& place, std::size_t bytes_max,
                                          std::span<const FileIdentity> own_files) {
  const OwnedFd found(find_file(place, RESOLVE_CACHED));
  struct stat status {};
  if (found.get() < 0 || ::fstat(found.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || is_among(status, own_files)) return std::nullopt;
  const OwnedFd file(open_found(found.get()));
  if (file.get() < 0) return std::nullopt;
  return read_at_once(file.get(), status, bytes_max);
}

}  // namespace iceblink::daemon
