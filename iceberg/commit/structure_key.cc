#include "iceberg/commit/structure_key.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "iceberg/json_writer.h"
#include "iceberg/schema_writer.h"

namespace iceblink::iceberg {
namespace {

/// With its length, so that no two lists of texts run together into one.
void append_counted(std::string& key, std::string_view text) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

}  // namespace

std::string structure_key(const Schema& schema) {
  std::vector<std::int32_t> identifiers(schema.identifier_field_ids.begin(),
                                        schema.identifier_field_ids.end());
  std::ranges::sort(identifiers);
  identifiers.erase(std::unique(identifiers.begin(), identifiers.end()), identifiers.end());
  Schema without_id = schema;
  without_id.schema_id = 0;
  without_id.identifier_field_ids = identifiers;
  JsonWriter json;
  write_schema(json, without_id);
  return json.take();
}

std::string structure_key(const Transform& transform, std::span<const std::int32_t> source_ids) {
  std::string key;
  append_counted(key, transform.kind == TransformKind::kUnknown
                          ? '?' + std::string(transform.text)
                          : std::to_string(static_cast<int>(transform.kind)) + '/' +
                                std::to_string(transform.parameter));
  for (const std::int32_t id : source_ids) key += ',' + std::to_string(id);
  return key;
}

std::string structure_key(std::span<const PartitionField> fields) {
  std::string key;
  for (const PartitionField& field : fields) {
    append_counted(key, field.name);
    append_counted(key, structure_key(field.transform, field.source_ids));
  }
  return key;
}

std::string structure_key(std::span<const SortField> fields) {
  std::string key;
  for (const SortField& field : fields) {
    append_counted(key, structure_key(field.transform, field.source_ids));
    key += field.direction == SortDirection::kDescending ? 'd' : 'a';
    key += field.null_order == NullOrder::kNullsLast ? 'l' : 'f';
  }
  return key;
}

}  // namespace iceblink::iceberg
