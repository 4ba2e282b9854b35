#include "daemon/regular_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/owned_fd.h"

namespace iceblink::daemon {

Result<std::string> read_regular_file(const std::string& path, const std::string& what,
                                      std::size_t bytes_max,
                                      const std::function<Status(const struct stat&)>& admit) {
  const auto refused = [&](const std::string& why) -> Error {
    return {ErrorKind::kInvalidArgument, what + why};
  };
  const auto failed = [&] { return refused(std::strerror(errno)); };
  // O_NONBLOCK: a FIFO would make the open wait; it has no effect on regular files.
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return failed();
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return failed();
  if (!S_ISREG(found.st_mode)) return refused("not a regular file");
  if (admit) ICEBLINK_RETURN_IF_ERROR(admit(found));
  std::string bytes(bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const auto got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed();
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > bytes_max) return refused("larger than " + std::to_string(bytes_max) + " bytes");
  bytes.resize(size);
  return bytes;
}

}  // namespace iceblink::daemon
