#include "daemon/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/file_errors.h"
#include "daemon/owned_fd.h"

namespace iceblink::daemon {
namespace {

/// The kernel gives up where somebody renames on the way, which may go on for ever.
constexpr int kAttemptsMax = 100;

}  // namespace

int open_beneath(int root, const std::string& relative, std::uint64_t flags,
                 std::uint64_t resolve) noexcept {
  struct open_how how {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;
  const bool waits = (resolve & RESOLVE_CACHED) == 0;
  for (int attempt = 1;;) {
    const long fd = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) return static_cast<int>(fd);
    if (errno == EAGAIN && (!waits || attempt++ == kAttemptsMax)) return -1;
  }
}

Status check_open_beneath() {
  const OwnedFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const OwnedFd found(root.get() < 0 ? -1 : open_beneath(root.get(), ".", O_PATH | O_DIRECTORY));
  if (found.get() >= 0) return Ok{};
  const int code = errno;
  if (code == ENOSYS || code == EPERM) {
    return {ErrorKind::kUnsupported,
            "openat2(2), which keeps files below their roots, is not there: " +
                std::string(std::strerror(code)) +
                "; it takes Linux 5.6, and a sandbox that lets it through (systemd's "
                "RestrictSUIDSGID= does not)"};
  }
  return {file_error_kind(code), std::string("openat2(2): ") + std::strerror(code)};
}

}  // namespace iceblink::daemon
