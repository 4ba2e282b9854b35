// Requests with an Idempotency-Key: carried out once, answered as often as they come (Iceberg REST
// specification, "Idempotency-Key").
//
// Thread safety: as an Exchange.
#pragma once

#include <iceblink/result.h>

#include <chrono>
#include <string>
#include <string_view>

#include "daemon/http/exchange.h"

namespace iceblink::daemon::http {

/// The bytes of a UUID of version 7 (RFC 9562) in 36 characters. kInvalidArgument names the header.
[[nodiscard]] Result<IdempotencyKey> idempotency_key_of(std::string_view text);

/// Of method, target and body, all as sent: whether two requests are one operation.
[[nodiscard]] shm::Id binding_of(const Request& request);

/// ISO 8601, as /v1/config says it: "PT30M".
[[nodiscard]] std::string duration_text(std::chrono::milliseconds duration);

/// Runs `handler` under the request's key; answers again what was answered to it before; waits for
/// another request that holds the key. A key that was used for another request is 422.
void handle_under_key(const ExchangePtr& exchange, Handler handler);

}  // namespace iceblink::daemon::http
