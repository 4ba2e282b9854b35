// The route table: which verb on which path is whose.
#pragma once

#include <string>
#include <vector>

#include "daemon/http/exchange.h"

namespace iceblink::daemon::http {

/// Finds the handler of the exchange's request and runs it, if the caller may have that done: what
/// a route needs is decided here alone. Answers 401 or 403 where it may not, 404 for a path nobody
/// serves, 405 with Allow for a verb nobody serves there. HEAD falls back to GET.
void dispatch(const ExchangePtr& exchange) noexcept;

/// What is served, as `endpoints` of /v1/config says it: "GET /v1/{prefix}/namespaces".
[[nodiscard]] const std::vector<std::string>& served_endpoints();

}  // namespace iceblink::daemon::http
