#include "daemon/http/response.h"

#include <array>
#include <ctime>
#include <utility>

namespace iceblink::daemon::http {
namespace {

std::string_view reason_of(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return "Status";
  }
}

// The Date field's value, made once a second and thread.
std::string_view date_now() {
  thread_local std::time_t made_at = -1;
  thread_local std::array<char, 40> text{};
  thread_local std::size_t size = 0;
  const std::time_t now = std::time(nullptr);
  if (now != made_at) {
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    made_at = now;
  }
  return {text.data(), size};
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  head += name;
  head += ": ";
  head += value;
  head += "\r\n";
}

}  // namespace

std::size_t Response::body_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.text().size();
  return bytes;
}

Response json_response(std::string body) {
  Response response;
  response.status = 200;
  response.content_type = kJson;
  response.parts.push_back(std::move(body));
  return response;
}

std::string head_of(const Response& response, HeadOptions options) {
  std::string head;
  head.reserve(256);
  head += "HTTP/1.1 ";
  head += std::to_string(response.status);
  head += ' ';
  head += reason_of(response.status);
  head += "\r\n";
  append_field(head, "Server", "iceblinkd/" ICEBLINK_VERSION);
  append_field(head, "Date", date_now());
  if (response.status != 204 && response.status != 304) {
    if (!response.content_type.empty()) append_field(head, "Content-Type", response.content_type);
    append_field(head, "Content-Length", std::to_string(response.content_length()));
    if (response.is_gzip) append_field(head, "Content-Encoding", "gzip");
    if (response.content_type == kJson) append_field(head, "Vary", "Accept-Encoding");
  }
  if (!response.etag.empty()) append_field(head, "ETag", response.etag);
  if (!response.challenge.empty()) append_field(head, "WWW-Authenticate", response.challenge);
  if (!response.allow.empty()) append_field(head, "Allow", response.allow);
  if (response.retry_after_s) {
    append_field(head, "Retry-After", std::to_string(*response.retry_after_s));
  }
  if (response.generation) {
    append_field(head, "Iceblink-Generation", std::to_string(*response.generation));
  }
  if (!options.request_id.empty()) append_field(head, "X-Request-ID", options.request_id);
  if (!response.checksum.empty()) append_field(head, "Iceblink-Checksum", response.checksum);
  if (!options.keeps_alive) {
    append_field(head, "Connection", "close");
  } else if (options.http_minor == 0) {
    append_field(head, "Connection", "keep-alive");
  }
  head += "\r\n";
  return head;
}

}  // namespace iceblink::daemon::http
