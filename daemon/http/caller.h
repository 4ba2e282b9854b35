// Who sends requests on a connection, and what they may do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/http/listener.h"
#include "daemon/http/peer_credentials.h"

namespace iceblink::daemon::http {

/// Each includes those before it.
enum class Access : std::uint8_t { kNone, kRead, kWrite };

/// Known when the connection was accepted, but for the access, which is judged anew for every
/// request: settings may have changed, and over TCP it is the request's token that decides.
struct Caller {
  Transport transport = Transport::kUnix;
  /// For logs: "uid=1000 pid=4711" or "127.0.0.1:40112".
  std::string name;
  Access access = Access::kNone;
  std::optional<PeerCredentials> credentials{};  // over the Unix socket
};

/// Of the peer of a connected socket. Where the kernel does not say who it is, it may do nothing.
[[nodiscard]] Caller caller_of(Transport transport, int fd);

}  // namespace iceblink::daemon::http
