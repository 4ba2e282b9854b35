// Partition specs of a table that is being built.
#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "iceberg/commit/refusal.h"
#include "iceberg/commit/structure_key.h"
#include "iceberg/commit/table_builder.h"
#include "iceberg/partitioning_reader.h"

namespace iceblink::iceberg {
namespace {

constexpr std::int32_t kIdMax = std::numeric_limits<std::int32_t>::max();

std::string shown(const PartitionField& field) {
  return "partition field '" + std::string(field.name) + "'";
}

bool is_void(const PartitionField& field) noexcept {
  return field.transform.kind == TransformKind::kVoid;
}

std::string key_with_id(const PartitionField& field) {
  return std::to_string(field.field_id) + ' ' + structure_key(field.transform, field.source_ids);
}

}  // namespace

void TableBuilder::index_partition_specs() {
  if (spec_ids_) return;
  spec_ids_.emplace(0, KeyHash{hash_seed_});
  for (const PartitionSpec& spec : partition_specs_.elements()) {
    spec_ids_->emplace(arena_.copy(structure_key(spec.fields)), spec.spec_id);
    for (const PartitionField& field : spec.fields) index_partition_field(field);
  }
}

void TableBuilder::index_partition_field(const PartitionField& field) {
  field_ids_.try_emplace(arena_.copy(structure_key(field.transform, field.source_ids)),
                         field.field_id);
  // A field of format 1 that was dropped goes on as void: it says nothing of what the id is for.
  if (is_void(field)) return;
  used_field_ids_.insert(field.field_id);
  used_fields_.insert(arena_.copy(key_with_id(field)));
}

Status TableBuilder::apply_one(const AddPartitionSpec& update) {
  ICEBLINK_ASSIGN_OR_RETURN(const SchemaIndex* const schema, binding_schema("partition spec"));
  std::vector<PartitionField> fields;
  fields.reserve(update.spec.fields.size());
  for (const RequestedPartitionField& field : update.spec.fields) {
    fields.push_back({field.field_id.value_or(0), field.name, field.transform, field.source_ids});
  }
  index_partition_specs();
  const std::string key = structure_key(fields);
  const auto known = spec_ids_->find(key);
  if (known != spec_ids_->end() && partition_specs_.find(known->second) != nullptr) {
    last_added_spec_id_ = known->second;
    return Ok{};
  }
  ICEBLINK_RETURN_IF_ERROR(check_partition_names(fields, *schema));
  ICEBLINK_RETURN_IF_ERROR(check_partition_fields(fields, *schema));
  ICEBLINK_RETURN_IF_ERROR(values_.format_version == 1
                               ? assign_sequential_field_ids(update.spec, fields)
                               : assign_field_ids(update.spec, fields));
  if (highest_spec_id_ == kIdMax) {
    return refusal("Cannot add partition spec: there is no spec-id left");
  }
  PartitionSpec spec;
  spec.spec_id = ++highest_spec_id_;
  spec.fields = arena_.copy(fields);
  for (const PartitionField& field : spec.fields) {
    values_.last_partition_id = std::max(values_.last_partition_id, field.field_id);
    index_partition_field(field);
  }
  partition_specs_.append(spec.spec_id, spec);
  spec_ids_->insert_or_assign(arena_.copy(key), spec.spec_id);
  last_added_spec_id_ = spec.spec_id;
  is_changed_ = true;
  return Ok{};
}

// ---- Ids of fields

// Readers of format 1 count them.
Status TableBuilder::assign_sequential_field_ids(const RequestedPartitionSpec& spec,
                                                 std::vector<PartitionField>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto id = static_cast<std::int32_t>(kFirstPartitionFieldId + i);
    if (spec.fields[i].field_id.value_or(id) != id) {
      return refusal(
          "Spec does not use sequential IDs that are required in v1: " + shown(fields[i]) +
          " has " + std::to_string(*spec.fields[i].field_id) + ", not " + std::to_string(id));
    }
    fields[i].field_id = id;
  }
  return Ok{};
}

Status TableBuilder::assign_field_ids(const RequestedPartitionSpec& spec,
                                      std::vector<PartitionField>& fields) {
  std::unordered_set<std::int32_t, KeyHash> used(0, KeyHash{hash_seed_});
  std::int32_t last_id = values_.last_partition_id;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!spec.fields[i].field_id) continue;
    ICEBLINK_RETURN_IF_ERROR(check_given_field_id(fields[i]));
    if (!used.insert(fields[i].field_id).second) {
      return refusal("Cannot add partition spec: two fields have the field-id " +
                     std::to_string(fields[i].field_id));
    }
    last_id = std::max(last_id, fields[i].field_id);
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (spec.fields[i].field_id) continue;
    PartitionField& field = fields[i];
    const auto known = field_ids_.find(structure_key(field.transform, field.source_ids));
    if (known != field_ids_.end() && used.insert(known->second).second) {
      field.field_id = known->second;
      continue;
    }
    if (last_id == kIdMax) return refusal("Cannot add " + shown(field) + ": no field-id is left");
    field.field_id = ++last_id;
  }
  return Ok{};
}

// Of all specs together, an id is that of one transform of one column.
Status TableBuilder::check_given_field_id(const PartitionField& field) const {
  if (field.field_id < 0) {
    return refusal("Cannot add " + shown(field) + ": its field-id " +
                   std::to_string(field.field_id) + " is negative");
  }
  if (is_void(field) || !used_field_ids_.contains(field.field_id) ||
      used_fields_.contains(key_with_id(field))) {
    return Ok{};
  }
  return refusal("Cannot add " + shown(field) + ": the field-id " + std::to_string(field.field_id) +
                 " is that of another column or transform");
}

// ---- What fields may be

Status TableBuilder::check_partition_names(std::span<const PartitionField> fields,
                                           const SchemaIndex& schema) const {
  std::unordered_set<std::string_view, KeyHash> names(0, KeyHash{hash_seed_});
  for (const PartitionField& field : fields) {
    if (field.name.empty()) return refusal("Cannot use empty partition name");
    if (!names.insert(field.name).second) {
      return refusal("Cannot use partition name more than once: " + std::string(field.name));
    }
    const Field* const column = schema.find(field.name);
    if (column == nullptr) continue;
    const bool is_its_own = field.source_ids.size() == 1 && field.source_ids[0] == column->id;
    if (field.transform.kind == TransformKind::kIdentity && !is_its_own) {
      return refusal("Cannot create identity partition sourced from different field in schema: " +
                     std::string(field.name));
    }
    if (field.transform.kind != TransformKind::kIdentity && !(is_void(field) && is_its_own)) {
      return refusal("Cannot create partition from name that exists in schema: " +
                     std::string(field.name));
    }
  }
  return Ok{};
}

Status TableBuilder::check_partition_fields(std::span<const PartitionField> fields,
                                            const SchemaIndex& schema) const {
  for (const PartitionField& field : fields) {
    if (is_void(field) && !field.source_ids.empty()) continue;  // its column may be gone
    ICEBLINK_RETURN_IF_ERROR(
        check_sources(field.transform, field.source_ids, schema, shown(field)));
    for (const std::int32_t id : field.source_ids) {
      if (!schema.find(id)->is_repeated) continue;
      return refusal("Cannot add " + shown(field) + ": its source column " + std::to_string(id) +
                     " is within a list or a map");
    }
  }
  return Ok{};
}

// ---- Which one is the default, and which ones are there

Status TableBuilder::apply_one(const SetDefaultSpec& update) {
  std::int32_t id = update.spec_id;
  if (id == kLastAdded) {
    if (!last_added_spec_id_) {
      return refusal("Cannot set last added spec: no spec has been added");
    }
    id = *last_added_spec_id_;
  }
  if (partition_specs_.find(id) == nullptr) {
    return refusal("Cannot set default partition spec to unknown spec: " + std::to_string(id));
  }
  if (has_default_spec_ && values_.default_spec_id == id) return Ok{};
  values_.default_spec_id = id;
  has_default_spec_ = true;
  is_changed_ = is_structure_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const RemovePartitionSpecs& update) {
  index_partition_specs();  // their fields' ids stay taken
  for (const std::int32_t id : update.spec_ids) {
    if (has_default_spec_ && id == values_.default_spec_id) {
      return refusal("Cannot remove the default partition spec");
    }
    if (partition_specs_.remove(id)) is_changed_ = true;
  }
  return Ok{};
}

}  // namespace iceblink::iceberg
