// Which delete files apply to a data file (Iceberg table specification, "Scan Planning").
//
// Thread safety: belongs to one thread while it is asked; what it returned is immutable.
#pragma once

#include <iceblink/metadata/manifest.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace iceblink::iceberg {

class DeleteIndex {
 public:
  /// Of the live delete files of a snapshot, which outlive the index, as do the table's specs.
  /// kCorrupt: what no table may have, as two deletion vectors of one data file; the message names
  /// the files. Throws std::bad_alloc.
  [[nodiscard]] static Result<DeleteIndex> make(std::span<const DataFile* const> delete_files,
                                                const TableMetadata& table);
  DeleteIndex(DeleteIndex&&) noexcept;
  DeleteIndex& operator=(DeleteIndex&&) noexcept;
  ~DeleteIndex();

  /// Its deletion vector, or else its position deletes; by ascending sequence number, then as they
  /// were given. Where that is a list that data files share, it is returned, and lives as long as
  /// the index; else they are appended to `own`, and nothing is returned. O(log deletes + found)
  /// where those with bounds of paths are not both older and within them. Throws std::bad_alloc.
  [[nodiscard]] std::span<const DataFile* const> find_positions(
      const DataFile& data_file, std::vector<const DataFile*>& own) const;
  /// Its equality deletes, in the same order, of a list that lives as long as the index. O(log
  /// deletes), but where a partition's own and those of all data meet for the first time. Throws
  /// std::bad_alloc.
  [[nodiscard]] std::span<const DataFile* const> find_equalities(const DataFile& data_file);

 private:
  struct Parts;
  explicit DeleteIndex(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace iceblink::iceberg
