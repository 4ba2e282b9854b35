#include "daemon/directory_group.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace iceblink::daemon {

int share_directory(int fd, gid_t group) noexcept {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return errno;
  if (status.st_gid == group && (status.st_mode & 07777u) == kSharedDirectoryMode) return 0;
  if (status.st_gid != group && ::fchown(fd, static_cast<uid_t>(-1), group) != 0) return errno;
  return ::fchmod(fd, kSharedDirectoryMode) == 0 ? 0 : errno;
}

}  // namespace iceblink::daemon
