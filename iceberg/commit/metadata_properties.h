// Properties of tables and views that a catalog acts upon.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "iceberg/commit/new_metadata.h"

namespace iceblink::iceberg {

/// Selects the format, and is never stored.
inline constexpr std::string_view kFormatVersionProperty = "format-version";

/// Names that clients use for what is no property: they are never stored.
[[nodiscard]] bool is_reserved_property(std::string_view key) noexcept;

/// What `format-version` says; not whether it is one of ours. kInvalidArgument: no number.
[[nodiscard]] Result<std::int32_t> parse_format_version(std::string_view value);

/// kInvalidArgument: a value that the catalog would have to act upon, and cannot.
[[nodiscard]] Status check_property(const Property& property);

/// How many entries the metadata-log may have: `write.metadata.previous-versions-max`, at least 1;
/// 100 where it is not there, or no number.
[[nodiscard]] std::size_t metadata_log_count_max(std::span<const Property> properties) noexcept;

/// `write.metadata.delete-after-commit.enabled` is true.
[[nodiscard]] bool deletes_after_commit(std::span<const Property> properties) noexcept;

/// The value is "true", in any case.
[[nodiscard]] bool is_true(std::span<const Property> properties, std::string_view key) noexcept;

/// Sets where the file goes, and whether it is compressed (`write.metadata.path`, without slashes
/// at its end; `write.metadata.compression-codec`). Throws std::bad_alloc.
void set_file_options(NewMetadata& metadata, std::span<const Property> properties);

/// Without slashes at its end, but for those of "scheme://".
[[nodiscard]] std::string_view without_trailing_slashes(std::string_view location) noexcept;

}  // namespace iceblink::iceberg
