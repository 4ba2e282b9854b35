// Every error that leaves the server: the one place where refusals and error kinds become HTTP
// statuses and the exception types of the Iceberg REST specification.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <cstddef>
#include <string_view>

#include "daemon/http/response.h"
#include "daemon/operation.h"

namespace iceblink::daemon::http {

/// Of a message in an answer. What is longer ends with "…".
inline constexpr std::size_t kMessageBytesMax = 4096;

/// What an error is on the wire.
struct RestError {
  unsigned status;
  std::string_view type;  // static storage
};

[[nodiscard]] RestError rest_error_of(ErrorKind kind) noexcept;
/// Never a status that leaves open whether the write was done: 500 and 504 become 503.
[[nodiscard]] RestError rest_error_of(const Refused& refused) noexcept;

/// {"error":{"message","type","code"}}. A message that is not UTF-8 is cleaned, a long one cut.
/// 429 and 503 get a Retry-After, 401 a WWW-Authenticate.
[[nodiscard]] Response error_response(RestError error, std::string_view message);
[[nodiscard]] Response error_response(const Error& error);
[[nodiscard]] Response error_response(const Refused& refused);
/// Of a commit of metadata: never a 5xx, which clients take for "it may have been done". What can
/// be tried again is 429.
[[nodiscard]] Response commit_refusal_response(const Refused& refused);
/// Of a write that failed before it was submitted: as above.
[[nodiscard]] Response refusal_response(const Error& error);

}  // namespace iceblink::daemon::http
