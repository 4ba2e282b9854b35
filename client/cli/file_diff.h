// What came to a table, and what went from it, between two of its snapshots.
#pragma once

#include <iceblink/result.h>
#include <iceblink/table.h>

#include <memory>
#include <vector>

namespace iceblink::cli {

/// Live files, data and deletes. Borrows from the manifests that it holds.
struct FileDiff {
  std::vector<const DataFile*> removed;  ///< in the order of the older snapshot's manifests
  std::vector<const DataFile*> added;    ///< of the newer one's
  std::vector<std::shared_ptr<const Manifest>> manifests;
};

/// Files are told apart by their path, deletion vectors by their place in the file, too; one that a
/// snapshot lists twice counts twice. Manifests that both have are not read: what is in them is in
/// both. O(files of the others). Errors as of Table::manifests(), the first one.
[[nodiscard]] Result<FileDiff> diff_files(const Table& table, const TableSnapshot& from,
                                          const TableSnapshot& to);

}  // namespace iceblink::cli
