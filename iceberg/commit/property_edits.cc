#include "iceberg/commit/property_edits.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace iceblink::iceberg {
void set_properties(std::vector<Property>& properties, std::span<const Property> updates) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (const Property& own : properties) places.emplace(own.key, places.size());
  for (const Property& update : updates) {
    const auto [place, is_new] = places.emplace(update.key, properties.size());
    if (is_new) {
      properties.push_back(update);
    } else {
      properties[place->second].value = update.value;
    }
  }
}

void remove_properties(std::vector<Property>& properties,
                       std::span<const std::string_view> removals) {
  const std::unordered_set<std::string_view> removed(removals.begin(), removals.end());
  std::erase_if(properties, [&](const Property& own) { return removed.contains(own.key); });
}

std::vector<Property> sorted_by_key(std::span<const Property> properties) {
  std::vector<Property> copy(properties.begin(), properties.end());
  std::sort(copy.begin(), copy.end(),
            [](const Property& a, const Property& b) { return a.key < b.key; });
  return copy;
}

bool has_same_entries(std::span<const Property> a, std::span<const Property> b) {
  if (a.size() != b.size()) return false;
  const std::vector<Property> all_a = sorted_by_key(a);
  const std::vector<Property> all_b = sorted_by_key(b);
  return std::equal(all_a.begin(), all_a.end(), all_b.begin(),
                    [](const Property& one, const Property& other) {
                      return one.key == other.key && one.value == other.value;
                    });
}

}  // namespace iceblink::iceberg
