// What is known of a column's values in a file, or in the files of a manifest; and whether a
// comparison may hold for one of them.
//
// Thread safety: plain values.
#pragma once

#include <iceblink/metadata/literal.h>
#include <iceblink/metadata/schema.h>

#include <cstdint>
#include <optional>

#include "iceberg/pruning/bound_predicate.h"

namespace iceblink::iceberg {

enum class BoundTightness : std::uint8_t {
  kExact,   ///< the least or the greatest value itself, or as good as that
  kCut,     ///< beyond all values
  kPrefix,  ///< upper bounds: all values are less, equal, or begin with it
};

struct ValueBound {
  Literal value;
  BoundTightness tightness = BoundTightness::kExact;
};

/// All values are in buckets from the first to the last of `count`.
struct BucketRange {
  std::uint32_t count = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

class ValueRange {
 public:
  /// Anything that a column of this type can have.
  explicit ValueRange(const Type& type) noexcept;

  [[nodiscard]] const Type& type() const noexcept { return *type_; }

  // More is known.
  void exclude_nulls() noexcept { may_be_null_ = false; }
  void exclude_nans() noexcept { may_be_nan_ = false; }
  /// Values that are neither null nor NaN.
  void exclude_values() noexcept { may_be_value_ = false; }
  void only_nulls() noexcept;
  /// One and the same value, no null, in all rows.
  void only(const Literal& value) noexcept;
  // Ignored: a NaN, another type's value.
  void raise_lower(const ValueBound& bound) noexcept;
  void reduce_upper(const ValueBound& bound) noexcept;
  void within_buckets(const BucketRange& buckets) noexcept;

  /// A leaf of a bound predicate whose column this is.
  [[nodiscard]] bool may_match(const BoundNode& leaf) const noexcept;

 private:
  [[nodiscard]] bool may_compare(const BoundNode& leaf) const noexcept;
  [[nodiscard]] bool may_equal(const BoundNode& leaf) const noexcept;
  [[nodiscard]] bool may_equal_uuid(const Literal& value) const noexcept;
  [[nodiscard]] bool is_single(const BoundNode& leaf) const noexcept;
  [[nodiscard]] bool is_bound(const Literal& value) const noexcept;

  const Type* type_;
  bool may_be_null_ = true;
  bool may_be_nan_;
  bool may_be_value_ = true;
  std::optional<ValueBound> lower_;
  std::optional<ValueBound> upper_;
  std::optional<BucketRange> buckets_;
};

}  // namespace iceblink::iceberg
