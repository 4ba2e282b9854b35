// Properties of tables and views, as commits change them and as catalogs heed them.
#pragma once

#include <iceblink/metadata/table_metadata.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "iceberg/commit/new_metadata.h"

namespace iceblink::iceberg {

/// A value in the place of the one that its key has, or behind all others.
/// O(properties + updates). Throws std::bad_alloc.
void set_properties(std::vector<Property>& properties, std::span<const Property> updates);
/// Keys that are not there are passed over.
void remove_properties(std::vector<Property>& properties,
                       std::span<const std::string_view> removals);

/// Throws std::bad_alloc.
[[nodiscard]] std::vector<Property> sorted_by_key(std::span<const Property> properties);

/// The same keys with the same values, in any order. Throws std::bad_alloc.
[[nodiscard]] bool has_same_entries(std::span<const Property> a, std::span<const Property> b);

/// The value is "true", in any case.
[[nodiscard]] bool is_true(std::span<const Property> properties, std::string_view key) noexcept;

/// Sets where the file goes and how it is compressed (`write.metadata.path`,
/// `write.metadata.compression-codec`).
void set_file_options(NewMetadata& metadata, std::span<const Property> properties);

/// Without the slashes at its end, but for those of a scheme ("s3://").
[[nodiscard]] std::string_view without_slashes_at_end(std::string_view location) noexcept;

}  // namespace iceblink::iceberg
