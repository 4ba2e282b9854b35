#include "iceberg/manifest/column_metrics_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>

namespace iceblink::iceberg {
namespace {

using avro::Kind;

struct MetricIds {
  std::string_view name;
  std::int32_t map;
  std::int32_t key;
  std::int32_t value;
};

constexpr MetricIds kIds[kMetricCount] = {
    {"column_sizes", 108, 117, 118},      {"value_counts", 109, 119, 120},
    {"null_value_counts", 110, 121, 122}, {"nan_value_counts", 137, 138, 139},
    {"lower_bounds", 125, 126, 127},      {"upper_bounds", 128, 129, 130}};

const MetricIds& ids_of(Metric metric) noexcept {
  return kIds[static_cast<std::size_t>(metric)];
}

bool is_bound(Metric metric) noexcept {
  return metric >= Metric::kLowerBound;
}

/// The column's id; nothing: it is none.
std::optional<std::int32_t> column_id_of(const avro::Value& key) noexcept {
  if (key.kind == Kind::kInt || key.kind == Kind::kLong) {
    if (key.integer < std::numeric_limits<std::int32_t>::min() ||
        key.integer > std::numeric_limits<std::int32_t>::max()) {
      return std::nullopt;
    }
    return static_cast<std::int32_t>(key.integer);
  }
  if (key.kind != Kind::kString) return std::nullopt;
  std::int32_t id = 0;
  const char* const end = key.bytes.data() + key.bytes.size();
  const auto parsed = std::from_chars(key.bytes.data(), end, id);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return id;
}

void assign(ColumnMetrics& column, Metric metric, const avro::Value& value, Arena& arena) {
  // A count below 0 is how some writers say that they did not count.
  const auto count = [&] { return std::max(value.integer, kNotCounted); };
  switch (metric) {
    case Metric::kColumnSize:
      column.column_size = count();
      return;
    case Metric::kValueCount:
      column.value_count = count();
      return;
    case Metric::kNullValueCount:
      column.null_value_count = count();
      return;
    case Metric::kNanValueCount:
      column.nan_value_count = count();
      return;
    case Metric::kLowerBound:
      column.lower_bound = arena.copy(value.bytes);
      return;
    case Metric::kUpperBound:
      column.upper_bound = arena.copy(value.bytes);
      return;
  }
}

Status check_value_type(Metric metric, const avro::Schema& type) {
  const MetricIds& ids = ids_of(metric);
  const std::string what = text_of(ids.value, std::string(ids.name) + ".value");
  ICEBLINK_ASSIGN_OR_RETURN(const avro::Schema* const value, value_type(type, what));
  if (value == nullptr) return Ok{};
  const bool fits = is_bound(metric) ? value->kind == Kind::kBytes || value->kind == Kind::kFixed
                                     : value->kind == Kind::kInt || value->kind == Kind::kLong;
  if (fits) return Ok{};
  return Error(ErrorKind::kCorrupt, {what, " is ", with_article(value->kind), ", and has to be ",
                                     is_bound(metric) ? "bytes" : "an int or a long"});
}

}  // namespace

Status ColumnMetricsReader::bind(Metric metric, const avro::Schema* type) {
  if (type == nullptr) return Ok{};
  Map& map = maps_[static_cast<std::size_t>(metric)];
  if (type->kind == Kind::kArray) return bind_records(metric, *type, map);
  map.form = Form::kMap;
  return check_value_type(metric, *type->children[0]);
}

Status ColumnMetricsReader::bind_records(Metric metric, const avro::Schema& array, Map& map) {
  const MetricIds& ids = ids_of(metric);
  const std::string what = text_of(ids.map, ids.name);
  ICEBLINK_ASSIGN_OR_RETURN(const avro::Schema* const record, value_type(*array.children[0], what));
  if (record == nullptr) return Ok{};
  if (record->kind != Kind::kRecord || record->fields.size() < 2) {
    return Error(ErrorKind::kCorrupt, {what, " is not made of keys and values"});
  }
  map.form = Form::kRecords;
  // Some writers leave the ids out: then the first is the key.
  for (std::size_t i = 0; i < record->fields.size(); ++i) {
    if (record->fields[i].field_id == ids.key) map.key_position = i;
    if (record->fields[i].field_id == ids.value) map.value_position = i;
  }
  if (map.key_position == map.value_position) {
    return Error(ErrorKind::kCorrupt, {what, " is not made of keys and values"});
  }
  const std::string key_name = text_of(ids.key, std::string(ids.name) + ".key");
  ICEBLINK_ASSIGN_OR_RETURN(const avro::Schema* const key,
                            value_type(*record->fields[map.key_position].type, key_name));
  if (key != nullptr && key->kind != Kind::kInt && key->kind != Kind::kLong) {
    return Error(ErrorKind::kCorrupt,
                 {key_name, " is ", with_article(key->kind), ", and has to be an int"});
  }
  return check_value_type(metric, *record->fields[map.value_position].type);
}

void ColumnMetricsReader::add(Metric metric, const avro::Value& map, EntryFault& fault) {
  Map& bound = maps_[static_cast<std::size_t>(metric)];
  bound.items.clear();
  if (bound.form == Form::kMap) {
    for (std::size_t i = 0; i + 1 < map.children.size(); i += 2) {
      add_item(metric, map.children[i], map.children[i + 1], fault);
    }
  } else if (bound.form == Form::kRecords) {
    for (const avro::Value& entry : map.children) {
      if (entry.is_null()) continue;
      add_item(metric, entry.children[bound.key_position], entry.children[bound.value_position],
               fault);
    }
  }
  const auto before = [](const Item& a, const Item& b) { return a.column_id < b.column_id; };
  if (!std::is_sorted(bound.items.begin(), bound.items.end(), before)) {
    std::sort(bound.items.begin(), bound.items.end(), before);
  }
  const auto repeated =
      std::adjacent_find(bound.items.begin(), bound.items.end(),
                         [](const Item& a, const Item& b) { return a.column_id == b.column_id; });
  if (repeated != bound.items.end()) {
    fault.set(std::string("data_file.").append(ids_of(metric).name),
              "column " + std::to_string(repeated->column_id) + " is there twice");
  }
}

void ColumnMetricsReader::add_item(Metric metric, const avro::Value& key, const avro::Value& value,
                                   EntryFault& fault) {
  const auto id = column_id_of(key);
  if (!id) {
    fault.set(std::string("data_file.").append(ids_of(metric).name), "a key is no column id");
    return;
  }
  if (value.is_null()) return;
  maps_[static_cast<std::size_t>(metric)].items.push_back({*id, &value});
}

std::span<const ColumnMetrics> ColumnMetricsReader::read(Arena& arena) {
  std::array<std::size_t, kMetricCount> next{};
  // The least id that is left in any of the maps.
  const auto least = [&]() -> std::optional<std::int32_t> {
    std::optional<std::int32_t> id;
    for (std::size_t i = 0; i < kMetricCount; ++i) {
      if (next[i] == maps_[i].items.size()) continue;
      const std::int32_t own = maps_[i].items[next[i]].column_id;
      if (!id || own < *id) id = own;
    }
    return id;
  };
  std::size_t count = 0;
  while (const auto id = least()) {
    for (std::size_t i = 0; i < kMetricCount; ++i) {
      if (next[i] < maps_[i].items.size() && maps_[i].items[next[i]].column_id == *id) ++next[i];
    }
    ++count;
  }
  if (count == 0) return {};
  ColumnMetrics* const columns = arena.allocate_array<ColumnMetrics>(count);
  next = {};
  for (std::size_t at = 0; at < count; ++at) {
    const std::int32_t id = *least();
    ColumnMetrics& column = *std::construct_at(columns + at);
    column.field_id = id;
    for (std::size_t i = 0; i < kMetricCount; ++i) {
      if (next[i] == maps_[i].items.size() || maps_[i].items[next[i]].column_id != id) continue;
      assign(column, static_cast<Metric>(i), *maps_[i].items[next[i]].value, arena);
      ++next[i];
    }
  }
  for (Map& map : maps_) map.items.clear();
  return {columns, count};
}

std::size_t ColumnMetricsReader::scratch_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Map& map : maps_) bytes += map.items.capacity() * sizeof(Item);
  return bytes;
}

}  // namespace iceblink::iceberg
