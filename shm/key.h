// Keys of the index: how an identifier becomes a hash, and how it is compared with a record's key
// without being assembled first.
//
// A key has two forms that hash alike: its parts (the levels of a namespace and, for a table, its
// name) and its encoded bytes (iceblink/identifier.h). Hashing part by part lets a lookup start
// from a TableIdent without a buffer, and a listing from the hash of its namespace.
//
// Hash of a key = fold over its parts of mix(state, XXH3-64(part, seed)), the state starting at
// the seed; a table's name is mixed with another constant than a level is, so that the namespace
// a.b and the table a.b differ: that constant is the key's class.
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

[[nodiscard]] inline std::uint64_t mix(std::uint64_t state, std::uint64_t part_hash,
                                       std::uint64_t part_class) noexcept {
  const auto product =
      static_cast<unsigned __int128>(state ^ part_hash) * (part_class ^ (part_hash << 1 | 1));
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
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
    for (; size > 8; a += 8, b += 8, size -= 8) {
      if (load(a, std::uint64_t{}) != load(b, std::uint64_t{})) return false;
      if (size < 16) {  // the last word overlaps the one before
        const std::size_t rest = size - 8;
        return load(a + rest, std::uint64_t{}) == load(b + rest, std::uint64_t{});
      }
    }
    return load(a, std::uint64_t{}) == load(b, std::uint64_t{});
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
    state =
        key_internal::mix(state, key_internal::hash_bytes(level, seed), key_internal::kLevelClass);
  }
  return state;
}

/// The hash of a child namespace, given its parent's.
[[nodiscard]] inline std::uint64_t hash_level_below(std::uint64_t parent_hash,
                                                    std::string_view level,
                                                    std::uint64_t seed) noexcept {
  return key_internal::mix(parent_hash, key_internal::hash_bytes(level, seed),
                           key_internal::kLevelClass);
}

/// The hash of a table, given its namespace's.
[[nodiscard]] inline std::uint64_t hash_name_below(std::uint64_t namespace_hash,
                                                   std::string_view name,
                                                   std::uint64_t seed) noexcept {
  return key_internal::mix(namespace_hash, key_internal::hash_bytes(name, seed),
                           key_internal::kNameClass);
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

/// The last part of an encoded key: the table's name, or the innermost level.
[[nodiscard]] inline std::string_view leaf_of(std::string_view key) noexcept {
  const auto name_at = key.find(kKeyNameSeparator);
  if (name_at != std::string_view::npos) return key.substr(name_at + 1);
  const auto last = key.rfind(kKeyLevelSeparator);
  return last == std::string_view::npos ? key : key.substr(last + 1);
}

}  // namespace iceblink::shm
