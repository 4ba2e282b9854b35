// The `data_file` record of a manifest entry (Iceberg table specification, "Entries in Manifests").
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/metadata/manifest.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "iceberg/arena.h"
#include "iceberg/manifest/column_metrics_reader.h"
#include "iceberg/manifest/partition_reader.h"
#include "iceberg/manifest/record_fields.h"

namespace iceblink::iceberg {

class DataFileReader {
 public:
  /// `record`: the type of field-id 2. All of them outlive what is made. kCorrupt: the schema is
  /// none of a data file of this spec. Throws std::bad_alloc.
  [[nodiscard]] static Result<DataFileReader> make(const avro::Schema& record,
                                                   const PartitionSpec& spec,
                                                   const TableMetadata& table,
                                                   ManifestContent content);

  /// Everything it has is copied to the arena. Without what it inherits. What is wrong is told to
  /// the fault.
  [[nodiscard]] DataFile read(const avro::Value& record, Arena& arena, EntryFault& fault);

  [[nodiscard]] std::size_t scratch_bytes() const noexcept { return metrics_.scratch_bytes(); }

 private:
  DataFileReader(RecordFields fields, PartitionReader partition, std::int32_t spec_id,
                 ManifestContent content) noexcept
      : fields_(std::move(fields)),
        partition_(std::move(partition)),
        spec_id_(spec_id),
        content_(content) {}
  [[nodiscard]] Status bind_elements();
  [[nodiscard]] std::string_view copy_format(std::string_view format, Arena& arena);
  void check(const RecordValues& values, const DataFile& file) const;

  RecordFields fields_;
  PartitionReader partition_;
  ColumnMetricsReader metrics_;
  std::int32_t spec_id_;
  ManifestContent content_;
  std::string_view last_format_;  // files of one manifest share its text
};

}  // namespace iceblink::iceberg
