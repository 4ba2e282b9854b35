#include "client/cli/file_diff.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace iceblink::cli {
namespace {

/// The manifests of a list that another one does not have.
std::vector<ManifestFile> manifests_beyond(const ManifestList& list, const ManifestList& other) {
  std::unordered_set<std::string_view> shared;
  for (const auto& manifest : other.manifests()) shared.insert(manifest.manifest_path);
  std::vector<ManifestFile> own;
  for (const auto& manifest : list.manifests()) {
    if (!shared.contains(manifest.manifest_path)) own.push_back(manifest);
  }
  return own;
}

/// Their live files. The manifests are kept in `kept`.
Result<std::vector<const DataFile*>> live_files(
    const Table& table, std::span<const ManifestFile> listed,
    std::vector<std::shared_ptr<const Manifest>>& kept) {
  std::vector<const DataFile*> files;
  ICEBLINK_ASSIGN_OR_RETURN(auto manifests, table.manifests(listed));
  for (auto& manifest : manifests) {
    if (!manifest) return manifest.error();
    for (const auto& entry : (*manifest)->entries()) {
      if (entry.is_live()) files.push_back(&entry.file);
    }
    kept.push_back(std::move(*manifest));
  }
  return files;
}

/// What tells a file from others.
struct FileKey {
  explicit FileKey(const DataFile& file) noexcept : path(file.file_path) {
    if (file.is_deletion_vector()) offset = file.content_offset;
  }
  bool operator==(const FileKey&) const noexcept = default;

  std::string_view path;
  std::optional<std::int64_t> offset;
};

struct FileKeyHash {
  std::size_t operator()(const FileKey& key) const noexcept {
    return std::hash<std::string_view>()(key.path) ^
           std::hash<std::optional<std::int64_t>>()(key.offset) * 31;
  }
};

/// Of `files`, those that are not among `others`.
std::vector<const DataFile*> files_beyond(std::span<const DataFile* const> files,
                                          std::span<const DataFile* const> others) {
  std::unordered_map<FileKey, std::size_t, FileKeyHash> counts;
  for (const DataFile* const file : others) ++counts[FileKey(*file)];
  std::vector<const DataFile*> beyond;
  for (const DataFile* const file : files) {
    const auto found = counts.find(FileKey(*file));
    if (found == counts.end() || found->second == 0) {
      beyond.push_back(file);
    } else {
      --found->second;
    }
  }
  return beyond;
}

}  // namespace

Result<FileDiff> diff_files(const Table& table, const TableSnapshot& from,
                            const TableSnapshot& to) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto from_list, table.manifest_list(from.snapshot_id));
  ICEBLINK_ASSIGN_OR_RETURN(const auto to_list, table.manifest_list(to.snapshot_id));
  FileDiff diff;
  ICEBLINK_ASSIGN_OR_RETURN(
      const auto before, live_files(table, manifests_beyond(*from_list, *to_list), diff.manifests));
  ICEBLINK_ASSIGN_OR_RETURN(
      const auto after, live_files(table, manifests_beyond(*to_list, *from_list), diff.manifests));
  diff.removed = files_beyond(before, after);
  diff.added = files_beyond(after, before);
  return diff;
}

}  // namespace iceblink::cli
