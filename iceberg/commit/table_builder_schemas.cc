// Schemas of a table that is being built.
#include <algorithm>
#include <limits>
#include <utility>

#include "iceberg/commit/refusal.h"
#include "iceberg/commit/schema_check.h"
#include "iceberg/commit/structure_key.h"
#include "iceberg/commit/table_builder.h"

namespace iceblink::iceberg {

void TableBuilder::index_schemas() {
  if (schema_ids_) return;
  schema_ids_.emplace(0, KeyHash{hash_seed_});
  // The first of two that are the same counts.
  for (const Schema& schema : schemas_.elements()) {
    schema_ids_->emplace(arena_.copy(structure_key(schema)), schema.schema_id);
  }
}

Status TableBuilder::apply_one(const AddSchema& update) {
  ICEBLINK_RETURN_IF_ERROR(check_schema(update.schema, values_.format_version));
  index_schemas();
  const std::string key = structure_key(update.schema);
  const auto known = schema_ids_->find(key);
  if (known != schema_ids_->end() && schemas_.find(known->second) != nullptr) {
    last_added_schema_id_ = known->second;
    return Ok{};
  }
  if (highest_schema_id_ == std::numeric_limits<std::int32_t>::max()) {
    return refusal("Cannot add schema: there is no schema-id left");
  }
  Schema schema = update.schema;
  schema.schema_id = ++highest_schema_id_;
  schemas_.append(schema.schema_id, schema);
  schema_ids_->insert_or_assign(arena_.copy(key), schema.schema_id);
  values_.last_column_id = std::max(values_.last_column_id, highest_field_id(schema));
  last_added_schema_id_ = schema.schema_id;
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const SetCurrentSchema& update) {
  std::int32_t id = update.schema_id;
  if (id == kLastAdded) {
    if (!last_added_schema_id_) {
      return refusal("Cannot set last added schema: no schema has been added");
    }
    id = *last_added_schema_id_;
  }
  if (schemas_.find(id) == nullptr) {
    return refusal("Cannot set current schema to unknown schema: " + std::to_string(id));
  }
  if (has_current_schema_ && values_.current_schema_id == id) return Ok{};
  values_.current_schema_id = id;
  has_current_schema_ = true;
  is_changed_ = is_structure_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const RemoveSchemas& update) {
  for (const std::int32_t id : update.schema_ids) {
    if (has_current_schema_ && id == values_.current_schema_id) {
      return refusal("Cannot remove the current schema");
    }
    if (schemas_.remove(id)) is_changed_ = true;
  }
  return Ok{};
}

Result<const SchemaIndex*> TableBuilder::binding_schema(std::string_view what) {
  const std::int32_t id =
      has_current_schema_ ? values_.current_schema_id : last_added_schema_id_.value_or(kLastAdded);
  const Schema* const schema = schemas_.find(id);
  if (schema == nullptr) {
    return refusal("Cannot add " + std::string(what) + ": the table has no current schema");
  }
  auto& index = schema_indexes_[id];
  if (index == nullptr) index = std::make_unique<SchemaIndex>(*schema, hash_seed_);
  return index.get();
}

}  // namespace iceblink::iceberg
