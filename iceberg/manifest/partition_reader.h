// Partition tuples of data files, as the manifest's partition spec has them.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/metadata/literal.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/arena.h"
#include "iceberg/manifest/partition_column.h"
#include "iceberg/manifest/record_fields.h"

namespace iceblink::iceberg {

class PartitionReader {
 public:
  /// `record`: the type of field-id 102; null: it is never there. A field that the record lacks is
  /// null if it cannot be anything else: its transform is void, or its source column is gone or of
  /// type unknown. kCorrupt: another one is missing; a type that is not the spec's. `spec` and
  /// `table` outlive what is made. Throws std::bad_alloc.
  [[nodiscard]] static Result<PartitionReader> make(const avro::Schema* record,
                                                    const PartitionSpec& spec,
                                                    const TableMetadata& table);

  /// One literal for each field of the spec. `record` is null where the file has none. What is
  /// wrong is told to the fault.
  [[nodiscard]] std::span<const Literal> read(const avro::Value* record, Arena& arena,
                                              EntryFault& fault) const;

 private:
  static constexpr std::size_t kAbsent = SIZE_MAX;
  struct Column {
    PartitionColumn type;
    std::size_t position;
    std::string_view name;
  };

  [[nodiscard]] Result<Column> bind(const avro::Schema* record, const PartitionField& field,
                                    const TableMetadata& table);

  std::vector<Column> columns_;
  bool may_be_missing_ = true;  // the tuple as a whole
};

}  // namespace iceblink::iceberg
