// Texts that are equal where two schemas, specs or sort orders are, whatever their ids: so that one
// that a table has already is found without comparing it with all of them.
//
// Thread safety: pure functions. Linear. Throw std::bad_alloc.
#pragma once

#include <iceblink/metadata/partitioning.h>
#include <iceblink/metadata/schema.h>

#include <cstdint>
#include <span>
#include <string>

namespace iceblink::iceberg {

/// Fields with all that is said of them, and identifier fields in any order.
[[nodiscard]] std::string structure_key(const Schema& schema);
/// Names, transforms and sources, in order. Not the fields' ids.
[[nodiscard]] std::string structure_key(std::span<const PartitionField> fields);
[[nodiscard]] std::string structure_key(std::span<const SortField> fields);
/// A transform of columns: what makes two partition fields of two specs the same.
[[nodiscard]] std::string structure_key(const Transform& transform,
                                        std::span<const std::int32_t> source_ids);

}  // namespace iceblink::iceberg
