// Lists of properties, changed and compared.
#pragma once

#include <iceblink/metadata/table_metadata.h>

#include <span>
#include <string_view>
#include <vector>

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

}  // namespace iceblink::iceberg
