// Making prepared keys, and naming them in messages.
#pragma once

#include <iceblink/prepared_key.h>
#include <iceblink/result.h>

#include <string>

#include "client/lookup.h"

namespace iceblink {

/// Fills the public key, whose members are its alone.
class PreparedKeyMaker {
 public:
  [[nodiscard]] static PreparedKey make(std::string encoded, std::uint64_t hash,
                                        std::uint64_t seed) noexcept {
    return {std::move(encoded), hash, seed};
  }
};

}  // namespace iceblink

namespace iceblink::client {

/// kInvalidArgument.
[[nodiscard]] inline Result<PreparedKey> prepare(const TableIdent& ident, std::uint64_t seed) {
  ICEBLINK_RETURN_IF_ERROR(check(ident));
  return PreparedKeyMaker::make(encode(ident), hash_of(ident, seed), seed);
}

/// The identifier that a prepared key was made from.
[[nodiscard]] inline TableIdent ident_of(const PreparedKey& key) {
  return decode_table(key.encoded()).value();  // valid by construction
}
[[nodiscard]] inline std::string name_of(const PreparedKey& key) {
  return format(ident_of(key));
}

}  // namespace iceblink::client
