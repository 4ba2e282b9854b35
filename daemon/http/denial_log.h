// The log line of a request that its caller may not have carried out.
//
// Thread safety: from any thread.
#pragma once

#include <string_view>

#include "daemon/http/caller.h"
#include "daemon/http/response.h"
#include "daemon/log_rate.h"

namespace iceblink::daemon::http {

/// What a line says of the request. Views that live for the call.
struct DeniedRequest {
  const Caller& caller;
  std::string_view id;
  std::string_view method;
  std::string_view target;
};

/// One warning for a 401 or 403, as often as `rate` lets it, for each transport apart: who floods
/// one hides nothing of the other. Of the target the path alone, since a query may hold anything.
void log_denial(const Response& response, const DeniedRequest& request, LogRate& rate) noexcept;

}  // namespace iceblink::daemon::http
