#include "iceberg/manifest/partition_key.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string_view>

#include "iceberg/pruning/literal_storage.h"

namespace iceblink::iceberg {
namespace {

constexpr std::uint64_t kNull = 0x6e756c6c;
constexpr std::uint64_t kNan = 0x6e616e;

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32);
}

/// Where a field's type is not known, manifests may have its values as other kinds of one storage.
bool is_same_in_partition(const Literal& a, const Literal& b) noexcept {
  if (a.is_null || b.is_null) return a.is_null && b.is_null;
  if (a.kind == b.kind) return is_same(a, b);
  if (storage_of(a.kind) != storage_of(b.kind)) return false;
  Literal as = b;
  as.kind = a.kind;
  return is_same(a, as);
}

/// The same for values that are the same; of which kind they are does not matter.
std::uint64_t bits_of(const Literal& value) noexcept {
  if (value.is_null) return kNull;
  switch (storage_of(value.kind)) {
    case LiteralStorage::kNone:
    case LiteralStorage::kInteger:
      break;
    case LiteralStorage::kNumber:
      if (std::isnan(value.number)) return kNan;
      return std::bit_cast<std::uint64_t>(value.number + 0.0);  // -0.0 becomes 0.0
    case LiteralStorage::kDecimal:
      return mixed(static_cast<std::uint64_t>(value.unscaled.high), value.unscaled.low);
    case LiteralStorage::kBytes:
      return std::hash<std::string_view>{}(value.bytes);
  }
  return static_cast<std::uint64_t>(value.integer);
}

}  // namespace

bool operator==(const PartitionKey& a, const PartitionKey& b) noexcept {
  return a.spec_id == b.spec_id && std::equal(a.values.begin(), a.values.end(), b.values.begin(),
                                              b.values.end(), is_same_in_partition);
}

std::size_t PartitionKeyHash::operator()(const PartitionKey& key) const noexcept {
  std::uint64_t hash = static_cast<std::uint32_t>(key.spec_id);
  for (const Literal& value : key.values) hash = mixed(hash, bits_of(value));
  return hash;
}

}  // namespace iceblink::iceberg
