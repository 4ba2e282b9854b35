// One request as the handlers see it, free of any HTTP library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::daemon::http {

enum class Verb : std::uint8_t { kGet, kHead, kPost, kPut, kDelete, kOther };

/// "GET" and so on; kOther is "-".
[[nodiscard]] constexpr std::string_view to_string(Verb verb) noexcept {
  constexpr std::string_view kNames[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "-"};
  return kNames[static_cast<std::size_t>(verb)];
}

struct Request {
  std::string id;  // for logs: the client's X-Request-ID, or one that we made
  Verb verb = Verb::kOther;
  std::string method;         // as sent
  std::string target;         // as sent: still percent-encoded
  std::string if_none_match;  // the header's lines, joined; empty when it was not sent
  std::optional<std::string> idempotency_key;  // as sent
  bool accepts_gzip = false;
  std::string body;
};

/// Of a target, what logs and messages show: a query may hold anything.
[[nodiscard]] inline std::string_view path_of(std::string_view target) noexcept {
  return target.substr(0, target.find('?'));
}

}  // namespace iceblink::daemon::http
