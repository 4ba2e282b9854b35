// The values that clients of the Iceberg REST protocol send: schemas, specs, orders, snapshots,
// views, requirements and updates, each by a small function. Names are the specification's.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::test {

using Array = boost::json::array;
using Object = boost::json::object;
using Value = boost::json::value;

inline constexpr std::string_view kMain = "main";

[[nodiscard]] Value json_of(std::string_view text);

// ---- Schemas.

[[nodiscard]] Object required_column(int id, std::string_view name, Value type);
[[nodiscard]] Object optional_column(int id, std::string_view name, Value type);
[[nodiscard]] Object schema_of(Array columns, int schema_id = 0);
/// Required columns `id` (int) and `data` (string), with ids from `first_id` on.
[[nodiscard]] Object id_and_data(int first_id = 1, int schema_id = 0);
/// One required column `some_id` (int), of id 1.
[[nodiscard]] Object some_id();
/// `schema` with an optional column more, under another id.
[[nodiscard]] Object with_column(const Value& schema, int schema_id, int column_id,
                                 std::string_view name, Value type = "long");

// ---- Specs and orders.

[[nodiscard]] Object partition_field(int source_id, int field_id, std::string_view name,
                                     std::string_view transform);
[[nodiscard]] Object spec_of(Array fields, int spec_id = 0);
/// By bucket[16] of the column with this id.
[[nodiscard]] Object id_buckets(int source_id, int spec_id = 0);
[[nodiscard]] Object sort_field(int source_id, std::string_view transform = "identity");
[[nodiscard]] Object order_of(Array fields, int order_id = 1);

// ---- Snapshots.

struct SnapshotText {
  std::int64_t snapshot_id = 0;
  std::optional<std::int64_t> parent_id = std::nullopt;
  std::int64_t sequence_number = 1;
  std::int64_t schema_id = 0;
};
[[nodiscard]] Object snapshot_of(const SnapshotText& text);

// ---- Views.

[[nodiscard]] Object sql_of(std::string_view dialect, std::string_view sql);
[[nodiscard]] Object view_version(Array representations, int version_id = 1, int schema_id = 0);
[[nodiscard]] Object view_creation(std::string_view name, Array representations);

// ---- Requirements.

[[nodiscard]] Object assert_create();
[[nodiscard]] Object assert_table_uuid(const Value& uuid);
[[nodiscard]] Object assert_view_uuid(const Value& uuid);
/// `snapshot_id` null: there must be no such ref.
[[nodiscard]] Object assert_ref(std::string_view ref, Value snapshot_id);
[[nodiscard]] Object assert_last_assigned_field_id(const Value& id);
[[nodiscard]] Object assert_current_schema_id(const Value& id);
[[nodiscard]] Object assert_last_assigned_partition_id(const Value& id);
[[nodiscard]] Object assert_default_spec_id(const Value& id);
[[nodiscard]] Object assert_default_sort_order_id(const Value& id);

// ---- Updates. -1 is the last one that was added.

[[nodiscard]] Object assign_uuid(const Value& uuid);
[[nodiscard]] Object upgrade_format_version(const Value& version);
[[nodiscard]] Object add_schema(Object schema);
[[nodiscard]] Object set_current_schema(int id = -1);
[[nodiscard]] Object add_spec(Object spec);
[[nodiscard]] Object set_default_spec(int id = -1);
[[nodiscard]] Object add_sort_order(Object order);
[[nodiscard]] Object set_default_sort_order(int id = -1);
[[nodiscard]] Object add_snapshot(Object snapshot);
[[nodiscard]] Object set_branch(std::string_view name, std::int64_t snapshot_id);
[[nodiscard]] Object set_tag(std::string_view name, std::int64_t snapshot_id);
[[nodiscard]] Object remove_snapshots(Array ids);
[[nodiscard]] Object remove_ref(std::string_view name);
[[nodiscard]] Object set_location(std::string_view location);
[[nodiscard]] Object set_properties(Object properties);
[[nodiscard]] Object remove_properties(Array keys);
[[nodiscard]] Object remove_specs(Array ids);
[[nodiscard]] Object remove_schemas(Array ids);
[[nodiscard]] Object add_view_version(Object version);
[[nodiscard]] Object set_current_view_version(int id = -1);

/// What is posted to a table or a view.
struct Commit {
  Array requirements;
  Array updates;

  [[nodiscard]] Object body() const;
  /// With its identifier, as a transaction needs it.
  [[nodiscard]] Object body_for(std::string_view namespace_level, std::string_view name) const;
};

}  // namespace iceblink::test
