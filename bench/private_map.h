// The practical limit of a lookup: a hash map inside the process, looked up from the same
// TableIdent, in the two forms that are fastest.
//
// Thread safety: that of the map.
#pragma once

#include <iceblink/identifier.h>

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstring>
#include <string>
#include <string_view>

#include "shm/key.h"

namespace iceblink::bench {

/// Hashed part by part with XXH3, so that no key is assembled. Its own code: the segment's hash may
/// change, and this side stays what it is.
struct HashByParts {
  using is_transparent = void;
  using is_avalanching = void;
  std::size_t operator()(const std::string& key) const noexcept {
    const auto name_at = key.find(kNameSeparator);
    std::string_view levels = std::string_view(key).substr(0, name_at);
    std::uint64_t state = kSeed;
    while (true) {
      const auto end = levels.find(kLevelSeparator);
      state = mix(state, levels.substr(0, end), kLevelClass);
      if (end == std::string_view::npos) break;
      levels.remove_prefix(end + 1);
    }
    return mix(state, std::string_view(key).substr(name_at + 1), kNameClass);
  }
  std::size_t operator()(const shm::TableKey& key) const noexcept {
    std::uint64_t state = kSeed;
    for (const auto& level : key.levels) state = mix(state, level, kLevelClass);
    return mix(state, key.name, kNameClass);
  }

 private:
  static constexpr std::uint64_t kSeed = 0x1234;
  static constexpr std::uint64_t kLevelClass = 0x9e3779b97f4a7c15;
  static constexpr std::uint64_t kNameClass = 0xd1b54a32d192ed03;
  static std::uint64_t mix(std::uint64_t state, std::string_view part,
                           std::uint64_t part_class) noexcept {
    const std::uint64_t hash = XXH3_64bits_withSeed(part.data(), part.size(), kSeed);
    const auto product =
        static_cast<unsigned __int128>(state ^ hash) * (part_class ^ (hash << 1 | 1));
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
};
struct EqualByParts {
  using is_transparent = void;
  bool operator()(const std::string& a, const std::string& b) const noexcept { return a == b; }
  bool operator()(const shm::TableKey& a, const std::string& b) const noexcept {
    return a.size() == b.size() && a.equals(b.data());
  }
};
using MapByParts = boost::unordered_flat_map<std::string, std::string, HashByParts, EqualByParts>;

/// Hashed whole: the key is assembled in a buffer on the stack.
struct HashWhole {
  using is_transparent = void;
  using is_avalanching = void;
  std::size_t operator()(std::string_view key) const noexcept {
    return XXH3_64bits(key.data(), key.size());
  }
};
struct EqualWhole {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const noexcept { return a == b; }
};
using MapByBytes = boost::unordered_flat_map<std::string, std::string, HashWhole, EqualWhole>;

/// An encoded identifier on the stack. The identifier must be valid.
class StackKey {
 public:
  explicit StackKey(const TableIdent& ident) noexcept {
    char* at = buffer_.data();
    for (std::size_t i = 0; i < ident.levels.size(); ++i) {
      const auto& level = ident.levels[i];
      std::memcpy(at, level.data(), level.size());
      at += level.size();
      *at++ = i + 1 < ident.levels.size() ? kLevelSeparator : kNameSeparator;
    }
    std::memcpy(at, ident.name.data(), ident.name.size());
    size_ = static_cast<std::size_t>(at - buffer_.data()) + ident.name.size();
  }
  [[nodiscard]] std::string_view view() const noexcept { return {buffer_.data(), size_}; }

 private:
  std::array<char, kEncodedIdentifierBytesMax + 1> buffer_;
  std::size_t size_;
};

}  // namespace iceblink::bench
