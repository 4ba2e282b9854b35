// Names of requests, by which a client's log and ours are brought together.
#pragma once

#include <string>
#include <string_view>

namespace iceblink::daemon::http {

inline constexpr std::size_t kRequestIdBytesMax = 128;

/// What the client sent as X-Request-ID, if that is 1 to 128 visible ASCII characters; else one
/// that no other request of this host had, of at most 15 bytes. Thread-safe.
[[nodiscard]] std::string request_id_of(std::string_view sent);

}  // namespace iceblink::daemon::http
