// A partition as deletes are matched by it: a spec, and its values.
//
// Thread safety: immutable values.
#pragma once

#include <iceblink/metadata/manifest.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace iceblink::iceberg {

/// Borrows the values.
struct PartitionKey {
  std::int32_t spec_id = 0;
  std::span<const Literal> values;

  [[nodiscard]] static PartitionKey of(const DataFile& file) noexcept {
    return {file.spec_id, file.partition};
  }

  /// One spec, and value by value the same (is_same), whatever kind of integer, number or bytes
  /// they are: a field whose type is not known has the kind that its manifest was written with.
  friend bool operator==(const PartitionKey& a, const PartitionKey& b) noexcept;
};

struct PartitionKeyHash {
  [[nodiscard]] std::size_t operator()(const PartitionKey& key) const noexcept;
};

}  // namespace iceblink::iceberg
