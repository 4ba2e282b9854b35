#include "iceberg/pruning/file_filter.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "iceberg/pruning/bound_predicate.h"
#include "iceberg/pruning/partition_projection.h"
#include "iceberg/pruning/value_range.h"

namespace iceblink::iceberg {
namespace {

/// A partition field whose source is a column of the predicate.
struct PartitionSource {
  std::size_t field = 0;   // index in the spec
  std::size_t column = 0;  // index in the predicate
};

struct KnownSpec {
  const PartitionSpec* spec = nullptr;
  std::vector<PartitionSource> sources;
};

std::vector<KnownSpec> specs_of(const TableMetadata& table, std::span<const BoundColumn> columns) {
  std::vector<KnownSpec> known;
  known.reserve(table.partition_specs.size());
  for (const PartitionSpec& spec : table.partition_specs) {
    known.push_back({&spec, {}});
    for (std::size_t field = 0; field < spec.fields.size(); ++field) {
      const auto& source_ids = spec.fields[field].source_ids;
      if (source_ids.size() != 1) continue;
      for (std::size_t column = 0; column < columns.size(); ++column) {
        if (columns[column].field->id != source_ids[0]) continue;
        known.back().sources.push_back({field, column});
      }
    }
  }
  std::sort(known.begin(), known.end(), [](const KnownSpec& a, const KnownSpec& b) {
    return a.spec->spec_id < b.spec->spec_id;
  });
  return known;
}

Error wrong_bound(const BoundColumn& column, std::string_view which, const Error& error) noexcept {
  return {error.kind(), {column.name, ": ", which, " bound: ", error.message()}};
}

/// Those of strings and bytes may have been cut, and are still bounds.
BoundTightness tightness_of(TypeKind kind) noexcept {
  const bool may_be_cut =
      kind == TypeKind::kString || kind == TypeKind::kBinary || kind == TypeKind::kFixed;
  return may_be_cut ? BoundTightness::kCut : BoundTightness::kExact;
}

/// Types whose bounds are no single values, or which have none.
bool has_single_values(TypeKind kind) noexcept {
  return kind < TypeKind::kUnknown;
}

void narrow_by_counts(const BoundColumn& column, const ColumnMetrics& metrics,
                      std::int64_t row_count, ValueRange& range) noexcept {
  const std::int64_t nulls = metrics.null_value_count;
  const std::int64_t nans = metrics.nan_value_count;
  if (nans == 0) range.exclude_nans();
  const bool is_counted = metrics.value_count >= 0;
  if (is_counted && metrics.value_count != row_count) return;  // whatever was left out
  // What is counted in a struct that is null is not agreed on.
  if (nulls == 0 && !column.has_optional_parent) range.exclude_nulls();
  if (!is_counted || nulls < 0) return;
  if (nulls == row_count) range.only_nulls();
  if (nans >= 0 && nans == row_count - nulls) range.exclude_values();
}

/// Nothing: there is none, or it is a value of a type that the column has in another schema, or one
/// that a promotion takes out of range.
Result<std::optional<Literal>> known_bound(const BoundColumn& column, std::string_view which,
                                           const std::optional<std::string_view>& bytes) noexcept {
  const Type& type = column.field->type;
  if (!bytes) return std::optional<Literal>();
  const auto value = decode_single_value(type, *bytes);
  if (value) return std::optional<Literal>(*value);
  const bool is_days = bytes->size() == sizeof(std::int32_t) &&
                       (type.kind == TypeKind::kTimestamp || type.kind == TypeKind::kTimestampNs);
  const bool is_of_another =
      std::any_of(column.other_types.begin(), column.other_types.end(),
                  [&](const Type* other) { return decode_single_value(*other, *bytes).ok(); });
  if (is_days || is_of_another) return std::optional<Literal>();
  return wrong_bound(column, which, value.error());
}

Status narrow_by_metrics(const BoundColumn& column, const ColumnMetrics& metrics,
                         std::int64_t row_count, ValueRange& range) noexcept {
  const TypeKind kind = column.field->type.kind;
  narrow_by_counts(column, metrics, row_count, range);
  if (!has_single_values(kind)) return Ok{};
  ICEBLINK_ASSIGN_OR_RETURN(const auto lower, known_bound(column, "lower", metrics.lower_bound));
  ICEBLINK_ASSIGN_OR_RETURN(const auto upper, known_bound(column, "upper", metrics.upper_bound));
  if (lower) range.raise_lower({*lower, tightness_of(kind)});
  if (upper) range.reduce_upper({*upper, tightness_of(kind)});
  return Ok{};
}

}  // namespace

struct FileFilter::Parts {
  BoundPredicate predicate;
  std::vector<KnownSpec> specs;    // by ascending id
  std::vector<ValueRange> ranges;  // of the predicate's columns; scratch

  void forget() noexcept {
    const auto columns = predicate.columns();
    for (std::size_t i = 0; i < columns.size(); ++i) ranges[i] = ValueRange(columns[i].field->type);
  }
  /// Null: not of this table.
  [[nodiscard]] const KnownSpec* find_spec(std::int32_t spec_id) const noexcept {
    const auto found = std::lower_bound(
        specs.begin(), specs.end(), spec_id,
        [](const KnownSpec& known, std::int32_t id) { return known.spec->spec_id < id; });
    return found == specs.end() || found->spec->spec_id != spec_id ? nullptr : &*found;
  }
  void learn_partition(const DataFile& file) noexcept {
    const KnownSpec* const known = find_spec(file.spec_id);
    if (known == nullptr || file.partition.size() != known->spec->fields.size()) return;
    for (const auto& [field, column] : known->sources) {
      narrow_by_partition(known->spec->fields[field].transform, file.partition[field],
                          ranges[column]);
    }
  }
  [[nodiscard]] bool may_match() const noexcept {
    return predicate.may_match(
        [&](const BoundNode& leaf) { return ranges[leaf.column].may_match(leaf); });
  }
};

FileFilter::FileFilter(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
FileFilter::FileFilter(FileFilter&&) noexcept = default;
FileFilter& FileFilter::operator=(FileFilter&&) noexcept = default;
FileFilter::~FileFilter() = default;

Result<FileFilter> FileFilter::make(const Predicate& predicate, const Schema& schema,
                                    const TableMetadata& table) {
  ICEBLINK_ASSIGN_OR_RETURN(BoundPredicate bound,
                            BoundPredicate::bind(predicate, schema, table.schemas));
  auto parts = std::make_unique<Parts>();
  parts->predicate = std::move(bound);
  parts->specs = specs_of(table, parts->predicate.columns());
  for (const BoundColumn& column : parts->predicate.columns()) {
    parts->ranges.emplace_back(column.field->type);
  }
  return FileFilter(std::move(parts));
}

bool FileFilter::may_match(const ManifestFile& manifest) const noexcept {
  parts_->forget();
  const KnownSpec* const known =
      manifest.partition_spec_id ? parts_->find_spec(*manifest.partition_spec_id) : nullptr;
  if (known != nullptr && manifest.partitions.size() == known->spec->fields.size()) {
    for (const auto& [field, column] : known->sources) {
      narrow_by_summary(known->spec->fields[field].transform, manifest.partitions[field],
                        parts_->ranges[column]);
    }
  }
  return parts_->may_match();
}

bool FileFilter::may_match_partition(const DataFile& file) const noexcept {
  parts_->forget();
  parts_->learn_partition(file);
  return parts_->may_match();
}

Result<bool> FileFilter::may_match(const DataFile& file) const noexcept {
  if (!may_match_partition(file)) return false;
  if (file.content != FileContent::kData) return true;
  if (file.record_count == 0) return false;
  const auto columns = parts_->predicate.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnMetrics* const metrics = file.find_column(columns[i].field->id);
    if (metrics == nullptr) continue;
    ICEBLINK_RETURN_IF_ERROR(
        narrow_by_metrics(columns[i], *metrics, file.record_count, parts_->ranges[i]));
  }
  return parts_->may_match();
}

}  // namespace iceblink::iceberg
