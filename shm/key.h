// Keys of the index: how an identifier becomes a hash, and how it is compared with a record's key
// without being assembled first.
//
// A key has two forms that hash alike: its parts (the levels of a namespace and, for a table, its
// name) and its encoded bytes (iceblink/identifier.h). Hashing part by part lets a lookup start
// from a TableIdent without a buffer, and a listing from the hash of its namespace.
//
// Hash of a key: a state, which starts at the seed, takes in a digest of each part in turn. A
// digest is of the part and the seed alone: two words that cover the part, or end it (as wyhash
// does), are multiplied to 128 bits and folded. So the digests of all parts are made side by side,
// and one multiplication a part waits for the part before. A table's name goes in with another
// constant than a level does, so that the namespace a.b and the table a.b differ: that constant is
// the key's class. A third of the instructions of one XXH3 call a part. The seed is the store's
// secret; probes are bounded in number and a crowded arena is re-seeded.
//
// Thread safety: pure functions.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace iceblink::shm {

inline constexpr char kKeyLevelSeparator = '\x1f';
inline constexpr char kKeyNameSeparator = '\0';

namespace key_internal {

inline constexpr std::uint64_t kLevelClass = 0x9e3779b97f4a7c15;
inline constexpr std::uint64_t kNameClass = 0xd1b54a32d192ed03;

[[nodiscard]] inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__x86_64__)
  // g++ 12 keeps a 128-bit product in memory when registers are short, between two multiplications
  // that wait for each other.
  std::uint64_t low = a;
  std::uint64_t high = 0;
  __asm__("mulq %2" : "+a"(low), "=d"(high) : "r"(b) : "cc");
  return low ^ high;
#else
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#endif
}

[[nodiscard]] inline std::uint64_t mix(std::uint64_t state, std::uint64_t word,
                                       std::uint64_t part_class) noexcept {
  return fold(state ^ word, part_class ^ (word << 1 | 1));
}

template <typename Word>
[[nodiscard]] inline std::uint64_t load_word(const char* from) noexcept {
  Word word = 0;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

/// The state after one more part. A digest is zero whatever else is in it where the part's first
/// word is its class's constant: these are no UTF-8, which parts are.
[[nodiscard]] inline std::uint64_t absorb(std::uint64_t state, std::string_view part,
                                          std::uint64_t part_class, std::uint64_t seed) noexcept {
  const char* at = part.data();
  std::size_t left = part.size();
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (left >= 8) [[likely]] {
    for (; left > 16; at += 16, left -= 16) {
      seed =
          fold(load_word<std::uint64_t>(at) ^ part_class, load_word<std::uint64_t>(at + 8) ^ seed);
    }
    // The last 8 to 16 bytes; below 8 they reach back into what went before.
    a = load_word<std::uint64_t>(left >= 8 ? at : at + left - 8);
    b = load_word<std::uint64_t>(at + left - 8);
  } else if (left >= 4) {
    a = load_word<std::uint32_t>(at);
    b = load_word<std::uint32_t>(at + left - 4);
  } else if (left > 0) {
    a = std::uint64_t{static_cast<unsigned char>(at[0])} << 16 |
        std::uint64_t{static_cast<unsigned char>(at[left / 2])} << 8 |
        static_cast<unsigned char>(at[left - 1]);
  }
  // Twice: one multiplication alone leaves the low bits of `a` weak where `b` is a multiple of
  // two's powers.
  return fold(fold(a ^ part_class, b ^ seed) ^ state, part_class + part.size());
}

[[nodiscard]] inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

/// memcmp for the short strings that names are, without a call.
[[nodiscard]] inline bool equal_bytes(const char* a, const char* b, std::size_t size) noexcept {
  const auto load = [](const char* from, auto word) {
    std::memcpy(&word, from, sizeof(word));
    return word;
  };
  if (size >= 8) {
    // The first and the last word together, which may overlap: most names are no longer.
    const std::size_t last = size - 8;
    const std::uint64_t ends = (load(a, std::uint64_t{}) ^ load(b, std::uint64_t{})) |
                               (load(a + last, std::uint64_t{}) ^ load(b + last, std::uint64_t{}));
    if (ends != 0) return false;
    for (std::size_t i = 8; i < last; i += 8) {
      if (load(a + i, std::uint64_t{}) != load(b + i, std::uint64_t{})) return false;
    }
    return true;
  }
  if (size >= 4) {
    return load(a, std::uint32_t{}) == load(b, std::uint32_t{}) &&
           load(a + size - 4, std::uint32_t{}) == load(b + size - 4, std::uint32_t{});
  }
  if (size >= 2) {
    return load(a, std::uint16_t{}) == load(b, std::uint16_t{}) &&
           load(a + size - 2, std::uint16_t{}) == load(b + size - 2, std::uint16_t{});
  }
  return size == 0 || *a == *b;
}

}  // namespace key_internal

[[nodiscard]] inline std::uint64_t hash_levels(std::span<const std::string> levels,
                                               std::uint64_t seed) noexcept {
  std::uint64_t state = seed;
  for (const auto& level : levels) {
    state = key_internal::absorb(state, level, key_internal::kLevelClass, seed);
  }
  return state;
}

/// The hash of a child namespace, given its parent's; the root's is the seed.
[[nodiscard]] inline std::uint64_t hash_level_below(std::uint64_t parent_hash,
                                                    std::string_view level,
                                                    std::uint64_t seed) noexcept {
  return key_internal::absorb(parent_hash, level, key_internal::kLevelClass, seed);
}

/// The hash of a table, given its namespace's.
[[nodiscard]] inline std::uint64_t hash_name_below(std::uint64_t namespace_hash,
                                                   std::string_view name,
                                                   std::uint64_t seed) noexcept {
  return key_internal::absorb(namespace_hash, name, key_internal::kNameClass, seed);
}

/// The hash of an encoded key of either class.
[[nodiscard]] inline std::uint64_t hash_encoded(std::string_view key, std::uint64_t seed) noexcept {
  std::uint64_t state = seed;
  const auto name_at = key.find(kKeyNameSeparator);
  std::string_view levels = key.substr(0, name_at);
  while (!levels.empty()) {
    const auto end = levels.find(kKeyLevelSeparator);
    state = hash_level_below(state, levels.substr(0, end), seed);
    if (end == std::string_view::npos) break;
    levels.remove_prefix(end + 1);
  }
  if (name_at == std::string_view::npos) return state;
  return hash_name_below(state, key.substr(name_at + 1), seed);
}

/// A table's key by its parts. Borrows.
struct TableKey {
  std::span<const std::string> levels;
  std::string_view name;

  [[nodiscard]] std::uint64_t hash(std::uint64_t seed) const noexcept {
    return hash_name_below(hash_levels(levels, seed), name, seed);
  }
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t size = levels.size() + name.size();  // a separator after each level
    for (const auto& level : levels) size += level.size();
    return size;
  }
  /// Compares with size() encoded bytes.
  [[nodiscard]] bool equals(const char* encoded) const noexcept {
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const auto& level = levels[i];
      if (!key_internal::equal_bytes(encoded, level.data(), level.size())) return false;
      encoded += level.size();
      if (*encoded++ != (i + 1 < levels.size() ? kKeyLevelSeparator : kKeyNameSeparator)) {
        return false;
      }
    }
    return key_internal::equal_bytes(encoded, name.data(), name.size());
  }
};

/// A key of either class, already encoded. Borrows.
struct EncodedKey {
  std::string_view bytes;

  [[nodiscard]] std::uint64_t hash(std::uint64_t seed) const noexcept {
    return hash_encoded(bytes, seed);
  }
  [[nodiscard]] std::size_t size() const noexcept { return bytes.size(); }
  [[nodiscard]] bool equals(const char* encoded) const noexcept {
    return key_internal::equal_bytes(encoded, bytes.data(), bytes.size());
  }
};

/// The encoded namespace that holds the object with this encoded key; the root is empty.
[[nodiscard]] inline std::string_view parent_of(std::string_view key) noexcept {
  const auto name_at = key.find(kKeyNameSeparator);
  if (name_at != std::string_view::npos) return key.substr(0, name_at);
  const auto last = key.rfind(kKeyLevelSeparator);
  return last == std::string_view::npos ? std::string_view{} : key.substr(0, last);
}

/// Levels of the namespace that an encoded key names or lies in, modulo 256.
[[nodiscard]] inline std::uint8_t level_count_of(std::string_view key) noexcept {
  const std::string_view levels = key.substr(0, key.find(kKeyNameSeparator));
  std::size_t count = levels.empty() ? 0 : 1;
  for (const char c : levels) count += c == kKeyLevelSeparator ? 1 : 0;
  return static_cast<std::uint8_t>(count);
}

/// The last part of an encoded key: the table's name, or the innermost level.
[[nodiscard]] inline std::string_view leaf_of(std::string_view key) noexcept {
  const auto name_at = key.find(kKeyNameSeparator);
  if (name_at != std::string_view::npos) return key.substr(name_at + 1);
  const auto last = key.rfind(kKeyLevelSeparator);
  return last == std::string_view::npos ? key : key.substr(last + 1);
}

}  // namespace iceblink::shm
