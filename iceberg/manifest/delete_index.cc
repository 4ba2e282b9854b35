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
using Deletes = std::vector<Delete>;

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

std::span<const Delete> newer(const Deletes& deletes, std::int64_t sequence_number,
                              SameNumber same) noexcept {
  const auto first = std::partition_point(deletes.begin(), deletes.end(), [&](const Delete& d) {
    return same == SameNumber::kApplies ? d.file->sequence_number < sequence_number
                                        : d.file->sequence_number <= sequence_number;
  });
  return {first, deletes.end()};
}

bool is_unpartitioned(const PartitionSpec& spec) noexcept {
  return std::all_of(spec.fields.begin(), spec.fields.end(), [](const PartitionField& field) {
    return field.transform.kind == TransformKind::kVoid;
  });
}

using DeletesByPartition = std::unordered_map<PartitionKey, Deletes, PartitionKeyHash>;
using DeletesByPath = std::unordered_map<std::string_view, Deletes>;

const Deletes* find_in(const DeletesByPartition& all, const DataFile& data_file) {
  if (all.empty()) return nullptr;
  const auto found = all.find(PartitionKey::of(data_file));
  return found == all.end() ? nullptr : &found->second;
}

template <typename Map>
void sort_each(Map& map) {
  for (auto& [key, deletes] : map) std::sort(deletes.begin(), deletes.end(), is_before);
}

/// Those of both, each of which is in order, in order.
void append_merged(std::span<const Delete> a, std::span<const Delete> b,
                   std::vector<const DataFile*>& found) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    const bool is_left = right == b.end() || (left != a.end() && is_before(*left, *right));
    found.push_back((is_left ? left++ : right++)->file);
  }
}

}  // namespace

struct DeleteIndex::Parts {
  /// By the data file that they are of.
  std::unordered_map<std::string_view, const DataFile*> vectors;
  /// Position deletes: of one data file; of a partition's.
  DeletesByPath positions_by_path;
  DeletesByPartition positions;
  /// Equality deletes: of all data; of a partition's.
  Deletes global_equalities;
  DeletesByPartition equalities;

  [[nodiscard]] Status add_vector(const DataFile& file);
  void add_positions(const Delete& one);
  [[nodiscard]] const DataFile* find_vector(const DataFile& data_file) const;
  void find_positions(const DataFile& data_file, std::vector<const DataFile*>& found) const;
  void find_equalities(const DataFile& data_file, std::vector<const DataFile*>& found) const;
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
  if (const auto path = PathRange::of(*one.file).one()) {
    positions_by_path[*path].push_back(one);
  } else {
    positions[PartitionKey::of(*one.file)].push_back(one);
  }
}

const DataFile* DeleteIndex::Parts::find_vector(const DataFile& data_file) const {
  const auto found = vectors.find(data_file.file_path);
  if (found == vectors.end()) return nullptr;
  const DataFile& vector = *found->second;
  const bool applies = data_file.sequence_number <= vector.sequence_number &&
                       PartitionKey::of(data_file) == PartitionKey::of(vector);
  return applies ? &vector : nullptr;
}

void DeleteIndex::Parts::find_positions(const DataFile& data_file,
                                        std::vector<const DataFile*>& found) const {
  Deletes of_path;
  if (const auto at = positions_by_path.find(data_file.file_path); at != positions_by_path.end()) {
    const auto all = newer(at->second, data_file.sequence_number, SameNumber::kApplies);
    std::copy_if(all.begin(), all.end(), std::back_inserter(of_path), [&](const Delete& d) {
      return PartitionKey::of(*d.file) == PartitionKey::of(data_file);
    });
  }
  Deletes of_partition;
  if (const Deletes* const deletes = find_in(positions, data_file)) {
    const auto all = newer(*deletes, data_file.sequence_number, SameNumber::kApplies);
    std::copy_if(all.begin(), all.end(), std::back_inserter(of_partition),
                 [&](const Delete& d) { return PathRange::of(*d.file).has(data_file.file_path); });
  }
  append_merged(of_path, of_partition, found);
}

void DeleteIndex::Parts::find_equalities(const DataFile& data_file,
                                         std::vector<const DataFile*>& found) const {
  const auto of = [&](const Deletes& deletes) {
    return newer(deletes, data_file.sequence_number, SameNumber::kDoesNotApply);
  };
  const Deletes* const own = find_in(equalities, data_file);
  append_merged(of(global_equalities), own == nullptr ? std::span<const Delete>() : of(*own),
                found);
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
      parts->global_equalities.push_back({&file, i});
    } else {
      parts->equalities[PartitionKey::of(file)].push_back({&file, i});
    }
  }
  sort_each(parts->positions_by_path);
  sort_each(parts->positions);
  sort_each(parts->equalities);
  std::sort(parts->global_equalities.begin(), parts->global_equalities.end(), is_before);
  return DeleteIndex(std::move(parts));
}

void DeleteIndex::find(const DataFile& data_file, std::vector<const DataFile*>& found) const {
  if (const DataFile* const vector = parts_->find_vector(data_file)) {
    found.push_back(vector);
  } else {
    parts_->find_positions(data_file, found);
  }
  parts_->find_equalities(data_file, found);
}

bool DeleteIndex::is_empty() const noexcept {
  return parts_->vectors.empty() && parts_->positions_by_path.empty() &&
         parts_->positions.empty() && parts_->global_equalities.empty() &&
         parts_->equalities.empty();
}

}  // namespace iceblink::iceberg
