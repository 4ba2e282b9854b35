#include "iceberg/manifest/entry_inheritance.h"

namespace iceblink::iceberg {
namespace {

constexpr std::string_view kOnlyAdded = "is missing, and only an added file inherits it";

}  // namespace

void EntryInheritance::complete(ManifestEntry& entry, const WrittenSequenceNumbers& written,
                                EntryFault& fault) {
  DataFile& file = entry.file;
  if (!file.snapshot_id) file.snapshot_id = listed_.added_snapshot_id;
  const bool inherits = entry.status == EntryStatus::kAdded || listed_.sequence_number == 0;

  if (written.data) {
    file.sequence_number = *written.data;
  } else if (inherits) {
    file.sequence_number = listed_.sequence_number;
  } else if (column_ == SequenceNumberColumn::kPresent && entry.is_live()) {
    fault.set("sequence_number", kOnlyAdded);
  } else {
    file.sequence_number = 0;  // of format 1, or a deleted file's, which early writers left out
  }

  if (written.file) {
    file.file_sequence_number = *written.file;
  } else if (inherits) {
    file.file_sequence_number = listed_.sequence_number;
  } else {
    file.file_sequence_number = file.sequence_number;  // from before writers had it, or kept it
  }
  assign_row_id(entry, fault);
}

void EntryInheritance::assign_row_id(ManifestEntry& entry, EntryFault& fault) {
  DataFile& file = entry.file;
  if (file.content != FileContent::kData) {
    file.first_row_id.reset();
    return;
  }
  // A deleted file has no rows to name: the reference library passes it over, and so the ids of
  // the files behind it depend on that.
  if (file.first_row_id || !next_row_id_ || !entry.is_live()) return;
  file.first_row_id = next_row_id_;
  std::int64_t next = 0;
  if (__builtin_add_overflow(*next_row_id_, file.record_count, &next)) {
    fault.set("data_file.first_row_id", "row ids beyond 64 bits");
    return;
  }
  next_row_id_ = next;
}

}  // namespace iceblink::iceberg
