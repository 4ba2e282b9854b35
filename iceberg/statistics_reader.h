// Statistics, partition statistics and encryption keys from JSON (Iceberg table specification,
// "Table Statistics", "Partition Statistics", "Encryption Keys").
#pragma once

#include <iceblink/metadata/table_metadata.h>

#include <span>

#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

/// Arrays, or null, which is empty. Readers may ignore statistics: an entry that lacks something is
/// left out.
[[nodiscard]] std::span<const StatisticsFile> read_statistics(JsonReader& reader);
[[nodiscard]] std::span<const PartitionStatisticsFile> read_partition_statistics(
    JsonReader& reader);

[[nodiscard]] std::span<const EncryptionKey> read_encryption_keys(JsonReader& reader);

/// Single entries, which lack nothing.
[[nodiscard]] StatisticsFile read_statistics_file(JsonReader& reader);
[[nodiscard]] PartitionStatisticsFile read_partition_statistics_file(JsonReader& reader);
[[nodiscard]] EncryptionKey read_encryption_key(JsonReader& reader);

}  // namespace iceblink::iceberg
