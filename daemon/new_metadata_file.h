// Writes the next metadata file of a table or view.
//
// The file appears under its name only when all of it is there and synced, and its directory is
// synced before this returns; a crash before that leaves no file, where the file system has
// O_TMPFILE. It lies below one of the write roots, whatever its location says: `..`, links and
// other schemes do not lead out of them.
#pragma once

#include <iceblink/result.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/table_row.h"
#include "daemon/write_roots.h"
#include "iceberg/commit/new_metadata.h"

namespace iceblink::daemon {

/// One more than the number that the file's name begins with ("00041-…", "v41.…"); 0 without one.
[[nodiscard]] std::uint64_t next_metadata_version(std::string_view metadata_location);

/// A file that is there, and durable. Destroying it removes the file, unless it was kept. The roots
/// outlive it.
///
/// Thread safety: a value; move only.
class NewMetadataFile {
 public:
  /// <location>/metadata/<00042>-<uuid>.metadata.json (gzip: .gz.metadata.json); directories are
  /// made, and synced, where they are missing. kNotAllowed: outside of the write roots, or by the
  /// file system; kUnsupported: a location of another scheme; kNoSpace; kInvalidArgument: no
  /// location; kIo; kOutOfMemory. After an error no file is left.
  [[nodiscard]] static Result<NewMetadataFile> write(const iceberg::NewMetadata& metadata,
                                                     std::uint64_t version,
                                                     const WriteRoots& roots);
  NewMetadataFile(NewMetadataFile&& other) noexcept
      : row_(std::move(other.row_)),
        roots_(std::exchange(other.roots_, nullptr)),
        times_(other.times_) {}
  NewMetadataFile& operator=(NewMetadataFile&& other) = delete;
  ~NewMetadataFile();

  /// The row of a pointer to it, without a generation.
  [[nodiscard]] const TableRow& row() const noexcept { return row_; }
  /// The pointer has moved to it, or may have.
  void keep() noexcept { roots_ = nullptr; }

  struct Times {
    std::chrono::nanoseconds write{0};
    std::chrono::nanoseconds sync{0};  // of the file and its directory
  };
  /// What it took to write it.
  [[nodiscard]] const Times& times() const noexcept { return times_; }

 private:
  NewMetadataFile(TableRow row, const WriteRoots& roots, Times times)
      : row_(std::move(row)), roots_(&roots), times_(times) {}

  TableRow row_;
  const WriteRoots* roots_;  // null: the file stays
  Times times_;
};

}  // namespace iceblink::daemon
