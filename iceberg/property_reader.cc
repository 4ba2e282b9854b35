#include "iceberg/property_reader.h"

#include <algorithm>

namespace iceblink::iceberg {

void RepeatedKeys::report_repeated(JsonReader& reader, std::vector<std::string_view> keys) {
  std::sort(keys.begin(), keys.end());
  for (auto at = keys.begin(); at != keys.end(); ++at) {
    at = std::adjacent_find(at, keys.end());
    if (at == keys.end()) return;
    reader.report("occurs twice", *at);
  }
}

std::span<const Property> read_properties(JsonReader& reader, PropertyValues values) {
  if (reader.take_null()) return {};
  const auto key_of = [](const Property& property) { return property.key; };
  std::vector<Property> properties;
  properties.reserve(32);
  RepeatedKeys keys;
  reader.read_object([&](std::string_view key) {
    keys.add(reader, key, properties, key_of);
    const auto value =
        values == PropertyValues::kStrings ? reader.read_string() : reader.read_text();
    properties.push_back({key, value});
  });
  keys.finish(reader, properties, key_of);
  return reader.arena().copy(properties);
}

}  // namespace iceblink::iceberg
