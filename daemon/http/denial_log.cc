#include "daemon/http/denial_log.h"

#include <algorithm>

#include "daemon/log_event.h"

namespace iceblink::daemon::http {
namespace {

constexpr std::size_t kShownBytesMax = 1024;

}  // namespace

void log_denial(const Response& response, const DeniedRequest& request) {
  const std::string_view reason =
      response.refusal.empty() ? "as it was answered before" : std::string_view(response.refusal);
  log_event(level::warn, "request refused",
            {{"reason", reason.substr(0, kShownBytesMax)},
             {"id", request.id},
             {"peer", request.caller.name},
             {"method", request.method},
             {"path", request.target.substr(0, request.target.find('?')).substr(0, kShownBytesMax)},
             {"status", response.status}});
}

}  // namespace iceblink::daemon::http
