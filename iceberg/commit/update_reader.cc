#include "iceberg/commit/update_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "iceberg/commit/request_reader.h"
#include "iceberg/partitioning_reader.h"
#include "iceberg/property_reader.h"
#include "iceberg/schema_reader.h"
#include "iceberg/snapshot_reader.h"
#include "iceberg/statistics_reader.h"
#include "iceberg/view_reader.h"

namespace iceblink::iceberg {
namespace {

// ---- Updates, by what their members are.

std::string_view read_string_of(JsonReader& reader, std::string_view name) {
  return read_member(reader, name, [](JsonReader& at) { return at.read_string(); });
}

std::int32_t read_id_of(JsonReader& reader, std::string_view name) {
  return read_member(reader, name, [](JsonReader& at) { return at.read_int32(); });
}

std::int64_t read_long_id_of(JsonReader& reader, std::string_view name) {
  return read_member(reader, name, [](JsonReader& at) { return at.read_int64(); });
}

AssignUuid read_assign_uuid(JsonReader& reader) {
  return {read_string_of(reader, "uuid")};
}

UpgradeFormatVersion read_upgrade_format_version(JsonReader& reader) {
  return {read_id_of(reader, "format-version")};
}

AddSchema read_add_schema(JsonReader& reader) {
  return {read_member(reader, "schema", [](JsonReader& at) { return read_schema(at, 0); })};
}

SetCurrentSchema read_set_current_schema(JsonReader& reader) {
  return {read_id_of(reader, "schema-id")};
}

AddPartitionSpec read_add_spec(JsonReader& reader) {
  return {read_member(reader, "spec", read_requested_partition_spec)};
}

SetDefaultSpec read_set_default_spec(JsonReader& reader) {
  return {read_id_of(reader, "spec-id")};
}

AddSortOrder read_add_sort_order(JsonReader& reader) {
  return {read_member(reader, "sort-order",
                      [](JsonReader& at) { return read_sort_order(at, OrderId::kRequired); })};
}

SetDefaultSortOrder read_set_default_sort_order(JsonReader& reader) {
  return {read_id_of(reader, "sort-order-id")};
}

// What a table's format does not have is the builder's to judge.
AddSnapshot read_add_snapshot(JsonReader& reader) {
  const auto written =
      read_member(reader, "snapshot", [](JsonReader& at) { return read_written_snapshot(at, 3); });
  return {written.snapshot, written.has_sequence_number};
}

// The members of the ref stand beside its name.
SetSnapshotRef read_set_snapshot_ref(JsonReader& reader) {
  const JsonReader::Place begin = reader.place();
  const std::string_view name = read_string_of(reader, "ref-name");
  if (!reader.goes_on()) return {};
  reader.go_to(begin);
  return {read_ref(reader, name)};
}

RemoveSnapshots read_remove_snapshots(JsonReader& reader) {
  return {read_member(reader, "snapshot-ids", read_long_ids)};
}

RemoveSnapshotRef read_remove_snapshot_ref(JsonReader& reader) {
  return {read_string_of(reader, "ref-name")};
}

SetLocation read_set_location(JsonReader& reader) {
  return {read_string_of(reader, "location")};
}

SetProperties read_set_properties(JsonReader& reader) {
  return {read_member(reader, "updates", [](JsonReader& at) {
    if (at.at_null()) at.report("is null");
    return read_properties(at, PropertyValues::kStrings);
  })};
}

RemoveProperties read_remove_properties(JsonReader& reader) {
  return {read_member(reader, "removals", read_strings)};
}

SetStatistics read_set_statistics(JsonReader& reader) {
  return {read_member(reader, "statistics", read_statistics_file)};
}

RemoveStatistics read_remove_statistics(JsonReader& reader) {
  return {read_long_id_of(reader, "snapshot-id")};
}

SetPartitionStatistics read_set_partition_statistics(JsonReader& reader) {
  return {read_member(reader, "partition-statistics", read_partition_statistics_file)};
}

RemovePartitionStatistics read_remove_partition_statistics(JsonReader& reader) {
  return {read_long_id_of(reader, "snapshot-id")};
}

RemovePartitionSpecs read_remove_partition_specs(JsonReader& reader) {
  return {read_member(reader, "spec-ids", read_ids)};
}

RemoveSchemas read_remove_schemas(JsonReader& reader) {
  return {read_member(reader, "schema-ids", read_ids)};
}

AddEncryptionKey read_add_encryption_key(JsonReader& reader) {
  return {read_member(reader, "encryption-key", read_encryption_key)};
}

RemoveEncryptionKey read_remove_encryption_key(JsonReader& reader) {
  return {read_string_of(reader, "key-id")};
}

AddViewVersion read_add_view_version(JsonReader& reader) {
  return {read_member(reader, "view-version", read_view_version)};
}

SetCurrentViewVersion read_set_current_view_version(JsonReader& reader) {
  return {read_id_of(reader, "view-version-id")};
}

// ---- All of them by their names.

/// Null: none of tables, or none of views.
struct Action {
  std::string_view name;
  TableUpdate (*read_of_table)(JsonReader& reader) = nullptr;
  ViewUpdate (*read_of_view)(JsonReader& reader) = nullptr;

  [[nodiscard]] auto reader_of(const TableUpdate*) const noexcept { return read_of_table; }
  [[nodiscard]] auto reader_of(const ViewUpdate*) const noexcept { return read_of_view; }
};

template <typename Update, typename Variant>
constexpr bool kIsOneOf = false;
template <typename Update, typename... Updates>
constexpr bool kIsOneOf<Update, std::variant<Updates...>> = (std::is_same_v<Update, Updates> ||
                                                             ...);

template <typename Variant, auto read>
Variant read_as(JsonReader& reader) {
  return Variant(read(reader));
}

template <auto read>
constexpr Action action(std::string_view name) {
  using Update = std::invoke_result_t<decltype(read), JsonReader&>;
  Action made{name};
  if constexpr (kIsOneOf<Update, TableUpdate>) made.read_of_table = read_as<TableUpdate, read>;
  if constexpr (kIsOneOf<Update, ViewUpdate>) made.read_of_view = read_as<ViewUpdate, read>;
  return made;
}

constexpr std::array kActions{
    action<read_assign_uuid>("assign-uuid"),
    action<read_upgrade_format_version>("upgrade-format-version"),
    action<read_add_schema>("add-schema"),
    action<read_set_current_schema>("set-current-schema"),
    action<read_add_spec>("add-spec"),
    action<read_set_default_spec>("set-default-spec"),
    action<read_add_sort_order>("add-sort-order"),
    action<read_set_default_sort_order>("set-default-sort-order"),
    action<read_add_snapshot>("add-snapshot"),
    action<read_set_snapshot_ref>("set-snapshot-ref"),
    action<read_remove_snapshots>("remove-snapshots"),
    action<read_remove_snapshot_ref>("remove-snapshot-ref"),
    action<read_set_location>("set-location"),
    action<read_set_properties>("set-properties"),
    action<read_remove_properties>("remove-properties"),
    action<read_set_statistics>("set-statistics"),
    action<read_remove_statistics>("remove-statistics"),
    action<read_set_partition_statistics>("set-partition-statistics"),
    action<read_remove_partition_statistics>("remove-partition-statistics"),
    action<read_remove_partition_specs>("remove-partition-specs"),
    action<read_remove_schemas>("remove-schemas"),
    action<read_add_encryption_key>("add-encryption-key"),
    action<read_remove_encryption_key>("remove-encryption-key"),
    action<read_add_view_version>("add-view-version"),
    action<read_set_current_view_version>("set-current-view-version"),
};

template <typename Update>
Update read_update(JsonReader& reader, std::string_view kind) {
  const std::string_view name = read_kind(reader, "action");
  if (!reader.goes_on()) return {};
  const auto* const found = std::ranges::find(kActions, name, &Action::name);
  if (found == kActions.end()) {
    reader.report("'" + std::string(name) + "' is unknown", "action");
    reader.skip();
    return {};
  }
  const auto read = found->reader_of(static_cast<const Update*>(nullptr));
  if (read != nullptr) return read(reader);
  reader.report("'" + std::string(name) + "' is not an update of " + std::string(kind), "action");
  reader.skip();
  return {};
}

}  // namespace

TableUpdate read_table_update(JsonReader& reader) {
  return read_update<TableUpdate>(reader, "tables");
}

ViewUpdate read_view_update(JsonReader& reader) {
  return read_update<ViewUpdate>(reader, "views");
}

}  // namespace iceblink::iceberg
