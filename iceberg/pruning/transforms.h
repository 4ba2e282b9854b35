// Partition transforms (Iceberg table specification, "Partition Transforms", appendix B).
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/literal.h>
#include <iceblink/metadata/partitioning.h>
#include <iceblink/metadata/schema.h>

#include <cstdint>
#include <optional>

namespace iceblink::iceberg {

/// The type of what `transform` makes of values of `source`. Nothing: it is unknown, or does not
/// take such values.
[[nodiscard]] std::optional<Type> result_type(const Transform& transform,
                                              const Type& source) noexcept;

/// What the transform makes of a value. A null gives a null. Nothing where result_type() has
/// nothing. Bytes are those of `value`, or the first of them.
[[nodiscard]] std::optional<Literal> apply(const Transform& transform,
                                           const Literal& value) noexcept;

/// Murmur3, 32 bit, seed 0, of a value's bytes as appendix B has them. Nothing: not of this type.
[[nodiscard]] std::optional<std::int32_t> bucket_hash(const Literal& value) noexcept;

}  // namespace iceblink::iceberg
