#include "iceberg/pruning/value_range.h"

#include <cmath>
#include <compare>

namespace iceblink::iceberg {
namespace {

constexpr std::size_t kUuidBytes = 16;

bool is_number(TypeKind kind) noexcept {
  return kind == TypeKind::kFloat || kind == TypeKind::kDouble;
}

/// Whether all values that `bound` allows are less than `value`, or equal.
bool is_at_most(const ValueBound& bound, const Literal& value) noexcept {
  if (bound.tightness == BoundTightness::kPrefix && value.bytes.starts_with(bound.value.bytes)) {
    return false;
  }
  return std::is_lteq(compare(bound.value, value));
}

bool is_less(const ValueBound& bound, const Literal& value) noexcept {
  if (bound.tightness == BoundTightness::kPrefix) return is_at_most(bound, value);
  return std::is_lt(compare(bound.value, value));
}

/// Whether every value that `a` allows is allowed by `b`.
bool is_tighter(const ValueBound& a, const ValueBound& b) noexcept {
  const bool is_prefix = b.tightness == BoundTightness::kPrefix;
  if (is_prefix && a.value.bytes.starts_with(b.value.bytes)) return true;
  if (a.tightness == BoundTightness::kPrefix) return is_less(a, b.value);
  const auto order = compare(a.value, b.value);
  return std::is_lt(order) || (std::is_eq(order) && a.tightness == BoundTightness::kExact);
}

/// The order of two signed halves, which the reference library had for uuids.
std::partial_ordering compare_signed_halves(std::string_view a, std::string_view b) noexcept {
  for (std::size_t i = 0; i < kUuidBytes; ++i) {
    if (a[i] == b[i]) continue;
    const bool is_less = static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
    const bool begins_half = i % 8 == 0;
    const bool turns = begins_half && ((a[i] ^ b[i]) & 0x80) != 0;
    return is_less != turns ? std::partial_ordering::less : std::partial_ordering::greater;
  }
  return std::partial_ordering::equivalent;
}

}  // namespace

ValueRange::ValueRange(const Type& type) noexcept
    : type_(&type), may_be_nan_(is_number(type.kind)) {}

void ValueRange::only_nulls() noexcept {
  may_be_nan_ = false;
  may_be_value_ = false;
}

bool ValueRange::is_bound(const Literal& value) const noexcept {
  if (value.is_null || value.kind != type_->kind) return false;
  if (value.kind == TypeKind::kDecimal) return value.scale == type_->scale;
  if (value.kind == TypeKind::kUuid) return value.bytes.size() == kUuidBytes;
  return !is_number(value.kind) || !std::isnan(value.number);
}

void ValueRange::only(const Literal& value) noexcept {
  may_be_null_ = false;
  if (value.kind != type_->kind) return;
  if (is_number(value.kind) && std::isnan(value.number)) {
    may_be_value_ = false;
    return;
  }
  may_be_nan_ = false;
  if (!is_bound(value)) return;
  if (value.kind == TypeKind::kUuid) {
    lower_.reset();
    upper_.reset();
  }
  raise_lower({value, BoundTightness::kExact});
  reduce_upper({value, BoundTightness::kExact});
}

// Two bounds of uuids cannot be told apart, since they may be of different orders: the first
// counts.

void ValueRange::raise_lower(const ValueBound& bound) noexcept {
  if (!is_bound(bound.value)) return;
  if (lower_) {
    if (type_->kind == TypeKind::kUuid) return;
    const auto order = compare(bound.value, lower_->value);
    const bool is_exact = bound.tightness == BoundTightness::kExact;
    if (std::is_lt(order) || (std::is_eq(order) && !is_exact)) return;
  }
  lower_ = bound;
}

void ValueRange::reduce_upper(const ValueBound& bound) noexcept {
  if (!is_bound(bound.value)) return;
  if (upper_ && (type_->kind == TypeKind::kUuid || !is_tighter(bound, *upper_))) return;
  upper_ = bound;
}

void ValueRange::within_buckets(const BucketRange& buckets) noexcept {
  if (!buckets_ || buckets.count > buckets_->count) buckets_ = buckets;
}

bool ValueRange::may_match(const BoundNode& leaf) const noexcept {
  switch (leaf.kind) {
    case BoundNode::Kind::kIsNull:
      return may_be_null_;
    case BoundNode::Kind::kNotNull:
      return may_be_nan_ || may_be_value_;
    case BoundNode::Kind::kCompare:
      if (leaf.nan == NanMatch::kPossible && may_be_nan_) return true;
      return may_be_value_ && may_compare(leaf);
    default:
      return leaf.kind != BoundNode::Kind::kNever;
  }
}

bool ValueRange::may_compare(const BoundNode& leaf) const noexcept {
  const bool is_range =
      leaf.comparison != Comparison::kEqual && leaf.comparison != Comparison::kNotEqual;
  if (is_range && type_->kind == TypeKind::kUuid) return true;  // engines differ in their order
  switch (leaf.comparison) {
    case Comparison::kEqual:
      return may_equal(leaf);
    case Comparison::kNotEqual:
      return !is_single(leaf);
    case Comparison::kLess:
      return !lower_ || !std::is_gteq(compare(lower_->value, leaf.high));
    case Comparison::kLessEqual:
      return !lower_ || !std::is_gt(compare(lower_->value, leaf.high));
    case Comparison::kGreater:
      return !upper_ || !is_at_most(*upper_, leaf.low);
    case Comparison::kGreaterEqual:
      return !upper_ || !is_less(*upper_, leaf.low);
  }
  return true;
}

bool ValueRange::may_equal(const BoundNode& leaf) const noexcept {
  if (buckets_ && leaf.hash) {
    const auto positive = static_cast<std::uint32_t>(*leaf.hash) & 0x7fffffffU;
    const std::int64_t bucket = positive % buckets_->count;
    if (bucket < buckets_->first || bucket > buckets_->last) return false;
  }
  if (type_->kind == TypeKind::kUuid) return may_equal_uuid(leaf.low);
  if (lower_ && std::is_gt(compare(lower_->value, leaf.high))) return false;
  return !upper_ || !is_less(*upper_, leaf.low);
}

bool ValueRange::may_equal_uuid(const Literal& value) const noexcept {
  if (!lower_ || !upper_) return true;
  const std::string_view lower = lower_->value.bytes;
  const std::string_view upper = upper_->value.bytes;
  const bool is_within = lower <= value.bytes && value.bytes <= upper;
  const bool is_within_signed = std::is_lteq(compare_signed_halves(lower, value.bytes)) &&
                                std::is_lteq(compare_signed_halves(value.bytes, upper));
  return is_within || is_within_signed;
}

/// Whether all values are the leaf's one.
bool ValueRange::is_single(const BoundNode& leaf) const noexcept {
  return lower_ && upper_ && lower_->tightness == BoundTightness::kExact &&
         upper_->tightness == BoundTightness::kExact &&
         std::is_eq(compare(lower_->value, leaf.low)) &&
         std::is_eq(compare(upper_->value, leaf.low)) && std::is_eq(compare(leaf.low, leaf.high));
}

}  // namespace iceblink::iceberg
