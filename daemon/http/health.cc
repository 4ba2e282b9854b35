#include "daemon/http/error_body.h"
#include "daemon/http/resources.h"

namespace iceblink::daemon::http {

void healthz(const ExchangePtr& exchange) {
  exchange->answer(json_response(R"({"status":"ok"})"));
}

void readyz(const ExchangePtr& exchange) {
  const Services& services = exchange->services();
  const RestError unavailable{503, "ServiceUnavailableException"};
  // relaxed: a sign for those who probe; orders nothing
  if (!services.is_ready.load(std::memory_order_relaxed)) {
    return exchange->answer(error_response(unavailable, "the daemon is starting or stopping"));
  }
  const auto silence = services.metrics.progress_age();
  if (silence > services.writer_silence_max) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(silence).count();
    return exchange->answer(error_response(
        unavailable, "the writer got nowhere for " + std::to_string(seconds) + " seconds"));
  }
  exchange->answer(json_response(R"({"status":"ready","generation":)" +
                                 std::to_string(services.publisher.published_generation()) + "}"));
}

}  // namespace iceblink::daemon::http
