#include "iceberg/manifest/partition_key.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string_view>

namespace iceblink::iceberg {
namespace {

constexpr std::uint64_t kNull = 0x6e756c6c;
constexpr std::uint64_t kNan = 0x6e616e;

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32);
}

/// The same for values that are the same; of which kind they are does not matter.
std::uint64_t bits_of(const Literal& value) noexcept {
  if (value.is_null) return kNull;
  switch (value.kind) {
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      if (std::isnan(value.number)) return kNan;
      return std::bit_cast<std::uint64_t>(value.number + 0.0);  // -0.0 becomes 0.0
    case TypeKind::kDecimal:
      return mixed(static_cast<std::uint64_t>(value.unscaled.high), value.unscaled.low);
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return std::hash<std::string_view>{}(value.bytes);
    default:
      return static_cast<std::uint64_t>(value.integer);
  }
}

}  // namespace

bool operator==(const PartitionKey& a, const PartitionKey& b) noexcept {
  return a.spec_id == b.spec_id &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), is_same);
}

std::size_t PartitionKeyHash::operator()(const PartitionKey& key) const noexcept {
  std::uint64_t hash = static_cast<std::uint32_t>(key.spec_id);
  for (const Literal& value : key.values) hash = mixed(hash, bits_of(value));
  return hash;
}

}  // namespace iceblink::iceberg
