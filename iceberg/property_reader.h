// Maps of strings: properties, summaries.
#pragma once

#include <iceblink/metadata/table_metadata.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

enum class PropertyValues : std::uint8_t {
  kStrings,
  kConverted,  ///< numbers and booleans are taken as the text that they are written as
};

/// An object, or null, which is an empty one. Reported: a key that occurs twice, other values.
[[nodiscard]] std::span<const Property> read_properties(JsonReader& reader, PropertyValues values);

/// Finds keys that occur twice among few or many. While there are few, each is compared with those
/// before it, if it may be among them at all; many are sorted at the end.
class RepeatedKeys {
 public:
  /// `before`: the elements whose keys have been added; `key_of` tells an element's. The reader
  /// stands at the key.
  template <typename Elements, typename KeyOf>
  void add(JsonReader& reader, std::string_view key, const Elements& before, KeyOf key_of) {
    const std::uint64_t bit = std::uint64_t{1} << (bucket_of(key) & 63);
    if ((seen_ & bit) != 0 && before.size() <= kFew) {
      for (const auto& element : before) {
        if (key_of(element) == key) reader.report("occurs twice");
      }
    }
    seen_ |= bit;
  }
  /// The reader stands at the object.
  template <typename Elements, typename KeyOf>
  void finish(JsonReader& reader, const Elements& all, KeyOf key_of) {
    if (all.size() <= kFew + 1) return;
    std::vector<std::string_view> keys;
    keys.reserve(all.size());
    for (const auto& element : all) keys.push_back(key_of(element));
    report_repeated(reader, std::move(keys));
  }

 private:
  static constexpr std::size_t kFew = 64;

  static void report_repeated(JsonReader& reader, std::vector<std::string_view> keys);
  [[nodiscard]] static std::size_t bucket_of(std::string_view key) noexcept {
    if (key.empty()) return 0;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(key[i]); };
    return key.size() * 7 + byte(0) * 3U + byte(key.size() / 2) * 5U + byte(key.size() - 1);
  }

  std::uint64_t seen_ = 0;  // a bit for each bucket
};

}  // namespace iceblink::iceberg
