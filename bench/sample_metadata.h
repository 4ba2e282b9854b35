// Table metadata of any size, made from numbers: what an engine that appends writes.
#pragma once

#include <cstddef>
#include <string>

namespace iceblink::bench {

struct SampleMetadataShape {
  std::size_t snapshot_count = 1000;  // about 800 bytes each
  std::size_t column_count = 20;      // about 60 bytes each
  std::size_t metadata_log_count = 100;
  std::string location = "s3://bucket/warehouse/db/table";  // of the table
};

/// JSON, format 2, compact.
[[nodiscard]] std::string sample_metadata(const SampleMetadataShape& shape);

}  // namespace iceblink::bench
