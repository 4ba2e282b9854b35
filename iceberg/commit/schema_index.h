// The fields of one schema by id and by full name ("location.lat", "tags.element").
//
// Full names are found by their hash and never spelled out: a struct with a long name and many
// fields would take as much memory as their product.
//
// Thread safety: constant after construction.
#pragma once

#include <iceblink/metadata/schema.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "iceberg/commit/keyed_list.h"

namespace iceblink::iceberg {

class SchemaIndex {
 public:
  /// Borrows from the schema's fields. O(fields), and the length of their own names. Throws
  /// std::bad_alloc.
  SchemaIndex(const Schema& schema, std::uint64_t hash_seed);

  struct Entry {
    const Field* field = nullptr;
    bool is_repeated = false;  // within a list or a map: not one value for each row
  };
  /// Null: there is none.
  [[nodiscard]] const Entry* find(std::int32_t id) const noexcept;
  [[nodiscard]] const Field* find(std::string_view full_name) const noexcept;

 private:
  /// Of a full name: 128 bits under a seed that no client knows, which stand for the name.
  struct NameKey {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool operator==(const NameKey&) const = default;
  };
  struct NameKeyHash {
    [[nodiscard]] std::size_t operator()(const NameKey& key) const noexcept { return key.low; }
  };
  class NameHash;

  void add(std::span<const Field> fields, const NameHash& prefix, bool is_repeated);

  const std::uint64_t hash_seed_;
  SeededMap<std::int32_t, Entry> by_id_;
  std::unordered_map<NameKey, const Field*, NameKeyHash> by_name_;
};

}  // namespace iceblink::iceberg
