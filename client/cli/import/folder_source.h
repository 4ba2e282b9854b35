// A folder of tables: a directory with a `metadata` directory that holds metadata files is a table,
// or a view, and its newest metadata file is what it points to.
#pragma once

#include <memory>
#include <string>

#include "client/cli/import/source.h"

namespace iceblink::cli {

struct FolderOptions {
  /// ".db", which Hive and Spark put behind the name of a namespace's directory.
  enum class DbSuffix : std::uint8_t { kCut, kKept };

  std::string path;
  DbSuffix db_suffix = DbSuffix::kCut;
};

/// Walks the folder in the order of names. The namespace is the directories between the folder and
/// the table. A table's directory may be a namespace's too; its `metadata` and `data`, partitions
/// (a '=' in the name) and what begins with '.' or '_' are passed over. Links to directories are
/// followed; each directory is visited once, under the first name by which it is met.
///
/// Unreadable: a directory that cannot be read; a folder that is a table itself; a file that is
/// neither a table's metadata nor a view's. kNotFound, kNotAllowed, kInvalidArgument (not a
/// directory): the folder itself.
[[nodiscard]] Result<std::unique_ptr<Source>> open_folder(const FolderOptions& options);

}  // namespace iceblink::cli
