// What the catalog wants to know of a metadata file: which kind it is, its format and its uuid.
// The rest of the document is checked to be JSON, and not looked at.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "iceberg/gzip.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {

inline constexpr std::uint8_t kTableFormatVersionMax = 3;
inline constexpr std::uint8_t kViewFormatVersionMax = 1;

struct MetadataHeader {
  std::uint8_t format_version = 0;
  /// The table's uuid, or the view's. Absent only in format 1 of tables, where it is optional.
  std::optional<Uuid> table_uuid;
  bool is_view = false;
};

/// The header of a metadata file, given its bytes as stored (plain, with a BOM, or gzip).
///
/// kInvalidArgument says what is wrong: empty, not one JSON object, cut short, bytes behind it; a
/// member read here twice; format-version missing, no integer, or above ours (both are named); no
/// location; a uuid that is missing, no UUID, or all zero; neither a table's nor a view's metadata.
/// Else the errors of MetadataText::of.
[[nodiscard]] Result<MetadataHeader> parse_metadata_header(
    std::span<const std::byte> file, std::size_t inflated_bytes_max = kInflatedBytesMaxDefault);

}  // namespace iceblink::iceberg
