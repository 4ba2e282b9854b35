#include "daemon/http/header_rules.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>
#include <vector>

#include "daemon/http/field_text.h"

namespace iceblink::daemon::http {
namespace {

namespace beast = boost::beast;
using beast::http::field;
using Header = beast::http::request_header<>;

constexpr unsigned kHttp11 = 11;

RequestRefusal bad_request(std::string message) {
  return {{400, "BadRequestException"}, std::move(message)};
}

RequestRefusal forbidden(std::string message) {
  return {{403, "ForbiddenException"}, std::move(message)};
}

// Every coding of every Transfer-Encoding line.
std::vector<std::string_view> codings_of(const Header& header) {
  std::vector<std::string_view> codings;
  const auto [first, last] = header.equal_range(field::transfer_encoding);
  for (auto line = first; line != last; ++line) {
    for (std::string_view rest = line->value();;) {
      const auto comma = rest.find(',');
      codings.push_back(trimmed(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return codings;
}

bool is_known(std::string_view coding) {
  constexpr std::string_view kKnown[] = {"chunked",  "gzip",       "x-gzip",  "deflate",
                                         "compress", "x-compress", "identity"};
  return std::any_of(std::begin(kKnown), std::end(kKnown),
                     [&](auto known) { return beast::iequals(coding, known); });
}

std::optional<RequestRefusal> judge_framing(const Header& header) {
  if (header.count(field::transfer_encoding) == 0) return std::nullopt;
  if (header.count(field::content_length) > 0) {
    return bad_request("Transfer-Encoding and Content-Length in one request");
  }
  if (header.version() < kHttp11) return bad_request("Transfer-Encoding in HTTP/1.0");
  const auto codings = codings_of(header);
  for (const auto coding : codings) {
    if (!is_known(coding)) {
      return RequestRefusal{{501, "NotImplementedException"},
                            "Transfer-Encoding '" + std::string(coding) + "' is not known"};
    }
  }
  if (codings.size() == 1 && beast::iequals(codings.front(), "chunked")) return std::nullopt;
  return bad_request("Transfer-Encoding must be chunked and nothing else");
}

// In absolute form the target names the host (RFC 9112, 3.2.2).
std::optional<std::string_view> authority_of_target(std::string_view target) {
  const auto scheme = target.find("://");
  if (scheme == std::string_view::npos || target.find('/') != scheme + 1) return std::nullopt;
  target.remove_prefix(scheme + 3);
  return target.substr(0, target.find_first_of("/?#"));
}

bool is_loopback_origin(std::string_view origin) {
  const auto scheme = origin.find("://");
  return scheme != std::string_view::npos && is_loopback_authority(origin.substr(scheme + 3));
}

std::optional<RequestRefusal> judge_names(const Header& header) {
  const auto [first_host, last_host] = header.equal_range(field::host);
  for (auto line = first_host; line != last_host; ++line) {
    if (is_loopback_authority(line->value())) continue;
    return forbidden("Host '" + std::string(line->value()) + "' is not a loopback name");
  }
  const auto authority = authority_of_target(header.target());
  if (authority && !is_loopback_authority(*authority)) {
    return forbidden("the target's host '" + std::string(*authority) + "' is not a loopback name");
  }
  const auto [first, last] = header.equal_range(field::origin);
  for (auto line = first; line != last; ++line) {
    if (is_loopback_origin(line->value())) continue;
    return forbidden("Origin '" + std::string(line->value()) + "' is not of this host");
  }
  return std::nullopt;
}

}  // namespace

bool is_loopback_authority(std::string_view authority) {
  std::string_view host = authority;
  std::string_view port;
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return false;
    port = host.substr(end + 1);
    host = host.substr(1, end - 1);
    in6_addr address{};
    if (::inet_pton(AF_INET6, std::string(host).c_str(), &address) != 1) return false;
    if (!IN6_IS_ADDR_LOOPBACK(&address)) return false;
  } else {
    const auto colon = std::min(host.find(':'), host.size());
    port = host.substr(colon);
    host = host.substr(0, colon);
    in_addr address{};
    const bool is_address = ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1;
    const bool is_loopback = is_address && (ntohl(address.s_addr) >> 24) == 127;
    if (!is_loopback && !beast::iequals(host, "localhost")) return false;
  }
  if (port.empty()) return true;
  port.remove_prefix(1);
  return authority[authority.size() - port.size() - 1] == ':' &&
         port.find_first_not_of("0123456789") == std::string_view::npos;
}

bool announces_body(const Header& header) {
  if (header.count(field::transfer_encoding) > 0) return true;
  const auto length = header.find(field::content_length);
  return length != header.end() && trimmed(length->value()) != "0";
}

std::optional<RequestRefusal> judge_header(const Header& header, HostNames names) {
  if (auto refusal = judge_framing(header)) return refusal;
  const auto host_count = header.count(field::host);
  if (host_count > 1) return bad_request("more than one Host");
  if (host_count == 0 && header.version() >= kHttp11) return bad_request("Host is missing");
  if (names == HostNames::kLoopback) return judge_names(header);
  return std::nullopt;
}

}  // namespace iceblink::daemon::http
