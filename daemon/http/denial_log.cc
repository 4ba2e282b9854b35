#include "daemon/http/denial_log.h"

#include <exception>

#include "daemon/http/request.h"
#include "daemon/log_event.h"

namespace iceblink::daemon::http {
namespace {

/// It may begin with a location.
constexpr std::size_t kReasonBytesMax = 1024;

void write(const Response& response, const DeniedRequest& request, LogRate& rate) {
  const bool is_tcp = request.caller.transport == Transport::kTcp;
  const auto left_out = rate.take(is_tcp ? "denied over TCP" : "denied", LogRate::Clock::now());
  if (!left_out) return;
  const std::string_view reason =
      response.refusal.empty() ? "as it was answered before" : std::string_view(response.refusal);
  log_event(level::warn, "request refused",
            {{"reason", shortened(reason, kReasonBytesMax)},
             {"id", request.id},
             {"peer", request.caller.name},
             {"method", request.method},
             {"path", shortened(path_of(request.target))},
             {"status", response.status},
             {"left_out", *left_out}});
}

}  // namespace

void log_denial(const Response& response, const DeniedRequest& request, LogRate& rate) noexcept {
  try {
    write(response, request, rate);
  } catch (const std::exception&) {
    // No memory for a line: the answer is another matter.
  }
}

}  // namespace iceblink::daemon::http
