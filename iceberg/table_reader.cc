#include "iceberg/table_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "iceberg/metadata_header.h"
#include "iceberg/partitioning_reader.h"
#include "iceberg/property_reader.h"
#include "iceberg/schema_reader.h"
#include "iceberg/statistics_reader.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {
namespace {

/// The first id that two elements have in common, as text; empty: there is none.
template <typename Element>
std::string repeated_id(std::span<const Element> elements, std::int32_t Element::*id) {
  std::vector<std::int32_t> ids;
  ids.reserve(elements.size());
  for (const Element& element : elements) ids.push_back(element.*id);
  std::sort(ids.begin(), ids.end());
  const auto repeated = std::adjacent_find(ids.begin(), ids.end());
  return repeated == ids.end() ? "" : std::to_string(*repeated);
}

template <typename Element>
bool contains_id(std::span<const Element> elements, std::int32_t Element::*id,
                 std::int32_t wanted) {
  return std::any_of(elements.begin(), elements.end(),
                     [&](const Element& element) { return element.*id == wanted; });
}

}  // namespace

constinit const std::array<std::string_view, TableReader::kMemberCount> TableReader::kNames{
    "format-version",
    "table-uuid",
    "location",
    "last-sequence-number",
    "last-updated-ms",
    "last-column-id",
    "schema",
    "schemas",
    "current-schema-id",
    "partition-spec",
    "partition-specs",
    "default-spec-id",
    "last-partition-id",
    "properties",
    "current-snapshot-id",
    "snapshots",
    "snapshot-log",
    "metadata-log",
    "sort-orders",
    "default-sort-order-id",
    "refs",
    "statistics",
    "partition-statistics",
    "next-row-id",
    "encryption-keys"};

void TableReader::read(const JsonReader::Step* parent) {
  parent_ = parent;
  reader_.set_origin(parent);
  find_members();
  if (!reader_.has_read_object()) return;
  const JsonReader::Place end = reader_.place();
  if (reader_.goes_on()) read_format_version();
  if (reader_.goes_on()) read_identity();
  if (reader_.goes_on()) read_schemas_of_table();
  if (reader_.goes_on()) read_partition_specs_of_table();
  if (reader_.goes_on()) read_last_partition_id();
  if (reader_.goes_on()) read_sort_orders_of_table();
  if (reader_.goes_on()) index_snapshots();
  if (reader_.goes_on()) check_sequence_numbers();
  if (reader_.goes_on()) read_current_snapshot_id();
  if (reader_.goes_on()) read_refs_of_table();
  if (reader_.goes_on()) read_rest();
  if (reader_.goes_on()) check_unread_members();
  reader_.set_origin(parent_);
  if (reader_.goes_on()) reader_.go_to(end);
}

// ---- The members and where they are.

void TableReader::find_members() {
  raw_.text = text_;
  raw_.limits = reader_.limits();
  reader_.read_object([&](std::string_view key) {
    const auto* const known = std::find(kNames.begin(), kNames.end(), key);
    if (known == kNames.end()) {
      reader_.skip();
      return;
    }
    note_member(static_cast<Member>(known - kNames.begin()));
  });
}

void TableReader::note_member(Member member) {
  auto& place = place_of(member);
  if (place != nullptr) {
    reader_.report("occurs twice");
    reader_.skip();
    return;
  }
  place = reader_.place();
  const bool is_null = reader_.at_null();
  switch (member) {
    case Member::kSnapshots: {
      read_members_ |= bit_of(member);
      const auto begin = static_cast<std::uint32_t>(reader_.offset());
      const std::size_t problem_count = reader_.problem_count();
      scan_snapshots(reader_, scanned_);
      knows_snapshots_ = reader_.problem_count() == problem_count;
      if (!reader_.goes_on() || is_null) return;
      raw_.snapshots = {begin, static_cast<std::uint32_t>(reader_.end_offset() - begin)};
      return;
    }
    case Member::kSnapshotLog:
      raw_.snapshot_log = is_null ? (reader_.skip(), TextRange{}) : skip_range();
      return;
    case Member::kMetadataLog:
      raw_.metadata_log = is_null ? (reader_.skip(), TextRange{}) : skip_range();
      return;
    default:
      reader_.skip_raw();
  }
}

TextRange TableReader::skip_range() {
  const auto begin = static_cast<std::uint32_t>(reader_.offset());
  if (reader_.peek() != '[') {
    reader_.report("expected an array");
    reader_.skip();
    return {};
  }
  reader_.skip_raw();
  if (!reader_.goes_on()) return {};
  return {begin, static_cast<std::uint32_t>(reader_.end_offset() - begin)};
}

bool TableReader::has(Member member) noexcept {
  if (place_of(member) == nullptr) return false;
  reader_.go_to(place_of(member));
  return !reader_.at_null();
}

bool TableReader::require(Member member) {
  if (has(member)) return true;
  reader_.report(place_of(member) == nullptr ? "is missing" : "is null", name_of(member));
  return false;
}

void TableReader::report_at(Member member, std::string what) {
  reader_.report(what, name_of(member));
}

void TableReader::report_in(Member member, std::size_t index, std::string_view name,
                            std::string what) {
  JsonReader::Step list;
  list.parent = parent_;
  list.key = name_of(member);
  JsonReader::Step step;
  step.parent = &list;
  step.index = index;
  step.is_array = true;
  reader_.set_origin(&step);
  reader_.report(what, name);
  reader_.set_origin(parent_);
}

void TableReader::report_in(Member member, std::string_view key, std::string_view name,
                            std::string what) {
  JsonReader::Step object;
  object.parent = parent_;
  object.key = name_of(member);
  JsonReader::Step step;
  step.parent = &object;
  step.key = key;
  reader_.set_origin(&step);
  reader_.report(what, name);
  reader_.set_origin(parent_);
}

bool TableReader::read_required_int32(Member member, std::int32_t& value) {
  const std::size_t problem_count = reader_.problem_count();
  if (require(member)) at(member, [&] { value = reader_.read_int32(); });
  return reader_.problem_count() == problem_count;
}

bool TableReader::read_required_int64(Member member, std::int64_t& value) {
  const std::size_t problem_count = reader_.problem_count();
  if (require(member)) at(member, [&] { value = reader_.read_int64(); });
  return reader_.problem_count() == problem_count;
}

// ---- What they say.

void TableReader::read_format_version() {
  std::int64_t version = 0;
  if (!read_required_int64(Member::kFormatVersion, version)) return;
  if (version > kTableFormatVersionMax) {
    reader_.refuse(ErrorKind::kUnsupported,
                   std::to_string(version) + " is not supported, the highest known is " +
                       std::to_string(kTableFormatVersionMax),
                   name_of(Member::kFormatVersion));
  } else if (version < 1) {
    report_at(Member::kFormatVersion, std::to_string(version) + " is below 1");
  }
  values_.format_version = static_cast<std::uint8_t>(version);
}

void TableReader::read_identity() {
  if (has(Member::kTableUuid) || (values_.format_version != 1 && require(Member::kTableUuid))) {
    at(Member::kTableUuid, [&] {
      values_.table_uuid_text =
          values_.format_version == 1 ? reader_.read_string() : reader_.read_filled_string();
      values_.table_uuid = parse_uuid(values_.table_uuid_text);
      if (values_.table_uuid == Uuid{}) reader_.report("is all zero");
    });
  }
  if (require(Member::kLocation)) {
    at(Member::kLocation, [&] { values_.location = reader_.read_string(); });
  }
  if (values_.format_version > 1) {
    knows_last_sequence_number_ =
        read_required_int64(Member::kLastSequenceNumber, values_.last_sequence_number);
  }
  if (!read_required_int64(Member::kLastUpdatedMs, values_.last_updated_ms)) {
    values_.last_updated_ms = std::numeric_limits<std::int64_t>::max();  // no log is after that
  }
  read_required_int32(Member::kLastColumnId, values_.last_column_id);
}

// Format 1 had one schema; its writers put the list beside it later, or instead of it.
void TableReader::use_single_schema(std::vector<Schema>& schemas) {
  at(Member::kSchema, [&] {
    const Schema schema = read_schema(reader_, 0);
    values_.current_schema_id = schema.schema_id;
    if (!contains_id(std::span<const Schema>(schemas), &Schema::schema_id, schema.schema_id)) {
      schemas.push_back(schema);
    }
  });
}

void TableReader::read_schemas_of_table() {
  const bool is_v1 = values_.format_version == 1;
  const JsonReader::Watch watch(reader_);
  std::vector<Schema> schemas;
  if (has(Member::kSchemas)) {
    at(Member::kSchemas, [&] {
      const auto list = read_schemas(reader_);
      schemas.assign(list.begin(), list.end());
    });
  } else if (!is_v1) {
    require(Member::kSchemas);
    return;
  }
  if (is_v1 && has(Member::kSchema) && (schemas.empty() || !has(Member::kCurrentSchemaId))) {
    use_single_schema(schemas);
  } else if (is_v1 && schemas.empty()) {
    require(Member::kSchema);
    return;
  } else if (!read_required_int32(Member::kCurrentSchemaId, values_.current_schema_id)) {
    return;
  }
  if (!watch.all_is_well()) return;
  values_.schemas = reader_.arena().copy(schemas);
  const auto repeated = repeated_id(values_.schemas, &Schema::schema_id);
  if (!repeated.empty()) report_at(Member::kSchemas, "two have the schema-id " + repeated);
  if (!contains_id(values_.schemas, &Schema::schema_id, values_.current_schema_id)) {
    report_at(Member::kCurrentSchemaId,
              std::to_string(values_.current_schema_id) + " is the id of none of the schemas");
  }
}

void TableReader::read_partition_specs_of_table() {
  const bool is_v1 = values_.format_version == 1;
  const JsonReader::Watch watch(reader_);
  if (has(Member::kPartitionSpecs)) {
    at(Member::kPartitionSpecs, [&] { values_.partition_specs = read_partition_specs(reader_); });
  } else if (!is_v1) {
    require(Member::kPartitionSpecs);
    return;
  }
  if (!reader_.goes_on()) return;
  if (values_.partition_specs.empty()) {
    if (!is_v1) {
      report_at(Member::kPartitionSpecs, "is empty");
    } else if (require(Member::kPartitionSpec)) {
      at(Member::kPartitionSpec, [&] {
        PartitionSpec spec;
        spec.fields = read_partition_fields(reader_);
        values_.partition_specs = reader_.arena().copy(std::span<const PartitionSpec>(&spec, 1));
      });
    }
    return;
  }
  if (is_v1 && !has(Member::kDefaultSpecId)) {
    values_.default_spec_id = values_.partition_specs[0].spec_id;
    for (const auto& spec : values_.partition_specs) {
      values_.default_spec_id = std::max(values_.default_spec_id, spec.spec_id);
    }
  } else if (!read_required_int32(Member::kDefaultSpecId, values_.default_spec_id)) {
    return;
  }
  if (!watch.all_is_well()) return;
  const auto repeated = repeated_id(values_.partition_specs, &PartitionSpec::spec_id);
  if (!repeated.empty()) report_at(Member::kPartitionSpecs, "two have the spec-id " + repeated);
  if (!contains_id(values_.partition_specs, &PartitionSpec::spec_id, values_.default_spec_id)) {
    report_at(Member::kDefaultSpecId,
              std::to_string(values_.default_spec_id) + " is the id of none of the specs");
  }
}

void TableReader::read_last_partition_id() {
  if (values_.format_version > 1 || has(Member::kLastPartitionId)) {
    read_required_int32(Member::kLastPartitionId, values_.last_partition_id);
    return;
  }
  values_.last_partition_id = kFirstPartitionFieldId - 1;
  for (const auto& spec : values_.partition_specs) {
    for (const auto& field : spec.fields) {
      values_.last_partition_id = std::max(values_.last_partition_id, field.field_id);
    }
  }
}

void TableReader::read_sort_orders_of_table() {
  const bool is_v1 = values_.format_version == 1;
  const JsonReader::Watch watch(reader_);
  if (has(Member::kSortOrders)) {
    at(Member::kSortOrders, [&] { values_.sort_orders = read_sort_orders(reader_); });
  } else if (!is_v1) {
    require(Member::kSortOrders);
    return;
  }
  if (!reader_.goes_on()) return;
  if (values_.sort_orders.empty()) {
    if (!is_v1) report_at(Member::kSortOrders, "is empty");
    const SortOrder unsorted;
    values_.sort_orders = reader_.arena().copy(std::span<const SortOrder>(&unsorted, 1));
    return;
  }
  if (!read_required_int32(Member::kDefaultSortOrderId, values_.default_sort_order_id)) return;
  if (!watch.all_is_well()) return;
  const auto repeated = repeated_id(values_.sort_orders, &SortOrder::order_id);
  if (!repeated.empty()) report_at(Member::kSortOrders, "two have the order-id " + repeated);
  if (!contains_id(values_.sort_orders, &SortOrder::order_id, values_.default_sort_order_id)) {
    report_at(Member::kDefaultSortOrderId, std::to_string(values_.default_sort_order_id) +
                                               " is the id of none of the sort orders");
  }
}

void TableReader::read_rest() {
  if (has(Member::kProperties)) {
    at(Member::kProperties,
       [&] { values_.properties = read_properties(reader_, PropertyValues::kConverted); });
  }
  if (has(Member::kStatistics)) {
    at(Member::kStatistics, [&] { values_.statistics = read_statistics(reader_); });
  }
  if (has(Member::kPartitionStatistics)) {
    at(Member::kPartitionStatistics,
       [&] { values_.partition_statistics = read_partition_statistics(reader_); });
  }
  if (values_.format_version < 3) return;
  if (has(Member::kNextRowId)) {
    at(Member::kNextRowId, [&] {
      values_.next_row_id = reader_.read_int64();
      if (*values_.next_row_id < 0) reader_.report("is negative");
    });
  }
  if (has(Member::kEncryptionKeys)) {
    at(Member::kEncryptionKeys, [&] { values_.encryption_keys = read_encryption_keys(reader_); });
  }
}

// What its format does not have, or has twice, is not looked at; that it is JSON is.
void TableReader::check_unread_members() {
  for (std::size_t i = 0; i < kMemberCount; ++i) {
    const auto member = static_cast<Member>(i);
    const bool is_raw = member == Member::kSnapshotLog || member == Member::kMetadataLog;
    if (places_[i] == nullptr || is_raw || (read_members_ & bit_of(member)) != 0) continue;
    at(member, [&] { reader_.skip(); });
  }
}

}  // namespace iceblink::iceberg
