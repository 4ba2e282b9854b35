// Leaves out the files of a scan in which no row can match (Iceberg table specification, "Scan
// Planning"): by the manifest list's summaries, partition values, and column bounds.
//
// Whatever is not known for certain might match.
//
// Thread safety: one thread at a time, for the sake of its scratch memory.
#pragma once

#include <iceblink/metadata/manifest.h>
#include <iceblink/metadata/predicate.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <memory>

namespace iceblink::iceberg {

class FileFilter {
 public:
  /// `schema` is the snapshot's; both outlive the filter, the predicate need not.
  /// kInvalidArgument: see BoundPredicate::bind. Throws std::bad_alloc.
  [[nodiscard]] static Result<FileFilter> make(const Predicate& predicate, const Schema& schema,
                                               const TableMetadata& table);
  FileFilter(FileFilter&&) noexcept;
  FileFilter& operator=(FileFilter&&) noexcept;
  ~FileFilter();

  /// Whether some file of the manifest may have a row that matches. Also true of what is damaged:
  /// the error shows when it is opened.
  [[nodiscard]] bool may_match(const ManifestFile& manifest) const noexcept;
  /// The same of a data file; of a delete file, by its partition alone. kCorrupt: a bound that is
  /// no value of its column, which is named.
  [[nodiscard]] Result<bool> may_match(const DataFile& file) const noexcept;
  /// The same by its partition alone.
  [[nodiscard]] bool may_match_partition(const DataFile& file) const noexcept;

 private:
  struct Parts;
  explicit FileFilter(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace iceblink::iceberg
