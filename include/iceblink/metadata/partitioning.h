// Partition specs and sort orders (Iceberg table specification, "Partitioning", "Sorting").
//
// All of it is plain and immutable, and borrows from the document that it belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace iceblink {

enum class TransformKind : std::uint8_t {
  kIdentity,
  kBucket,
  kTruncate,
  kYear,
  kMonth,
  kDay,
  kHour,
  kVoid,
  kUnknown,  ///< one that this version does not know; readers must not prune by it
};

struct Transform {
  TransformKind kind = TransformKind::kUnknown;
  std::uint32_t parameter = 0;  ///< bucket: how many; truncate: the width
  std::string_view text;        ///< as written
};

struct PartitionField {
  std::int32_t field_id = 0;
  std::string_view name;
  Transform transform;
  std::span<const std::int32_t> source_ids;  ///< one; v3: of a multi-argument transform, several
};

struct PartitionSpec {
  std::int32_t spec_id = 0;
  std::span<const PartitionField> fields;
};

enum class SortDirection : std::uint8_t { kAscending, kDescending };
enum class NullOrder : std::uint8_t { kNullsFirst, kNullsLast };

struct SortField {
  Transform transform;
  std::span<const std::int32_t> source_ids;  ///< one; v3: of a multi-argument transform, several
  SortDirection direction = SortDirection::kAscending;
  NullOrder null_order = NullOrder::kNullsFirst;
};

/// Order 0 is "unsorted" and has no fields.
struct SortOrder {
  std::int32_t order_id = 0;
  std::span<const SortField> fields;
};

}  // namespace iceblink
