// What engines report of their scans and commits (REST specification, "reportMetrics"): counted.
#include "daemon/http/error_body.h"
#include "daemon/http/idempotency.h"
#include "daemon/http/json_body.h"
#include "daemon/http/path_names.h"
#include "daemon/http/resources.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

/// A scan's filter nests once for each of its terms.
constexpr std::size_t kReportDepthMax = 1024;

Result<std::atomic<std::uint64_t>*> counter_of(const Request& request, Counters& counters) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto body, parse_object(request.body, kReportDepthMax));
  ICEBLINK_ASSIGN_OR_RETURN(const std::string type, required_string(body, "report-type"));
  if (type == "scan-report") return &counters.scan_reports;
  if (type == "commit-report") return &counters.commit_reports;
  return {ErrorKind::kInvalidArgument,
          "'report-type' is '" + type + "', it must be scan-report or commit-report"};
}

// On a thread that may take its time.
void take_report(const ExchangePtr& exchange) {
  const auto counter = counter_of(exchange->request(), exchange->services().counters);
  if (!counter) return exchange->answer(refusal_response(counter.error()));
  const auto found = find_path_name(*exchange, ObjectKind::kTable);
  if (!found) return exchange->answer(refusal_response(found.error()));
  if (!found->row) {
    return exchange->answer(error_response(no_such(ObjectKind::kTable, found->ident)));
  }
  (*counter)->fetch_add(1, std::memory_order_relaxed);  // relaxed: a counter, for showing
  exchange->answer(Response{});
}

}  // namespace

void report_metrics(const ExchangePtr& exchange) {
  // A key of the wrong form is told; one of the right form has no effect.
  if (const auto& text = exchange->request().idempotency_key) {
    const auto key = idempotency_key_of(*text);
    if (!key) return exchange->answer(refusal_response(key.error()));
  }
  exchange->on_thread_for_body([exchange] { take_report(exchange); });
}

}  // namespace iceblink::daemon::http
