#include "iceberg/manifest/delete_index.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "iceberg/manifest/partition_key.h"

namespace iceblink::iceberg {
namespace {

/// Of the column of position delete files that names the data file.
constexpr std::int32_t kDeletePathFieldId = 2147483546;

struct Delete {
  const DataFile* file;
  std::size_t position;  // among those that were given
};

/// Ascending by sequence number, then as they were given.
bool is_before(const Delete& a, const Delete& b) noexcept {
  if (a.file->sequence_number != b.file->sequence_number) {
    return a.file->sequence_number < b.file->sequence_number;
  }
  return a.position < b.position;
}

/// The paths of the data files that a position delete file may have rows of.
struct PathRange {
  std::optional<std::string_view> lower;
  std::optional<std::string_view> upper;

  [[nodiscard]] static PathRange of(const DataFile& file) noexcept {
    if (file.referenced_data_file) {
      return {file.referenced_data_file, file.referenced_data_file};
    }
    const ColumnMetrics* const column = file.find_column(kDeletePathFieldId);
    if (column == nullptr) return {};
    // Bounds that contradict each other say nothing.
    if (column->lower_bound && column->upper_bound && *column->lower_bound > *column->upper_bound) {
      return {};
    }
    return {column->lower_bound, column->upper_bound};
  }
  [[nodiscard]] bool has(std::string_view path) const noexcept {
    return (!lower || *lower <= path) && (!upper || path <= *upper);
  }
  /// The only one there can be.
  [[nodiscard]] std::optional<std::string_view> one() const noexcept {
    return lower == upper ? lower : std::nullopt;
  }
};

/// Whether a delete applies to data of its own sequence number.
enum class SameNumber : std::uint8_t { kApplies, kDoesNotApply };

bool applies(const DataFile& file, const DataFile& data_file, SameNumber same) noexcept {
  return same == SameNumber::kApplies ? data_file.sequence_number <= file.sequence_number
                                      : data_file.sequence_number < file.sequence_number;
}

/// In order; data files share its ends.
class SharedList {
 public:
  void add(const Delete& one) { deletes_.push_back(one); }
  /// Once all are there.
  void finish() {
    std::sort(deletes_.begin(), deletes_.end(), is_before);
    files_.clear();
    files_.reserve(deletes_.size());
    for (const Delete& each : deletes_) files_.push_back(each.file);
  }
  [[nodiscard]] const std::vector<Delete>& deletes() const noexcept { return deletes_; }

  [[nodiscard]] std::size_t first_for(const DataFile& data_file, SameNumber same) const noexcept {
    const auto first = std::partition_point(
        files_.begin(), files_.end(),
        [&](const DataFile* file) { return !applies(*file, data_file, same); });
    return static_cast<std::size_t>(first - files_.begin());
  }
  [[nodiscard]] std::span<const DataFile* const> files_for(const DataFile& data_file,
                                                           SameNumber same) const noexcept {
    return std::span(files_).subspan(first_for(data_file, same));
  }

 private:
  std::vector<Delete> deletes_;
  std::vector<const DataFile*> files_;
};

/// Deletes with bounds of the paths that they are of: an interval tree in a sorted array. The root
/// of a part of it is its middle; each root knows the greatest upper bound and the greatest
/// sequence number of its part.
class RangedDeletes {
 public:
  void add(const Delete& one, const PathRange& range) {
    nodes_.push_back({one, range, {}, one.file->sequence_number});
  }
  void finish() {
    std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
      return a.range.lower.value_or(std::string_view()) <
             b.range.lower.value_or(std::string_view());
    });
    if (!nodes_.empty()) static_cast<void>(measure(0, nodes_.size()));
  }
  /// Those that apply to the data file.
  void find(const DataFile& data_file, std::vector<Delete>& found) const {
    find(data_file, 0, nodes_.size(), found);
  }

 private:
  using Upper = std::optional<std::string_view>;  // none: there is no bound

  struct Node {
    Delete one;
    PathRange range;
    Upper greatest_upper;
    std::int64_t greatest_number;
  };

  static Upper greater(const Upper& a, const Upper& b) noexcept {
    return a && b ? std::max(a, b) : std::nullopt;
  }
  /// Of a part that is not empty. As deep as the array's logarithm.
  const Node& measure(std::size_t begin, std::size_t end) {
    const std::size_t middle = begin + (end - begin) / 2;
    Node& node = nodes_[middle];
    node.greatest_upper = node.range.upper;
    const auto include = [&](const Node& child) {
      node.greatest_upper = greater(node.greatest_upper, child.greatest_upper);
      node.greatest_number = std::max(node.greatest_number, child.greatest_number);
    };
    if (begin < middle) include(measure(begin, middle));
    if (middle + 1 < end) include(measure(middle + 1, end));
    return node;
  }
  void find(const DataFile& data_file, std::size_t begin, std::size_t end,
            std::vector<Delete>& found) const {
    const std::string_view path = data_file.file_path;
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      const Node& node = nodes_[middle];
      if (node.greatest_upper && *node.greatest_upper < path) return;
      if (node.greatest_number < data_file.sequence_number) return;
      find(data_file, begin, middle, found);
      if (node.range.lower && *node.range.lower > path) return;  // and so are all behind it
      const bool is_newer = applies(*node.one.file, data_file, SameNumber::kApplies);
      if (is_newer && node.range.has(path)) found.push_back(node.one);
      begin = middle + 1;
    }
  }

  std::vector<Node> nodes_;
};

bool is_unpartitioned(const PartitionSpec& spec) noexcept {
  return std::all_of(spec.fields.begin(), spec.fields.end(), [](const PartitionField& field) {
    return field.transform.kind == TransformKind::kVoid;
  });
}

/// Position deletes of a partition: of any of its data files; of those within bounds.
struct PartitionPositions {
  SharedList any;
  RangedDeletes ranged;
};

/// Equality deletes of a partition: its own; once both are asked for, with those of all data.
struct PartitionEqualities {
  SharedList own;
  std::optional<SharedList> with_global;
};

template <typename Value>
using ByPartition = std::unordered_map<PartitionKey, Value, PartitionKeyHash>;

/// Null: the partition has none.
template <typename Map>
auto find_in(Map& all, const DataFile& data_file) noexcept -> decltype(&all.begin()->second) {
  if (all.empty()) return nullptr;
  const auto found = all.find(PartitionKey::of(data_file));
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace

struct DeleteIndex::Parts {
  /// By the data file that they are of.
  std::unordered_map<std::string_view, const DataFile*> vectors;
  /// Position deletes: of one data file; of a partition's.
  std::unordered_map<std::string_view, std::vector<Delete>> positions_by_path;
  ByPartition<PartitionPositions> positions;
  /// Equality deletes: of all data; of a partition's.
  SharedList global_equalities;
  ByPartition<PartitionEqualities> equalities;

  [[nodiscard]] Status add_vector(const DataFile& file);
  void add_positions(const Delete& one);
  void finish();
  [[nodiscard]] const DataFile* find_vector(const DataFile& data_file) const;
  /// Those that may be of some data files only.
  void find_own_positions(const DataFile& data_file, const PartitionPositions* partition,
                          std::vector<Delete>& found) const;
};

Status DeleteIndex::Parts::add_vector(const DataFile& file) {
  if (!file.referenced_data_file) {
    return Error(ErrorKind::kCorrupt, {"the deletion vector in ", file.file_path,
                                       " does not say which data file it is of"});
  }
  const auto [at, is_first] = vectors.emplace(*file.referenced_data_file, &file);
  if (is_first) return Ok{};
  return Error(ErrorKind::kCorrupt, {"two deletion vectors of ", *file.referenced_data_file,
                                     ": in ", at->second->file_path, " and in ", file.file_path});
}

void DeleteIndex::Parts::add_positions(const Delete& one) {
  const PathRange range = PathRange::of(*one.file);
  if (const auto path = range.one()) {
    positions_by_path[*path].push_back(one);
    return;
  }
  PartitionPositions& partition = positions[PartitionKey::of(*one.file)];
  if (range.lower || range.upper) {
    partition.ranged.add(one, range);
  } else {
    partition.any.add(one);
  }
}

void DeleteIndex::Parts::finish() {
  for (auto& [key, partition] : positions) {
    partition.any.finish();
    partition.ranged.finish();
  }
  for (auto& [key, deletes] : equalities) deletes.own.finish();
  global_equalities.finish();
}

const DataFile* DeleteIndex::Parts::find_vector(const DataFile& data_file) const {
  const auto found = vectors.find(data_file.file_path);
  if (found == vectors.end()) return nullptr;
  const DataFile& vector = *found->second;
  const bool is_of_it = applies(vector, data_file, SameNumber::kApplies) &&
                        PartitionKey::of(data_file) == PartitionKey::of(vector);
  return is_of_it ? &vector : nullptr;
}

void DeleteIndex::Parts::find_own_positions(const DataFile& data_file,
                                            const PartitionPositions* partition,
                                            std::vector<Delete>& found) const {
  if (const auto at = positions_by_path.find(data_file.file_path); at != positions_by_path.end()) {
    for (const Delete& each : at->second) {
      if (applies(*each.file, data_file, SameNumber::kApplies) &&
          PartitionKey::of(*each.file) == PartitionKey::of(data_file)) {
        found.push_back(each);
      }
    }
  }
  if (partition != nullptr) partition->ranged.find(data_file, found);
}

// ---- DeleteIndex

DeleteIndex::DeleteIndex(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
DeleteIndex::DeleteIndex(DeleteIndex&&) noexcept = default;
DeleteIndex& DeleteIndex::operator=(DeleteIndex&&) noexcept = default;
DeleteIndex::~DeleteIndex() = default;

Result<DeleteIndex> DeleteIndex::make(std::span<const DataFile* const> delete_files,
                                      const TableMetadata& table) {
  auto parts = std::make_unique<Parts>();
  for (std::size_t i = 0; i < delete_files.size(); ++i) {
    const DataFile& file = *delete_files[i];
    const PartitionSpec* const spec = table.find_partition_spec(file.spec_id);
    if (spec == nullptr || file.content == FileContent::kData) {
      const std::string spec_id = std::to_string(file.spec_id);
      return Error(ErrorKind::kCorrupt,
                   {file.file_path, spec == nullptr ? ": the table has no partition spec " : "",
                    spec == nullptr ? spec_id : ": is a data file among delete files"});
    }
    if (file.is_deletion_vector()) {
      ICEBLINK_RETURN_IF_ERROR(parts->add_vector(file));
    } else if (file.content == FileContent::kPositionDeletes) {
      parts->add_positions({&file, i});
    } else if (is_unpartitioned(*spec)) {
      parts->global_equalities.add({&file, i});
    } else {
      parts->equalities[PartitionKey::of(file)].own.add({&file, i});
    }
  }
  parts->finish();
  return DeleteIndex(std::move(parts));
}

std::span<const DataFile* const> DeleteIndex::find_positions(
    const DataFile& data_file, std::vector<const DataFile*>& own) const {
  if (const DataFile* const vector = parts_->find_vector(data_file)) {
    own.push_back(vector);
    return {};
  }
  const PartitionPositions* const partition = find_in(parts_->positions, data_file);
  std::vector<Delete> found;
  parts_->find_own_positions(data_file, partition, found);
  if (partition != nullptr) {
    if (found.empty()) return partition->any.files_for(data_file, SameNumber::kApplies);
    const auto& any = partition->any.deletes();
    const auto first = partition->any.first_for(data_file, SameNumber::kApplies);
    found.insert(found.end(), any.begin() + static_cast<std::ptrdiff_t>(first), any.end());
  }
  std::sort(found.begin(), found.end(), is_before);
  for (const Delete& each : found) own.push_back(each.file);
  return {};
}

std::span<const DataFile* const> DeleteIndex::find_equalities(const DataFile& data_file) {
  const auto of = [&](const SharedList& list) {
    return list.files_for(data_file, SameNumber::kDoesNotApply);
  };
  const auto global = of(parts_->global_equalities);
  PartitionEqualities* const partition = find_in(parts_->equalities, data_file);
  if (partition == nullptr) return global;
  const auto own = of(partition->own);
  if (global.empty() || own.empty()) return own.empty() ? global : own;
  if (!partition->with_global) {
    SharedList& both = partition->with_global.emplace(partition->own);
    for (const Delete& each : parts_->global_equalities.deletes()) both.add(each);
    both.finish();
  }
  return of(*partition->with_global);
}

}  // namespace iceblink::iceberg
