// What a partition says of the column that it was made from (Iceberg table specification, "Scan
// Planning": inclusive projection).
//
// A partition's value stands for a range of the column's: what a truncated value may have been cut
// from, the days of a year. So predicates need not be projected: they meet that range.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/literal.h>
#include <iceblink/metadata/manifest.h>
#include <iceblink/metadata/partitioning.h>

#include "iceberg/pruning/value_range.h"

namespace iceblink::iceberg {

/// `value`: of a file's partition, made by `transform` from the column of `range`. What is no value
/// of such a partition says nothing.
void narrow_by_partition(const Transform& transform, const Literal& value,
                         ValueRange& range) noexcept;

/// The same of many files at once, by a manifest list. What cannot be decoded says nothing.
void narrow_by_summary(const Transform& transform, const FieldSummary& summary,
                       ValueRange& range) noexcept;

}  // namespace iceblink::iceberg
