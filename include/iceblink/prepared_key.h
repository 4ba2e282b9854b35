// An identifier made ready for many lookups.
#pragma once

#include <iceblink/identifier.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace iceblink {

/// A table's identifier, validated, encoded and hashed: a lookup with it skips all three. Made by
/// Catalog::prepare or Snapshot::prepare; a value, good for every catalog and every generation.
/// A moved-from key may only be assigned to or destroyed.
/// Where an index uses another hash seed than the one it was made for, a lookup hashes anew
/// (and is as slow as one by TableIdent; preparing again helps).
class PreparedKey {
 public:
  [[nodiscard]] std::string_view encoded() const noexcept { return encoded_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

 private:
  friend class PreparedKeyMaker;
  PreparedKey(std::string encoded, std::uint64_t hash, std::uint64_t seed) noexcept
      : encoded_(std::move(encoded)), hash_(hash), seed_(seed) {}

  std::string encoded_;
  std::uint64_t hash_;
  std::uint64_t seed_;
};

}  // namespace iceblink
