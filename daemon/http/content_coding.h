// Content codings (RFC 9110, 8.4 and 12.5.3): gzip, or none.
//
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "daemon/http/response.h"

namespace iceblink::daemon::http {

/// Whether an Accept-Encoding field (its lines joined by commas) takes gzip.
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding) noexcept;

/// Makes one gzip member of a JSON body that is worth it. What cannot be compressed stays as it is.
void compress(Response& response);

}  // namespace iceblink::daemon::http
