// The token that who connects over TCP must bring.
//
// Thread safety: immutable. Holds a digest of the token, not the token.
#pragma once

#include <iceblink/result.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace iceblink::daemon::http {

class BearerToken {
 public:
  static constexpr std::size_t kBytesMin = 16;
  static constexpr std::size_t kBytesMax = 4096;

  /// The file's one line; see read_secret_file on its owner and mode. kInvalidArgument: it is too
  /// short or too long, or has a space or a control character. Messages never hold a byte of it.
  [[nodiscard]] static Result<BearerToken> from_file(const std::string& path);

  /// Takes the same time whatever `token` has in common with this one.
  [[nodiscard]] bool is(std::string_view token) const noexcept;

 private:
  using Digest = std::array<unsigned char, 32>;
  [[nodiscard]] static Digest digest_of(std::string_view token) noexcept;
  explicit BearerToken(const Digest& digest) : digest_(digest) {}

  Digest digest_;
};

/// What follows "Bearer " in an Authorization field (RFC 6750, 2.1); empty when it is another
/// scheme's. A view into `field`.
[[nodiscard]] std::string_view bearer_token_in(std::string_view field) noexcept;

}  // namespace iceblink::daemon::http
