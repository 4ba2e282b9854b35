#include "iceberg/commit/schema_index.h"

namespace iceblink::iceberg {

SchemaIndex::SchemaIndex(const Schema& schema, std::uint64_t hash_seed)
    : by_id_(0, KeyHash{hash_seed}), by_name_(0, NameHash{{hash_seed}}) {
  add(schema.fields, "", false);
}

const SchemaIndex::Entry* SchemaIndex::find(std::int32_t id) const noexcept {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

const Field* SchemaIndex::find(std::string_view full_name) const noexcept {
  const auto found = by_name_.find(full_name);
  return found == by_name_.end() ? nullptr : found->second;
}

void SchemaIndex::add(std::span<const Field> fields, const std::string& path, bool is_repeated) {
  for (const Field& field : fields) {
    const std::string name = path + std::string(field.name);
    by_id_.emplace(field.id, Entry{&field, is_repeated});
    by_name_.emplace(name, &field);
    if (!field.type.is_nested()) continue;
    add(field.type.fields, name + ".", is_repeated || field.type.kind != TypeKind::kStruct);
  }
}

}  // namespace iceblink::iceberg
