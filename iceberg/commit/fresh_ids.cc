#include "iceberg/commit/fresh_ids.h"

#include <vector>

namespace iceblink::iceberg {

FreshIds::FreshIds(const Schema& schema, Arena& arena, std::uint64_t hash_seed)
    : arena_(arena), fresh_ids_(0, KeyHash{hash_seed}) {
  schema_.fields = assign(schema.fields);
  std::vector<std::int32_t> identifiers;
  for (const std::int32_t id : schema.identifier_field_ids) {
    if (const auto fresh = fresh_ids_.find(id); fresh != fresh_ids_.end()) {
      identifiers.push_back(fresh->second);
    }
  }
  schema_.identifier_field_ids = arena_.copy(identifiers);
}

std::span<const Field> FreshIds::assign(std::span<const Field> fields) {
  std::vector<Field> fresh(fields.begin(), fields.end());
  for (Field& field : fresh) {
    const std::int32_t id = ++last_id_;
    fresh_ids_.emplace(field.id, id);
    field.id = id;
  }
  for (Field& field : fresh) {
    if (field.type.is_nested()) field.type.fields = assign(field.type.fields);
  }
  return arena_.copy(fresh);
}

Result<std::span<const std::int32_t>> FreshIds::rebind(std::span<const std::int32_t> ids,
                                                       const std::string& what) const {
  std::vector<std::int32_t> fresh;
  for (const std::int32_t id : ids) {
    const auto found = fresh_ids_.find(id);
    if (found == fresh_ids_.end()) {
      return {ErrorKind::kInvalidArgument,
              "Cannot find source column for " + what + ": " + std::to_string(id)};
    }
    fresh.push_back(found->second);
  }
  return arena_.copy(fresh);
}

Result<RequestedPartitionSpec> FreshIds::rebind(const RequestedPartitionSpec& spec) const {
  std::vector<RequestedPartitionField> fields(spec.fields.begin(), spec.fields.end());
  for (RequestedPartitionField& field : fields) {
    field.field_id.reset();
    ICEBLINK_ASSIGN_OR_RETURN(
        field.source_ids,
        rebind(field.source_ids, "partition field '" + std::string(field.name) + "'"));
  }
  RequestedPartitionSpec rebound;
  rebound.fields = arena_.copy(fields);
  return rebound;
}

Result<SortOrder> FreshIds::rebind(const SortOrder& order) const {
  std::vector<SortField> fields(order.fields.begin(), order.fields.end());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    ICEBLINK_ASSIGN_OR_RETURN(fields[i].source_ids,
                              rebind(fields[i].source_ids, "sort field " + std::to_string(i)));
  }
  SortOrder rebound;
  rebound.fields = arena_.copy(fields);
  return rebound;
}

}  // namespace iceblink::iceberg
