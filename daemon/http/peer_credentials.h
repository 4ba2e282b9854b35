// Who connected to the Unix socket, as the kernel says it.
//
// Thread safety: values.
#pragma once

#include <iceblink/result.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace iceblink::daemon::http {

/// Of the process that called connect(), at that time.
struct PeerCredentials {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
  std::vector<gid_t> groups;  // the supplementary ones

  [[nodiscard]] bool is_in_group(gid_t group) const noexcept;
};

/// Of a connected Unix socket. kIo.
[[nodiscard]] Result<PeerCredentials> peer_credentials_of(int fd);

}  // namespace iceblink::daemon::http
