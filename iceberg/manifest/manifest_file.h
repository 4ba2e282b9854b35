// A manifest or manifest list as an Avro file: opened under the limits, with what its header says.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/metadata/manifest.h>
#include <iceblink/result.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "iceberg/avro/container_reader.h"

namespace iceblink::iceberg {

inline constexpr std::int32_t kManifestFormatVersionMax = 3;

/// kTooLarge: the file is over document_bytes_max. kUnsupported: a format-version above ours. Else
/// as ContainerReader::open(). Throws std::bad_alloc.
[[nodiscard]] Result<std::unique_ptr<avro::ContainerReader>> open_manifest_file(
    std::string_view file, const MetadataLimits& limits);

/// What the header's metadata says, as far as it does: some writers leave it out.
struct ManifestHeader {
  std::optional<std::int32_t> partition_spec_id;
  std::optional<ManifestContent> content;
};

/// kCorrupt: what stands there cannot be. Throws std::bad_alloc.
[[nodiscard]] Result<ManifestHeader> read_manifest_header(const avro::ContainerReader& reader);

}  // namespace iceblink::iceberg
