#include "daemon/http/bearer_token.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>

#include "daemon/http/field_text.h"
#include "daemon/secret_file.h"

namespace iceblink::daemon::http {
namespace {

constexpr const char* kSetting = "token-file";

}  // namespace

Result<BearerToken> BearerToken::from_file(const std::string& path) {
  // A line end is not the token's.
  ICEBLINK_ASSIGN_OR_RETURN(std::string text, read_secret_file(path, kSetting, kBytesMax + 2));
  std::string_view token = text;
  if (token.ends_with('\n')) token.remove_suffix(1);
  const std::size_t bytes = token.size();
  const bool is_plain =
      std::ranges::all_of(token, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  const BearerToken made(digest_of(token));
  OPENSSL_cleanse(text.data(), text.size());
  const std::string what = std::string(kSetting) + " '" + path + "': ";
  if (bytes < kBytesMin || bytes > kBytesMax) {
    return {ErrorKind::kInvalidArgument, what + "the token has " + std::to_string(bytes) +
                                             " bytes, it must have " + std::to_string(kBytesMin) +
                                             " to " + std::to_string(kBytesMax)};
  }
  if (!is_plain) {
    return {ErrorKind::kInvalidArgument,
            what + "the token may have no space, no control character and no byte beyond ASCII"};
  }
  return made;
}

BearerToken::Digest BearerToken::digest_of(std::string_view token) noexcept {
  Digest digest{};
  static_assert(std::tuple_size_v<Digest> == SHA256_DIGEST_LENGTH);
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

bool BearerToken::is(std::string_view token) const noexcept {
  const Digest other = digest_of(token);
  return CRYPTO_memcmp(digest_.data(), other.data(), digest_.size()) == 0;
}

std::string_view bearer_token_in(std::string_view field) noexcept {
  field = trimmed(field);
  const auto space = field.find(' ');
  if (space == std::string_view::npos) return {};
  if (!boost::beast::iequals(field.substr(0, space), "Bearer")) return {};
  return trimmed(field.substr(space));
}

}  // namespace iceblink::daemon::http
