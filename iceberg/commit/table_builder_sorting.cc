// Sort orders of a table that is being built, and what they have in common with partition specs.
#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "iceberg/commit/refusal.h"
#include "iceberg/commit/structure_key.h"
#include "iceberg/commit/table_builder.h"
#include "iceberg/pruning/transforms.h"
#include "iceberg/type_text.h"

namespace iceblink::iceberg {
namespace {

constexpr std::uint8_t kSeveralSourcesFormatVersion = 3;
constexpr std::int32_t kUnsortedOrderId = 0;

/// One that is known, with a parameter that it cannot have.
bool is_malformed(const Transform& transform) {
  if (transform.kind != TransformKind::kUnknown) return false;
  std::string name(transform.text.substr(0, transform.text.find('[')));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.empty() || name == "bucket" || name == "truncate";
}

}  // namespace

void TableBuilder::index_sort_orders() {
  if (sort_order_ids_) return;
  sort_order_ids_.emplace(0, KeyHash{hash_seed_});
  for (const SortOrder& order : sort_orders_.elements()) {
    sort_order_ids_->emplace(arena_.copy(structure_key(order.fields)), order.order_id);
  }
}

Status TableBuilder::apply_one(const AddSortOrder& update) {
  index_sort_orders();
  const std::string key = structure_key(update.sort_order.fields);
  const auto known = sort_order_ids_->find(key);
  if (known != sort_order_ids_->end()) {
    last_added_sort_order_id_ = known->second;
    return Ok{};
  }
  SortOrder order;
  order.fields = update.sort_order.fields;
  order.order_id = kUnsortedOrderId;
  if (!order.fields.empty()) {
    ICEBLINK_ASSIGN_OR_RETURN(const SchemaIndex* const schema, binding_schema("sort order"));
    ICEBLINK_RETURN_IF_ERROR(check_sort_fields(order.fields, *schema));
    if (highest_sort_order_id_ == std::numeric_limits<std::int32_t>::max()) {
      return refusal("Cannot add sort order: there is no order-id left");
    }
    order.order_id = ++highest_sort_order_id_;
  }
  sort_orders_.append(order.order_id, order);
  sort_order_ids_->emplace(arena_.copy(key), order.order_id);
  last_added_sort_order_id_ = order.order_id;
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const SetDefaultSortOrder& update) {
  std::int32_t id = update.sort_order_id;
  if (id == kLastAdded) {
    if (!last_added_sort_order_id_) {
      return refusal("Cannot set last added sort order: no sort order has been added");
    }
    id = *last_added_sort_order_id_;
  }
  if (sort_orders_.find(id) == nullptr) {
    return refusal("Cannot set default sort order to unknown order: " + std::to_string(id));
  }
  if (has_default_sort_order_ && values_.default_sort_order_id == id) return Ok{};
  values_.default_sort_order_id = id;
  has_default_sort_order_ = true;
  is_changed_ = is_structure_changed_ = true;
  return Ok{};
}

Status TableBuilder::check_sort_fields(std::span<const SortField> fields,
                                       const SchemaIndex& schema) const {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    ICEBLINK_RETURN_IF_ERROR(check_sources(fields[i].transform, fields[i].source_ids, schema,
                                           "sort field " + std::to_string(i)));
  }
  return Ok{};
}

Status TableBuilder::check_sources(const Transform& transform,
                                   std::span<const std::int32_t> source_ids,
                                   const SchemaIndex& schema, const std::string& what) const {
  if (is_malformed(transform)) {
    return refusal("Invalid transform for " + what + ": '" + std::string(transform.text) + "'");
  }
  if (source_ids.empty())
    return refusal("Cannot find source column for " + what + ": none is named");
  if (source_ids.size() > 1 && values_.format_version < kSeveralSourcesFormatVersion) {
    return refusal("Invalid transform for " + what +
                   ": several source columns are not supported until v" +
                   std::to_string(kSeveralSourcesFormatVersion));
  }
  for (const std::int32_t id : source_ids) {
    const auto* const source = schema.find(id);
    if (source == nullptr) {
      return refusal("Cannot find source column for " + what + ": " + std::to_string(id));
    }
    const Type& type = source->field->type;
    // What a transform that nobody here knows can be of is its writer's to know.
    const bool fits = transform.kind == TransformKind::kUnknown
                          ? !type.is_nested()
                          : !type.is_nested() && result_type(transform, type).has_value();
    if (fits) continue;
    return refusal("Invalid source type " + format_type_briefly(type) + " for transform of " +
                   what + ": " + std::string(transform.text));
  }
  return Ok{};
}

// The others may name columns that are gone: they are of old data.
Status TableBuilder::check_defaults_fit() {
  ICEBLINK_ASSIGN_OR_RETURN(const SchemaIndex* const schema, binding_schema("defaults"));
  ICEBLINK_RETURN_IF_ERROR(
      check_partition_fields(partition_specs_.find(values_.default_spec_id)->fields, *schema));
  return check_sort_fields(sort_orders_.find(values_.default_sort_order_id)->fields, *schema);
}

}  // namespace iceblink::iceberg
