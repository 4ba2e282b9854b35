// The fields of one schema by id and by full name ("location.lat", "tags.element").
//
// Thread safety: constant after construction.
#pragma once

#include <iceblink/metadata/schema.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "iceberg/commit/keyed_list.h"

namespace iceblink::iceberg {

class SchemaIndex {
 public:
  /// Borrows from the schema's fields. O(fields), and the length of their full names. Throws
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
  struct NameHash : KeyHash {
    using is_transparent = void;
  };

  void add(std::span<const Field> fields, const std::string& path, bool is_repeated);

  SeededMap<std::int32_t, Entry> by_id_;
  std::unordered_map<std::string, const Field*, NameHash, std::equal_to<>> by_name_;
};

}  // namespace iceblink::iceberg
