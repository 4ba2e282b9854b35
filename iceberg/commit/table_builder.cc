#include "iceberg/commit/table_builder.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>

#include "iceberg/commit/metadata_properties.h"
#include "iceberg/commit/property_edits.h"
#include "iceberg/commit/refusal.h"
#include "iceberg/metadata_header.h"
#include "iceberg/partitioning_reader.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {
namespace {

constexpr std::uint8_t kEncryptionFormatVersion = 3;

bool is_same(const EncryptionKey& a, const EncryptionKey& b) {
  return a.encrypted_key_metadata == b.encrypted_key_metadata &&
         a.encrypted_by_id == b.encrypted_by_id && has_same_entries(a.properties, b.properties);
}

/// What every table has that may be the base of a commit (docs/metadata.md, "Tables").
Status check_base(const TableMetadata& base) {
  if (!base.table_uuid && (base.format_version > 1 || !base.table_uuid_text.empty())) {
    return refusal("Cannot commit to this table: its table-uuid '" +
                   std::string(base.table_uuid_text) + "' is no UUID");
  }
  if (base.format_version > 2 && !base.next_row_id) {
    return refusal("Cannot commit to this table: it is of format 3 and has no next-row-id");
  }
  return Ok{};
}

}  // namespace

TableBuilder::TableBuilder(std::uint8_t format_version, const CommitContext& context)
    : context_(context),
      // Where a builder lies is not known to who made the request.
      hash_seed_(std::bit_cast<std::uintptr_t>(this)),
      properties_(hash_seed_),
      encryption_keys_(hash_seed_),
      schemas_(hash_seed_),
      schema_indexes_(0, KeyHash{hash_seed_}),
      partition_specs_(hash_seed_),
      field_ids_(0, KeyHash{hash_seed_}),
      used_field_ids_(0, KeyHash{hash_seed_}),
      used_fields_(0, KeyHash{hash_seed_}),
      sort_orders_(hash_seed_),
      snapshots_(hash_seed_),
      refs_(hash_seed_),
      ref_names_(hash_seed_),
      added_snapshot_ids_(0, KeyHash{hash_seed_}),
      statistics_(hash_seed_),
      partition_statistics_(hash_seed_) {
  values_.format_version = format_version;
  values_.last_partition_id = kFirstPartitionFieldId - 1;
  if (format_version > 2) values_.next_row_id = 0;
}

Result<std::unique_ptr<TableBuilder>> TableBuilder::from_base(const TableMetadata& base,
                                                              const CommitContext& context) {
  ICEBLINK_RETURN_IF_ERROR(check_base(base));
  auto builder = std::make_unique<TableBuilder>(base.format_version, context);
  ICEBLINK_RETURN_IF_ERROR(builder->load(base));
  return builder;
}

Status TableBuilder::load(const TableMetadata& base) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto snapshots, base.snapshots());
  ICEBLINK_ASSIGN_OR_RETURN(const auto snapshot_log, base.snapshot_log());
  ICEBLINK_ASSIGN_OR_RETURN(const auto metadata_log, base.metadata_log());
  values_ = base;
  base_updated_ms_ = base.last_updated_ms;
  is_new_ = is_changed_ = is_structure_changed_ = false;
  has_current_schema_ = has_default_spec_ = has_default_sort_order_ = true;
  for (const Property& property : base.properties) properties_.append(property.key, property);
  for (const EncryptionKey& key : base.encryption_keys) encryption_keys_.append(key.key_id, key);
  for (const Schema& schema : base.schemas) {
    schemas_.append(schema.schema_id, schema);
    highest_schema_id_ = std::max(highest_schema_id_, schema.schema_id);
  }
  for (const PartitionSpec& spec : base.partition_specs) {
    partition_specs_.append(spec.spec_id, spec);
    highest_spec_id_ = std::max(highest_spec_id_, spec.spec_id);
  }
  for (const SortOrder& order : base.sort_orders) {
    sort_orders_.append(order.order_id, order);
    highest_sort_order_id_ = std::max(highest_sort_order_id_, order.order_id);
  }
  for (const TableSnapshot& snapshot : snapshots) snapshots_.append(snapshot.snapshot_id, snapshot);
  for (const SnapshotRef& ref : base.refs) put_ref(ref);
  for (const auto& file : base.statistics) statistics_.append(file.snapshot_id, file);
  for (const auto& file : base.partition_statistics) {
    partition_statistics_.append(file.snapshot_id, file);
  }
  snapshot_log_.assign(snapshot_log.begin(), snapshot_log.end());
  base_snapshot_log_count_ = snapshot_log_.size();
  metadata_log_.assign(metadata_log.begin(), metadata_log.end());
  return Ok{};
}

Status TableBuilder::apply(const TableUpdate& update) {
  return std::visit([this](const auto& one) { return apply_one(one); }, update);
}

// ---- The table itself.

Status TableBuilder::apply_one(const AssignUuid& update) {
  const auto uuid = parse_uuid(update.uuid);
  if (!uuid || *uuid == Uuid{}) {
    return refusal("Cannot assign the uuid '" + std::string(update.uuid) +
                   "': it is no UUID, or all zero");
  }
  if (values_.table_uuid == uuid) return Ok{};
  if (values_.table_uuid) {
    return refusal("Cannot reassign uuid: the table has " + std::string(values_.table_uuid_text));
  }
  values_.table_uuid = uuid;
  values_.table_uuid_text = update.uuid;
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const UpgradeFormatVersion& update) {
  const std::int32_t version = update.format_version;
  if (version > kTableFormatVersionMax) {
    return refusal("Cannot upgrade table to unsupported format version: v" +
                   std::to_string(version) + " (supported: v" +
                   std::to_string(kTableFormatVersionMax) + ")");
  }
  if (version < values_.format_version) {
    return refusal("Cannot downgrade v" + std::to_string(values_.format_version) + " table to v" +
                   std::to_string(version));
  }
  if (version == values_.format_version) return Ok{};
  // What format 1 wrote has the sequence number 0, and what was before 3 has no row ids.
  if (values_.format_version == 1) values_.last_sequence_number = 0;
  if (version > 2) values_.next_row_id = 0;
  values_.format_version = static_cast<std::uint8_t>(version);
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const SetLocation& update) {
  const auto location = without_trailing_slashes(update.location);
  if (location.empty()) return refusal("Cannot set location: it is empty");
  if (location == values_.location || update.location == values_.location) return Ok{};
  values_.location = location;
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const SetProperties& update) {
  for (const Property& property : update.updates) ICEBLINK_RETURN_IF_ERROR(set_property(property));
  return Ok{};
}

Status TableBuilder::set_property(const Property& property) {
  if (property.key == kFormatVersionProperty) {
    ICEBLINK_ASSIGN_OR_RETURN(const std::int32_t version, parse_format_version(property.value));
    return apply_one(UpgradeFormatVersion{version});
  }
  if (is_reserved_property(property.key)) return Ok{};
  const Property* const old = properties_.find(property.key);
  if (old != nullptr && old->value == property.value) return Ok{};
  ICEBLINK_RETURN_IF_ERROR(check_property(property));
  properties_.put(property.key, property);
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const RemoveProperties& update) {
  for (const auto key : update.removals) {
    if (properties_.remove(key)) is_changed_ = true;
  }
  return Ok{};
}

Status TableBuilder::apply_one(const AddEncryptionKey& update) {
  const EncryptionKey& key = update.encryption_key;
  if (values_.format_version < kEncryptionFormatVersion) {
    return refusal("Cannot add encryption key '" + std::string(key.key_id) +
                   "': encryption keys are not supported until v3");
  }
  if (const EncryptionKey* const old = encryption_keys_.find(key.key_id)) {
    if (is_same(*old, key)) return Ok{};
    return refusal("Cannot add encryption key '" + std::string(key.key_id) +
                   "': the table has another key of this id");
  }
  encryption_keys_.append(key.key_id, key);
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const RemoveEncryptionKey& update) {
  if (values_.format_version < kEncryptionFormatVersion) {
    return refusal("Cannot remove encryption key '" + std::string(update.key_id) +
                   "': encryption keys are not supported until v3");
  }
  if (encryption_keys_.remove(update.key_id)) is_changed_ = true;
  return Ok{};
}

}  // namespace iceblink::iceberg
