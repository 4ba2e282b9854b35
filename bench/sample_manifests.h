// A table with manifests of any size on disk, made from numbers: what an engine that appends
// writes, with counts and bounds of every column.
#pragma once

#include <cstddef>
#include <string>

namespace iceblink::bench {

struct SampleManifestsShape {
  std::size_t manifest_count = 20;
  std::size_t files_per_manifest = 500;
  std::size_t column_count = 10;
};

/// Writes all of it into an existing directory; the path of the metadata file.
[[nodiscard]] std::string write_sample_table(const std::string& directory,
                                             const SampleManifestsShape& shape);

}  // namespace iceblink::bench
