#include "daemon/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace iceblink::daemon {

int open_beneath(int root, const std::string& relative, std::uint64_t flags,
                 std::uint64_t resolve) noexcept {
  struct open_how how {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;
  const bool waits = (resolve & RESOLVE_CACHED) == 0;
  for (;;) {
    const long fd = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != EINTR && (errno != EAGAIN || !waits))) return static_cast<int>(fd);
  }
}

}  // namespace iceblink::daemon
