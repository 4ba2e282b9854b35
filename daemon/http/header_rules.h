// What is refused by a request's header alone, before a byte of its body is used.
#pragma once

#include <boost/beast/http/message.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/http/error_body.h"

namespace iceblink::daemon::http {

/// Which hosts a request may say that it is for, and from.
enum class HostNames : std::uint8_t { kAny, kLoopback };

/// A request that no handler sees. The connection ends with the answer.
struct RequestRefusal {
  RestError error;
  std::string message;
};

/// Framing that another party could read differently (RFC 9112, 6.1 and 6.3), a Host that is
/// missing or ambiguous (3.2), and, with kLoopback, names that are not this host's: a web page can
/// make a browser connect to a loopback port, but not change what it says of itself there.
[[nodiscard]] std::optional<RequestRefusal> judge_header(
    const boost::beast::http::request_header<>& header, HostNames names);

/// Whether a body follows, however long.
[[nodiscard]] bool announces_body(const boost::beast::http::request_header<>& header);

/// "localhost", an address of 127/8 or "[::1]", each with or without a port.
[[nodiscard]] bool is_loopback_authority(std::string_view authority);

}  // namespace iceblink::daemon::http
