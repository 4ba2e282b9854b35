#include "daemon/http/content_coding.h"

#include <boost/beast/core/string.hpp>
#include <cstddef>
#include <optional>
#include <string>

#include "daemon/http/field_text.h"
#include "iceberg/gzip.h"

namespace iceblink::daemon::http {
namespace {

/// Below, a body fits into one packet anyway.
constexpr std::size_t kCompressedBytesMin = 1024;

/// Takes what is before the next `separator` off the front of `rest`.
std::string_view take(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const std::string_view item = trimmed(rest.substr(0, end));
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return item;
}

// "q=0", "q=0.0" and so on refuse a coding; every other weight takes it.
bool has_weight_zero(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = take(parameters, ';');
    if (parameter.size() < 3 || !boost::beast::iequals(parameter.substr(0, 2), "q=")) continue;
    return parameter.substr(2).find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) noexcept {
  std::optional<bool> any;
  while (!accept_encoding.empty()) {
    std::string_view item = take(accept_encoding, ',');
    const std::string_view coding = take(item, ';');
    if (boost::beast::iequals(coding, "gzip") || boost::beast::iequals(coding, "x-gzip")) {
      return !has_weight_zero(item);
    }
    if (coding == "*") any = !has_weight_zero(item);
  }
  return any.value_or(false);
}

void compress(Response& response) {
  if (response.content_type != kJson || response.body_bytes() < kCompressedBytesMin) return;
  std::string text;
  text.reserve(response.body_bytes());
  for (const auto& part : response.parts) text += part.text();
  auto compressed = iceberg::compress_gzip(text);
  if (!compressed) return;
  response.parts.clear();
  response.parts.emplace_back(std::move(*compressed));
  response.is_gzip = true;
}

}  // namespace iceblink::daemon::http
