// Who sends requests on a connection, and what they may do.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/http/listener.h"

namespace iceblink::daemon::http {

/// Each includes those before it.
enum class Access : std::uint8_t { kNone, kRead, kWrite };

/// Known when the connection was accepted; a token may raise the access of single requests.
struct Caller {
  Transport transport = Transport::kUnix;
  /// For logs: "uid=1000 pid=4711" or "127.0.0.1:40112".
  std::string name;
  Access access = Access::kWrite;
};

}  // namespace iceblink::daemon::http
