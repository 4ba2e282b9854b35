#include "daemon/http/peer_credentials.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace iceblink::daemon::http {
namespace {

Error failed(const char* option) {
  return {ErrorKind::kIo, std::string(option) + ": " + std::strerror(errno)};
}

}  // namespace

bool PeerCredentials::is_in_group(gid_t group) const noexcept {
  return gid == group || std::ranges::find(groups, group) != groups.end();
}

Result<PeerCredentials> peer_credentials_of(int fd) {
  ucred found{};
  socklen_t bytes = sizeof(found);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &bytes) != 0) return failed("SO_PEERCRED");
  PeerCredentials credentials{.uid = found.uid, .gid = found.gid, .pid = found.pid, .groups = {}};
  credentials.groups.resize(16);
  for (;;) {
    bytes = static_cast<socklen_t>(credentials.groups.size() * sizeof(gid_t));
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, credentials.groups.data(), &bytes) == 0) break;
    if (errno != ERANGE) return failed("SO_PEERGROUPS");
    credentials.groups.resize(bytes / sizeof(gid_t));  // as many as there are
  }
  credentials.groups.resize(bytes / sizeof(gid_t));
  return credentials;
}

}  // namespace iceblink::daemon::http
