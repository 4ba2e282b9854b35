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

/// How a value is held. Where a field's type is not known, manifests may have it as other kinds of
/// one form.
enum class Form : std::uint8_t { kInteger, kNumber, kDecimal, kBytes };

Form form_of(TypeKind kind) noexcept {
  switch (kind) {
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return Form::kNumber;
    case TypeKind::kDecimal:
      return Form::kDecimal;
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return Form::kBytes;
    default:
      return Form::kInteger;
  }
}

bool is_same_in_partition(const Literal& a, const Literal& b) noexcept {
  if (a.is_null || b.is_null) return a.is_null && b.is_null;
  if (a.kind == b.kind) return is_same(a, b);
  if (form_of(a.kind) != form_of(b.kind)) return false;
  Literal as = b;
  as.kind = a.kind;
  return is_same(a, as);
}

/// The same for values that are the same; of which kind they are does not matter.
std::uint64_t bits_of(const Literal& value) noexcept {
  if (value.is_null) return kNull;
  switch (form_of(value.kind)) {
    case Form::kInteger:
      break;
    case Form::kNumber:
      if (std::isnan(value.number)) return kNan;
      return std::bit_cast<std::uint64_t>(value.number + 0.0);  // -0.0 becomes 0.0
    case Form::kDecimal:
      return mixed(static_cast<std::uint64_t>(value.unscaled.high), value.unscaled.low);
    case Form::kBytes:
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
