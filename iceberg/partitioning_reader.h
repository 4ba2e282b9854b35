// Partition specs and sort orders from JSON (Iceberg table specification, appendix C).
#pragma once

#include <iceblink/metadata/partitioning.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

/// The first id that a partition field gets where none is written.
inline constexpr std::int32_t kFirstPartitionFieldId = 1000;

/// Names in any case. What is not known is kUnknown, with its text.
[[nodiscard]] Transform parse_transform(std::string_view text) noexcept;

/// A field of a spec and whether its id is written.
struct WrittenPartitionField {
  PartitionField field;
  bool has_id = false;
};
enum class NullIds : std::uint8_t { kAreRefused, kAreAbsent };
[[nodiscard]] WrittenPartitionField read_partition_field(JsonReader& reader, NullIds null_ids);

/// The fields of a spec: an array. Where none of them has a field-id, they are counted from 1000,
/// as the first writers meant it.
[[nodiscard]] std::span<const PartitionField> read_partition_fields(JsonReader& reader);

/// An array of specs, whose ids differ.
[[nodiscard]] std::span<const PartitionSpec> read_partition_specs(JsonReader& reader);

/// One order. kMadeUp: without an order-id it is 1, or 0 where there are no fields; null is absent.
enum class OrderId : std::uint8_t { kRequired, kMadeUp };
[[nodiscard]] SortOrder read_sort_order(JsonReader& reader, OrderId order_id);

/// An array of orders, whose ids differ.
[[nodiscard]] std::span<const SortOrder> read_sort_orders(JsonReader& reader);

}  // namespace iceblink::iceberg
