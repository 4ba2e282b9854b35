#include "daemon/http/paging.h"

#include <xxhash.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace iceblink::daemon::http {
namespace {

constexpr char kTokenVersion = '1';
constexpr std::size_t kTokenHeadBytes = 2 + sizeof(std::uint64_t);  // version, listing, parent
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string to_base64url(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += kAlphabet[(bits >> (count - 6)) & 63];
  }
  if (count > 0) out += kAlphabet[(bits << (6 - count)) & 63];
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const auto digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 0xff);
    }
  }
  if (to_base64url(out) != text) return std::nullopt;  // one name has one token
  return out;
}

std::string token_head(Listing listing, const Namespace& parent) {
  const std::string key = encode(parent);
  const std::uint64_t hash = XXH3_64bits(key.data(), key.size());
  std::string head;
  head += kTokenVersion;
  head += static_cast<char>(listing);
  std::array<char, sizeof(hash)> bytes{};
  std::memcpy(bytes.data(), &hash, sizeof(hash));
  head.append(bytes.data(), bytes.size());
  return head;
}

Result<std::optional<std::size_t>> page_size_of(const Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto text, exchange.query("pageSize"));
  if (!text) return std::optional<std::size_t>{};
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), size);
  const bool is_number = end == text->data() + text->size() && error != std::errc::invalid_argument;
  if (!is_number || (error == std::errc{} && size == 0)) {
    return {ErrorKind::kInvalidArgument, "pageSize '" + *text + "' is not a number from 1"};
  }
  const bool is_small = error == std::errc{} && size < kPageSizeMax;
  return std::optional<std::size_t>{is_small ? size : kPageSizeMax};
}

}  // namespace

std::string make_page_token(Listing listing, const Namespace& parent, std::string_view last_name) {
  return to_base64url(token_head(listing, parent) + std::string(last_name));
}

Result<std::string> read_page_token(Listing listing, const Namespace& parent,
                                    std::string_view token) {
  const auto bytes = from_base64url(token);
  if (!bytes || bytes->size() <= kTokenHeadBytes ||
      bytes->substr(0, kTokenHeadBytes) != token_head(listing, parent) ||
      !validate(Namespace{bytes->substr(kTokenHeadBytes)})) {
    return {ErrorKind::kInvalidArgument,
            "pageToken '" + std::string(token.substr(0, 120)) + "' was not given by this listing"};
  }
  return bytes->substr(kTokenHeadBytes);
}

Result<PageRequest> page_request_of(const Exchange& exchange, Listing listing,
                                    const Namespace& parent) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto size, page_size_of(exchange));
  ICEBLINK_ASSIGN_OR_RETURN(const auto token, exchange.query("pageToken"));
  PageRequest page;
  if (!token) return page;
  page.limit = size.value_or(kPageSizeMax);
  if (!token->empty()) {
    ICEBLINK_ASSIGN_OR_RETURN(page.after, read_page_token(listing, parent, *token));
  }
  return page;
}

void append_next_page_token(std::string& body, Listing listing, const Namespace& parent,
                            const std::optional<std::string>& next_after) {
  body += R"(,"next-page-token":)";
  if (next_after) {
    body += '"' + make_page_token(listing, parent, *next_after) + '"';
  } else {
    body += "null";
  }
}

}  // namespace iceblink::daemon::http
