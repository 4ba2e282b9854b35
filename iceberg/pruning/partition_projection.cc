#include "iceberg/pruning/partition_projection.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "iceberg/pruning/calendar.h"
#include "iceberg/pruning/transforms.h"
#include "iceberg/pruning/wide_integer.h"
#include "iceberg/utf8.h"

namespace iceblink::iceberg {
namespace {

/// The values that a partition may have been made from: from the one bound to the other.
struct SourceBounds {
  std::optional<ValueBound> lower;
  std::optional<ValueBound> upper;
};

bool is_integer(TypeKind kind) noexcept {
  return kind == TypeKind::kInt || kind == TypeKind::kLong;
}
bool is_number(TypeKind kind) noexcept {
  return kind == TypeKind::kFloat || kind == TypeKind::kDouble;
}

/// As one of `kind`, where the one was promoted to the other.
Literal promoted(const Literal& value, TypeKind kind) noexcept {
  Literal same = value;
  const bool fits =
      (is_integer(value.kind) && is_integer(kind)) || (is_number(value.kind) && is_number(kind));
  if (fits) same.kind = kind;
  return same;
}

std::optional<ValueBound> integer_bound(TypeKind kind, WideInteger value) noexcept {
  if (!is_int64(value)) return std::nullopt;
  return ValueBound{Literal::of_integer(kind, static_cast<std::int64_t>(value)),
                    BoundTightness::kExact};
}

// ---- Truncated values

SourceBounds of_truncated_integer(const Literal& value, std::uint32_t width) noexcept {
  // What is no multiple was wrapped around at the type's least value, or is no such partition.
  if (value.integer % width != 0) return {};
  return {integer_bound(value.kind, value.integer),
          integer_bound(value.kind, WideInteger{value.integer} + width - 1)};
}

SourceBounds of_truncated_decimal(const Literal& value, std::uint32_t width) noexcept {
  const WideInteger lower = wide(value.unscaled);
  if (lower % width != 0) return {};
  SourceBounds bounds;
  bounds.lower = {value, BoundTightness::kExact};
  WideInteger upper = 0;
  if (!__builtin_add_overflow(lower, WideInteger{width} - 1, &upper)) {
    bounds.upper = {
        Literal::of_decimal(narrow(static_cast<UnsignedWideInteger>(upper)), value.scale),
        BoundTightness::kExact};
  }
  return bounds;
}

/// Also of a bound in a manifest list, which may be longer than what was cut.
SourceBounds of_truncated_bytes(const Transform& transform, const Literal& value) noexcept {
  SourceBounds bounds;
  bounds.lower = {value, BoundTightness::kCut};
  const auto cut = apply(transform, value);
  if (!cut) return bounds;
  // Where there was room for more, nothing was cut off.
  Transform shorter = transform;
  shorter.parameter = transform.parameter - 1;
  const auto shorter_cut = apply(shorter, value);
  const bool has_room =
      value.bytes.empty() || (shorter_cut && shorter_cut->bytes.size() == value.bytes.size());
  const bool is_whole = has_room && (value.kind != TypeKind::kString || is_utf8(value.bytes));
  bounds.upper = {*cut, is_whole ? BoundTightness::kCut : BoundTightness::kPrefix};
  return bounds;
}

SourceBounds of_truncated(const Transform& transform, const Literal& value) noexcept {
  switch (value.kind) {
    case TypeKind::kInt:
    case TypeKind::kLong:
      return of_truncated_integer(value, transform.parameter);
    case TypeKind::kDecimal:
      return of_truncated_decimal(value, transform.parameter);
    default:
      return of_truncated_bytes(transform, value);
  }
}

// ---- Periods of time

/// In the unit of the column's type.
WideInteger begin_of_period(TransformKind transform, TypeKind source,
                            std::int64_t period) noexcept {
  WideInteger seconds = 0;
  if (transform == TransformKind::kHour) {
    seconds = WideInteger{period} * 3600;
  } else {
    std::int64_t days = period;
    if (transform == TransformKind::kYear) days = days_since_epoch({1970 + period, 1, 1});
    if (transform == TransformKind::kMonth) {
      const auto month = static_cast<unsigned>(floor_modulo<std::int64_t>(period, 12)) + 1;
      days = days_since_epoch({1970 + floor_divide<std::int64_t>(period, 12), month, 1});
    }
    if (source == TypeKind::kDate) return days;
    seconds = WideInteger{days} * kSecondsInDay;
  }
  const bool is_fine = source == TypeKind::kTimestampNs || source == TypeKind::kTimestampTzNs;
  return seconds * (is_fine ? 1'000'000'000 : 1'000'000);
}

SourceBounds of_period(TransformKind transform, TypeKind source, const Literal& value) noexcept {
  // Days are dates.
  if (value.kind != TypeKind::kInt && value.kind != TypeKind::kDate) return {};
  const std::int64_t period = value.integer;
  if (period < std::numeric_limits<std::int32_t>::min() ||
      period > std::numeric_limits<std::int32_t>::max()) {
    return {};
  }
  // Old writers rounded what is before 1970 up, so that it is found one period later.
  const bool is_days = source == TypeKind::kDate && transform == TransformKind::kDay;
  const std::int64_t first = period <= 0 && !is_days ? period - 1 : period;
  return {integer_bound(source, begin_of_period(transform, source, first)),
          integer_bound(source, begin_of_period(transform, source, period + 1) - 1)};
}

SourceBounds source_bounds(const Transform& transform, const Type& source,
                           const Literal& value) noexcept {
  switch (transform.kind) {
    case TransformKind::kTruncate:
      return of_truncated(transform, promoted(value, source.kind));
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kDay:
    case TransformKind::kHour:
      return of_period(transform.kind, source.kind, value);
    default:
      return {};
  }
}

bool is_of_kind(const Literal& value, TypeKind kind) noexcept {
  return !value.is_null && value.kind == kind;
}

// ---- Values that are wrapped around
//
// What a transform makes of the least and the greatest values of some types does not fit its result
// type, and is found at that type's other end.

bool is_microseconds(TypeKind kind) noexcept {
  return kind == TypeKind::kTimestamp || kind == TypeKind::kTimestampTz;
}

constexpr std::int64_t kMicrosecondsInHour = 3'600'000'000;
constexpr std::int64_t kHoursInWrap = std::int64_t{1} << 32;
constexpr std::int64_t kGreatestWrappedHour =
    std::numeric_limits<std::int64_t>::max() / kMicrosecondsInHour - kHoursInWrap;
constexpr std::int64_t kLeastWrappedHour =
    floor_divide(std::numeric_limits<std::int64_t>::min(), kMicrosecondsInHour) + kHoursInWrap;

/// Whether the partition, or a greater one, may be that of the least values.
bool may_be_of_least(const Transform& transform, TypeKind source, const Literal& value) noexcept {
  if (transform.kind == TransformKind::kHour) {
    return is_microseconds(source) && value.integer >= kLeastWrappedHour;
  }
  if (transform.kind != TransformKind::kTruncate || !is_integer(source)) return false;
  const std::int64_t greatest = source == TypeKind::kInt ? std::numeric_limits<std::int32_t>::max()
                                                         : std::numeric_limits<std::int64_t>::max();
  return value.integer > greatest - std::int64_t{transform.parameter} ||
         value.integer % transform.parameter != 0;
}

/// Whether the partition, or a smaller one, may be that of the greatest values.
bool may_be_of_greatest(const Transform& transform, TypeKind source,
                        const Literal& value) noexcept {
  return transform.kind == TransformKind::kHour && is_microseconds(source) &&
         value.integer <= kGreatestWrappedHour;
}

std::optional<Literal> decoded(const Type& type,
                               const std::optional<std::string_view>& bytes) noexcept {
  if (!bytes) return std::nullopt;
  const auto value = decode_single_value(type, *bytes);
  return value ? std::optional(*value) : std::nullopt;
}

void narrow_by_bounds(const Transform& transform, const std::optional<Literal>& lower,
                      const std::optional<Literal>& upper, ValueRange& range) noexcept {
  const Type& source = range.type();
  if (transform.kind == TransformKind::kIdentity) {
    const bool may_be_cut = source.kind == TypeKind::kString || source.kind == TypeKind::kBinary ||
                            source.kind == TypeKind::kFixed;
    const auto tightness = may_be_cut ? BoundTightness::kCut : BoundTightness::kExact;
    if (lower) range.raise_lower({*lower, tightness});
    if (upper) range.reduce_upper({*upper, tightness});
    return;
  }
  if (transform.kind == TransformKind::kBucket) {
    if (lower && upper) {
      range.within_buckets({transform.parameter, lower->integer, upper->integer});
    }
    return;
  }
  // One bound alone does not tell what may have wrapped around to the other end.
  if (!lower || !upper) return;
  const auto from = source_bounds(transform, source, *lower);
  const auto to = source_bounds(transform, source, *upper);
  if (from.lower && !may_be_of_least(transform, source.kind, *upper)) {
    range.raise_lower(*from.lower);
  }
  if (to.upper && !may_be_of_greatest(transform, source.kind, *lower)) {
    range.reduce_upper(*to.upper);
  }
}

}  // namespace

void narrow_by_partition(const Transform& transform, const Literal& value,
                         ValueRange& range) noexcept {
  const auto type = result_type(transform, range.type());
  if (!type || transform.kind == TransformKind::kVoid) return;
  if (value.is_null) return range.only_nulls();
  range.exclude_nulls();
  if (transform.kind == TransformKind::kIdentity) {
    return range.only(promoted(value, range.type().kind));
  }
  if (transform.kind == TransformKind::kBucket) {
    if (is_of_kind(value, TypeKind::kInt)) {
      range.within_buckets({transform.parameter, value.integer, value.integer});
    }
    return;
  }
  const bool is_hour = transform.kind == TransformKind::kHour;
  if (is_hour && (may_be_of_least(transform, range.type().kind, value) ||
                  may_be_of_greatest(transform, range.type().kind, value))) {
    return;
  }
  const auto bounds = source_bounds(transform, range.type(), value);
  if (bounds.lower) range.raise_lower(*bounds.lower);
  if (bounds.upper) range.reduce_upper(*bounds.upper);
}

void narrow_by_summary(const Transform& transform, const FieldSummary& summary,
                       ValueRange& range) noexcept {
  const auto type = result_type(transform, range.type());
  if (!type || transform.kind == TransformKind::kVoid) return;
  if (!summary.contains_null) range.exclude_nulls();
  if (summary.contains_nan == false) range.exclude_nans();
  const bool has_bounds = summary.lower_bound || summary.upper_bound;
  if (!has_bounds) {
    // There are bounds unless all values are null or NaN.
    if (summary.contains_null || summary.contains_nan == true) range.exclude_values();
    return;
  }
  narrow_by_bounds(transform, decoded(*type, summary.lower_bound),
                   decoded(*type, summary.upper_bound), range);
}

}  // namespace iceblink::iceberg
