// Tables, manifests and files to be left out.
#pragma once

#include <iceblink/metadata/manifest.h>
#include <iceblink/metadata/predicate.h>
#include <iceblink/metadata/table_metadata.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/pruning/file_filter.h"
#include "tests/iceberg/metadata_samples.h"
#include "tests/iceberg/pruning/pruning_samples.h"

namespace iceblink::iceberg::testing {

/// A field of a partition spec, as JSON.
inline std::string partition_field(int source_id, const std::string& transform) {
  static constexpr int kFirstId = 1000;
  const std::string id = std::to_string(kFirstId + source_id);
  return R"({"name":"p)" + id + transform + R"(","transform":")" + transform + R"(","source-id":)" +
         std::to_string(source_id) + R"(,"field-id":)" + id + '}';
}

/// With that schema's fields, and a spec 0 of those fields.
inline std::shared_ptr<const TableMetadata> table_of(const std::string& columns,
                                                     const std::string& partition_fields = "") {
  const auto table =
      load(v3().with("schemas", '[' + schema(columns).text() + ']')
               .with("partition-specs", R"([{"spec-id":0,"fields":[)" + partition_fields + "]}]"));
  if (!table) throw std::runtime_error(table.error().message());
  return *table;
}

/// A data file, with its own memory.
class SampleFile {
 public:
  explicit SampleFile(std::int64_t row_count = 10) { file_.record_count = row_count; }

  SampleFile& partition(const Literal& value) {
    partition_.push_back(value);
    return *this;
  }
  /// What is known of a column, before anything else of it is.
  SampleFile& column(std::int32_t field_id) {
    columns_.emplace_back().metrics.field_id = field_id;
    return *this;
  }
  // Of the column that was named last.
  SampleFile& nulls(std::int64_t count) {
    columns_.back().metrics.null_value_count = count;
    return values(file_.record_count);
  }
  SampleFile& nans(std::int64_t count) {
    columns_.back().metrics.nan_value_count = count;
    return *this;
  }
  SampleFile& values(std::int64_t count) {
    columns_.back().metrics.value_count = count;
    return *this;
  }
  SampleFile& lower(const Literal& value) { return lower_bytes(stored(value)); }
  SampleFile& upper(const Literal& value) { return upper_bytes(stored(value)); }
  SampleFile& lower_bytes(const std::string& bytes) {
    columns_.back().lower = bytes;
    return *this;
  }
  SampleFile& upper_bytes(const std::string& bytes) {
    columns_.back().upper = bytes;
    return *this;
  }
  SampleFile& content(FileContent content) {
    file_.content = content;
    return *this;
  }

  /// Until this is changed or copied.
  [[nodiscard]] const DataFile& file() {
    file_.partition = partition_;
    std::sort(columns_.begin(), columns_.end(),
              [](const auto& a, const auto& b) { return a.metrics.field_id < b.metrics.field_id; });
    metrics_.clear();
    for (const SampleColumn& column : columns_) {
      metrics_.push_back(column.metrics);
      metrics_.back().lower_bound = column.lower;
      metrics_.back().upper_bound = column.upper;
    }
    file_.columns = metrics_;
    return file_;
  }

 private:
  struct SampleColumn {
    ColumnMetrics metrics;
    std::optional<std::string> lower;
    std::optional<std::string> upper;
  };

  DataFile file_;
  std::vector<Literal> partition_;
  std::vector<SampleColumn> columns_;
  std::vector<ColumnMetrics> metrics_;
};

/// A manifest in a list, with its own memory.
class SampleManifest {
 public:
  SampleManifest& summary(const FieldSummary& summary) {
    summaries_.push_back({summary, std::nullopt, std::nullopt});
    return *this;
  }
  SampleManifest& summary(const Literal& lower, const Literal& upper) {
    summaries_.push_back({{}, stored(lower), stored(upper)});
    summaries_.back().summary.contains_null = false;
    return *this;
  }
  SampleManifest& spec(std::optional<std::int32_t> id) {
    spec_id_ = id;
    return *this;
  }

  /// Until this is changed or copied.
  [[nodiscard]] const ManifestFile& manifest() {
    manifest_.partition_spec_id = spec_id_;
    fields_.clear();
    for (const SampleSummary& sample : summaries_) {
      fields_.push_back(sample.summary);
      if (sample.lower) fields_.back().lower_bound = *sample.lower;
      if (sample.upper) fields_.back().upper_bound = *sample.upper;
    }
    manifest_.partitions = fields_;
    return manifest_;
  }

 private:
  struct SampleSummary {
    FieldSummary summary;
    std::optional<std::string> lower;
    std::optional<std::string> upper;
  };

  ManifestFile manifest_;
  std::optional<std::int32_t> spec_id_ = 0;
  std::vector<SampleSummary> summaries_;
  std::vector<FieldSummary> fields_;
};

inline FileFilter filter_of(const Predicate& predicate, const TableMetadata& table) {
  auto filter = FileFilter::make(predicate, table.current_schema(), table);
  if (!filter) throw std::runtime_error(filter.error().message());
  return std::move(*filter);
}

// "read", "left out", or the error.

inline std::string fate(const Predicate& predicate, const TableMetadata& table, SampleFile& file) {
  const auto filter = filter_of(predicate, table);
  const auto may_match = filter.may_match(file.file());
  if (!may_match) {
    return std::string(to_string(may_match.error().kind())) + ": " + may_match.error().message();
  }
  return *may_match ? "read" : "left out";
}
inline std::string fate(const Predicate& predicate, const TableMetadata& table,
                        SampleManifest& manifest) {
  return filter_of(predicate, table).may_match(manifest.manifest()) ? "read" : "left out";
}

/// Of columns, in the tests: comparisons that read as such.
struct Column {
  std::string name;

  [[nodiscard]] Predicate is(Comparison comparison, PredicateValue value) const {
    return Predicate::compare(name, comparison, std::move(value));
  }
};
template <typename Value>
PredicateValue value_of(Value value) {
  if constexpr (std::is_same_v<Value, int>) {
    return std::int64_t{value};
  } else {
    return value;
  }
}
template <typename Value>
Predicate operator==(const Column& column, Value value) {
  return column.is(Comparison::kEqual, value_of(value));
}
template <typename Value>
Predicate operator!=(const Column& column, Value value) {
  return column.is(Comparison::kNotEqual, value_of(value));
}
template <typename Value>
Predicate operator<(const Column& column, Value value) {
  return column.is(Comparison::kLess, value_of(value));
}
template <typename Value>
Predicate operator<=(const Column& column, Value value) {
  return column.is(Comparison::kLessEqual, value_of(value));
}
template <typename Value>
Predicate operator>(const Column& column, Value value) {
  return column.is(Comparison::kGreater, value_of(value));
}
template <typename Value>
Predicate operator>=(const Column& column, Value value) {
  return column.is(Comparison::kGreaterEqual, value_of(value));
}

}  // namespace iceblink::iceberg::testing
