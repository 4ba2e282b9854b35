#include "daemon/cached_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace iceblink::daemon {
namespace {

std::optional<std::string> read_at_once(int fd, const struct stat& found, std::size_t bytes_max) {
  if (!S_ISREG(found.st_mode)) return std::nullopt;
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
  struct stat ahead {};
  if (::stat(place.path.c_str(), &ahead) != 0 || is_among(ahead, own_files)) return std::nullopt;
  const int fd = open_to_read(place, RESOLVE_CACHED);
  if (fd < 0) return std::nullopt;
  struct stat found {};
  std::optional<std::string> bytes;
  if (::fstat(fd, &found) == 0) {
    if (is_among(found, own_files)) return std::nullopt;  // put there meanwhile: never closed
    bytes = read_at_once(fd, found, bytes_max);
  }
  ::close(fd);
  return bytes;
}

}  // namespace iceblink::daemon
