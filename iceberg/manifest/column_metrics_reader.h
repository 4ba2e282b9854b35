// The maps of a data file that go from column ids to metrics, merged into one list of columns.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/metadata/manifest.h>
#include <iceblink/result.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/arena.h"
#include "iceberg/manifest/record_fields.h"

namespace iceblink::iceberg {

/// In the order of the specification.
enum class Metric : std::uint8_t {
  kColumnSize,
  kValueCount,
  kNullValueCount,
  kNanValueCount,
  kLowerBound,
  kUpperBound,
};

inline constexpr std::size_t kMetricCount = 6;

class ColumnMetricsReader {
 public:
  /// The type of one map; null: it is never there. kCorrupt: it is no such map.
  [[nodiscard]] Status bind(Metric metric, const avro::Schema* type);

  /// One map of the data file that comes next. Its values live until read(). What is wrong is told
  /// to the fault.
  void add(Metric metric, const avro::Value& map, EntryFault& fault);
  /// All that was added since the last time, by ascending column id.
  [[nodiscard]] std::span<const ColumnMetrics> read(Arena& arena);

  [[nodiscard]] std::size_t scratch_bytes() const noexcept;

 private:
  enum class Form : std::uint8_t { kAbsent, kRecords, kMap };
  struct Item {
    std::int32_t column_id;
    const avro::Value* value;
  };
  struct Map {
    Form form = Form::kAbsent;
    std::size_t key_position = 0;
    std::size_t value_position = 1;
    std::vector<Item> items;  // by ascending id
  };

  [[nodiscard]] Status bind_records(Metric metric, const avro::Schema& array, Map& map);
  void add_item(Metric metric, const avro::Value& key, const avro::Value& value, EntryFault& fault);

  std::array<Map, kMetricCount> maps_;
};

}  // namespace iceblink::iceberg
