// A handle's manifests and files.
#include <iceblink/table.h>

#include <optional>
#include <utility>

#include "client/guard.h"
#include "client/object_cache.h"
#include "iceberg/manifest/delete_index.h"
#include "iceberg/pruning/file_filter.h"

namespace iceblink {
namespace {

using client::ObjectCache;
using iceberg::DeleteIndex;
using iceberg::FileFilter;
using Manifests = std::vector<std::shared_ptr<const Manifest>>;

/// No file of it is part of a snapshot that it is in.
bool is_known_to_be_empty(const ManifestFile& listed) noexcept {
  return listed.counts.added_files_count == 0 && listed.counts.existing_files_count == 0;
}

std::vector<const ManifestFile*> pointers_to(std::span<const ManifestFile> listed) {
  std::vector<const ManifestFile*> pointers;
  pointers.reserve(listed.size());
  for (const ManifestFile& each : listed) pointers.push_back(&each);
  return pointers;
}

/// All of them, or the first error.
Result<Manifests> load_all(ObjectCache& objects, std::span<const ManifestFile* const> listed,
                           const TableMetadata& metadata) {
  Manifests manifests;
  manifests.reserve(listed.size());
  for (auto& loaded : objects.manifests(listed, metadata)) {
    if (!loaded) return loaded.error();
    manifests.push_back(std::move(*loaded));
  }
  return manifests;
}

template <typename Visit>
void for_each_live(const Manifests& manifests, ManifestContent content, Visit&& visit) {
  for (const auto& manifest : manifests) {
    if (manifest->content() != content) continue;
    for (const ManifestEntry& entry : manifest->entries()) {
      if (entry.is_live()) visit(entry.file);
    }
  }
}

/// The scan of one snapshot.
class Planner {
 public:
  Planner(const TableMetadata& metadata, ObjectCache& objects, std::optional<FileFilter> filter)
      : metadata_(metadata), objects_(objects), filter_(std::move(filter)) {}

  [[nodiscard]] Result<FilePlan> plan(const ManifestList& list) {
    const auto chosen = choose(list);
    ICEBLINK_ASSIGN_OR_RETURN(parts_->manifests, load_all(objects_, chosen, metadata_));
    ICEBLINK_RETURN_IF_ERROR(take_data_files());
    ICEBLINK_RETURN_IF_ERROR(match_deletes());
    return FilePlan(std::move(parts_));
  }

 private:
  /// The manifests that have to be opened.
  [[nodiscard]] std::vector<const ManifestFile*> choose(const ManifestList& list) {
    std::vector<const ManifestFile*> chosen;
    parts_->counts.manifest_count = list.manifests().size();
    for (const ManifestFile& listed : list.manifests()) {
      if (is_known_to_be_empty(listed) || (filter_ && !filter_->may_match(listed))) {
        ++parts_->counts.skipped_manifest_count;
      } else {
        chosen.push_back(&listed);
      }
    }
    return chosen;
  }

  [[nodiscard]] Status take_data_files() {
    std::optional<Error> failure;
    for_each_live(parts_->manifests, ManifestContent::kData, [&](const DataFile& file) {
      if (failure) return;
      ++parts_->counts.file_count;
      Result<bool> may_match = true;
      if (filter_) may_match = filter_->may_match(file);
      if (!may_match) {
        failure = Error(may_match.error().kind(),
                        std::string(file.file_path) + ": " + may_match.error().message());
      } else if (*may_match) {
        parts_->tasks.push_back({&file, {}, {}});
      } else {
        ++parts_->counts.skipped_file_count;
      }
    });
    if (failure) return *failure;
    return Ok{};
  }

  [[nodiscard]] Status match_deletes() {
    std::vector<const DataFile*> deletes;
    for_each_live(parts_->manifests, ManifestContent::kDeletes, [&](const DataFile& file) {
      if (!filter_ || filter_->may_match_partition(file)) deletes.push_back(&file);
    });
    if (deletes.empty()) return Ok{};
    ICEBLINK_ASSIGN_OR_RETURN(DeleteIndex made, DeleteIndex::make(deletes, metadata_));
    const auto index = std::make_shared<DeleteIndex>(std::move(made));
    std::vector<std::size_t> ends;
    ends.reserve(parts_->tasks.size());
    for (FileTask& task : parts_->tasks) {
      task.position_deletes = index->find_positions(*task.file, parts_->own_deletes);
      task.equality_deletes = index->find_equalities(*task.file);
      ends.push_back(parts_->own_deletes.size());
    }
    const std::span<const DataFile* const> own = parts_->own_deletes;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); begin = ends[i++]) {
      if (ends[i] > begin) {
        parts_->tasks[i].position_deletes = own.subspan(begin, ends[i] - begin);
      }
    }
    parts_->shared_deletes = index;
    return Ok{};
  }

  const TableMetadata& metadata_;
  ObjectCache& objects_;
  const std::optional<FileFilter> filter_;
  std::shared_ptr<FilePlan::Parts> parts_ = std::make_shared<FilePlan::Parts>();
};

Result<std::optional<FileFilter>> filter_of(const PlanOptions& options, const Schema& schema,
                                            const TableMetadata& metadata) {
  if (!options.predicate) return std::optional<FileFilter>();
  ICEBLINK_ASSIGN_OR_RETURN(FileFilter filter,
                            FileFilter::make(*options.predicate, schema, metadata));
  return std::optional<FileFilter>(std::move(filter));
}

}  // namespace

Result<std::shared_ptr<const ManifestList>> Table::manifest_list(
    std::int64_t snapshot_id) const noexcept {
  ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const found, snapshot(snapshot_id));
  return client::guarded([&] { return objects_->manifest_list(*found); });
}

Result<std::shared_ptr<const Manifest>> Table::manifest(const ManifestFile& listed) const noexcept {
  return client::guarded([&]() -> Result<std::shared_ptr<const Manifest>> {
    const ManifestFile* const pointers[] = {&listed};
    return std::move(objects_->manifests(pointers, *metadata_).front());
  });
}

Result<std::vector<Result<std::shared_ptr<const Manifest>>>> Table::manifests(
    std::span<const ManifestFile> listed) const noexcept {
  return client::guarded([&]() -> Result<std::vector<Result<std::shared_ptr<const Manifest>>>> {
    return objects_->manifests(pointers_to(listed), *metadata_);
  });
}

Result<FileList> Table::files(std::int64_t snapshot_id) const noexcept {
  ICEBLINK_ASSIGN_OR_RETURN(const auto list, manifest_list(snapshot_id));
  return client::guarded([&]() -> Result<FileList> {
    std::vector<const ManifestFile*> chosen;
    for (const ManifestFile& listed : list->manifests()) {
      if (!is_known_to_be_empty(listed)) chosen.push_back(&listed);
    }
    auto parts = std::make_shared<FileList::Parts>();
    ICEBLINK_ASSIGN_OR_RETURN(parts->manifests, load_all(*objects_, chosen, *metadata_));
    for (const auto& manifest : parts->manifests) {
      for (const ManifestEntry& entry : manifest->entries()) {
        if (entry.is_live()) parts->files.push_back(&entry.file);
      }
    }
    return FileList(std::move(parts));
  });
}

Result<FilePlan> Table::plan_files(std::int64_t snapshot_id,
                                   const PlanOptions& options) const noexcept {
  ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const found, snapshot(snapshot_id));
  const Schema* schema = options.schema;
  if (options.predicate && schema == nullptr) {
    ICEBLINK_ASSIGN_OR_RETURN(schema, schema_of(*found));
  }
  return client::guarded([&]() -> Result<FilePlan> {
    std::optional<FileFilter> filter;
    if (options.predicate) {
      ICEBLINK_ASSIGN_OR_RETURN(filter, filter_of(options, *schema, *metadata_));
    }
    ICEBLINK_ASSIGN_OR_RETURN(const auto list, objects_->manifest_list(*found));
    return Planner(*metadata_, *objects_, std::move(filter)).plan(*list);
  });
}

Result<FilePlan> Table::plan_files(const PlanOptions& options) const noexcept {
  PlanOptions chosen = options;
  if (chosen.schema == nullptr) chosen.schema = &schema();
  ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const current, current_snapshot());
  if (current != nullptr) return plan_files(current->snapshot_id, chosen);
  return client::guarded([&]() -> Result<FilePlan> {
    ICEBLINK_RETURN_IF_ERROR(filter_of(chosen, *chosen.schema, *metadata_));
    return FilePlan(std::make_shared<FilePlan::Parts>());
  });
}

}  // namespace iceblink
