// Leaves out the files of a scan in which no row can match (Iceberg table specification, "Scan
// Planning"): by the manifest list's summaries, partition values, and column bounds.
//
// Whatever is not known for certain might match.
//
// Thread safety: immutable once made, but for what is remembered of each spec: one thread at a
// time.
#pragma once

#include <iceblink/metadata/manifest.h>
#include <iceblink/metadata/predicate.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <memory>

namespace iceblink::iceberg {

class FileFilter {
 public:
  /// `schema` is the snapshot's; both outlive the filter. kInvalidArgument: names no column, or not
  /// what it can be compared with; nested too deep (1,000). Throws std::bad_alloc.
  [[nodiscard]] static Result<FileFilter> make(const Predicate& predicate, const Schema& schema,
                                               const TableMetadata& table);
  FileFilter(FileFilter&&) noexcept;
  FileFilter& operator=(FileFilter&&) noexcept;
  ~FileFilter();

  /// Whether some file of the manifest may have a row that matches. Also true of what is damaged:
  /// the error shows when it is opened. Throws std::bad_alloc.
  [[nodiscard]] bool may_match(const ManifestFile& manifest) const;
  /// The same of a data file. kCorrupt: a bound that is no value of its column. Throws
  /// std::bad_alloc.
  [[nodiscard]] Result<bool> may_match(const DataFile& file) const;
  /// The same by its partition alone.
  [[nodiscard]] bool may_match_partition(const DataFile& file) const;

 private:
  struct Parts;
  explicit FileFilter(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace iceblink::iceberg
