// What manifest entries inherit from the manifest list (Iceberg table specification, "Sequence
// Number Inheritance", "First Row ID Inheritance").
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/metadata/manifest.h>

#include <cstdint>
#include <optional>

#include "iceberg/manifest/record_fields.h"

namespace iceblink::iceberg {

/// As they stand in an entry.
struct WrittenSequenceNumbers {
  std::optional<std::int64_t> data;
  std::optional<std::int64_t> file;
};

/// Whether the file has a column for the data's: format 1 has none.
enum class SequenceNumberColumn : std::uint8_t { kAbsent, kPresent };

class EntryInheritance {
 public:
  /// `listed` outlives it.
  EntryInheritance(const ManifestFile& listed, SequenceNumberColumn column) noexcept
      : listed_(listed), column_(column), next_row_id_(listed.first_row_id) {}

  /// Entries in the file's order, each once. What is wrong is told to the fault.
  void complete(ManifestEntry& entry, const WrittenSequenceNumbers& written, EntryFault& fault);

 private:
  void assign_row_id(ManifestEntry& entry, EntryFault& fault);

  const ManifestFile& listed_;
  SequenceNumberColumn column_;
  std::optional<std::int64_t> next_row_id_;
};

}  // namespace iceblink::iceberg
