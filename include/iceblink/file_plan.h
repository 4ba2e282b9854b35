// The files of a snapshot, to be scanned.
#pragma once

#include <iceblink/metadata/manifest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace iceblink {

/// A data file, and the delete files that apply to it ("Scan Planning"): each kind by ascending
/// sequence number. Tasks share lists, so that a plan does not grow with files times deletes.
struct FileTask {
  const DataFile* file = nullptr;
  std::span<const DataFile* const> position_deletes;  ///< or a deletion vector alone
  std::span<const DataFile* const> equality_deletes;
};

/// What was left out, for showing.
struct PlanCounts {
  std::size_t manifest_count = 0;          ///< of the snapshot
  std::size_t skipped_manifest_count = 0;  ///< of these: left out, unopened
  std::size_t file_count = 0;              ///< live data files in those that were opened
  std::size_t skipped_file_count = 0;      ///< of these: left out
};

/// Immutable; owns the manifests that its files are of. Copies share.
class FilePlan {
 public:
  /// Manifests in the list's order, files in theirs.
  [[nodiscard]] std::span<const FileTask> tasks() const noexcept { return parts_->tasks; }
  [[nodiscard]] const PlanCounts& counts() const noexcept { return parts_->counts; }

  struct Parts {
    std::vector<FileTask> tasks;
    std::vector<const DataFile*> own_deletes;    // lists that no two tasks share
    std::shared_ptr<const void> shared_deletes;  // lists that they share
    PlanCounts counts;
    std::vector<std::shared_ptr<const Manifest>> manifests;
  };
  explicit FilePlan(std::shared_ptr<const Parts> parts) noexcept : parts_(std::move(parts)) {}

 private:
  std::shared_ptr<const Parts> parts_;
};

/// All live files of a snapshot, data and deletes.
class FileList {
 public:
  [[nodiscard]] std::span<const DataFile* const> files() const noexcept { return parts_->files; }

  struct Parts {
    std::vector<const DataFile*> files;
    std::vector<std::shared_ptr<const Manifest>> manifests;
  };
  explicit FileList(std::shared_ptr<const Parts> parts) noexcept : parts_(std::move(parts)) {}

 private:
  std::shared_ptr<const Parts> parts_;
};

}  // namespace iceblink
