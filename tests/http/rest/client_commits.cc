#include "tests/http/rest/client_commits.h"

#include <gtest/gtest.h>

#include <utility>

namespace iceblink::test {
namespace {

Commit on_table(const Value& base) {
  return {Array{assert_table_uuid(base.at("table-uuid"))}, {}};
}

int id_member(const Value& value, std::string_view member) {
  return static_cast<int>(value.at(member).as_int64());
}

void append_all(Array& to, const Array& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Commit schema_change(const Value& base, Object schema) {
  Commit commit = on_table(base);
  commit.requirements.push_back(assert_last_assigned_field_id(base.at("last-column-id")));
  commit.requirements.push_back(assert_current_schema_id(base.at("current-schema-id")));
  commit.updates = {add_schema(std::move(schema)), set_current_schema()};
  return commit;
}

Commit schema_revert(const Value& base, int schema_id) {
  Commit commit = on_table(base);
  commit.requirements.push_back(assert_current_schema_id(base.at("current-schema-id")));
  commit.updates.push_back(set_current_schema(schema_id));
  return commit;
}

Commit spec_change(const Value& base, Object spec) {
  Commit commit = on_table(base);
  commit.requirements.push_back(assert_last_assigned_partition_id(base.at("last-partition-id")));
  commit.requirements.push_back(assert_default_spec_id(base.at("default-spec-id")));
  commit.updates = {add_spec(std::move(spec)), set_default_spec()};
  return commit;
}

Commit spec_revert(const Value& base, int spec_id) {
  Commit commit = on_table(base);
  commit.requirements.push_back(assert_default_spec_id(base.at("default-spec-id")));
  commit.updates.push_back(set_default_spec(spec_id));
  return commit;
}

Commit order_change(const Value& base, Object order) {
  Commit commit = on_table(base);
  commit.requirements.push_back(assert_default_sort_order_id(base.at("default-sort-order-id")));
  commit.updates = {add_sort_order(std::move(order)), set_default_sort_order()};
  return commit;
}

Commit order_revert(const Value& base, int order_id) {
  Commit commit = on_table(base);
  commit.requirements.push_back(assert_default_sort_order_id(base.at("default-sort-order-id")));
  commit.updates.push_back(set_default_sort_order(order_id));
  return commit;
}

Commit properties_change(const Value& base, Object properties) {
  Commit commit = on_table(base);
  commit.updates.push_back(set_properties(std::move(properties)));
  return commit;
}

Object next_snapshot(const Value& base, std::int64_t snapshot_id, std::string_view branch) {
  SnapshotText text{.snapshot_id = snapshot_id};
  const Value parent = ref_snapshot(base, branch);
  if (parent.is_int64()) text.parent_id = parent.as_int64();
  const auto* const last = base.as_object().if_contains("last-sequence-number");
  text.sequence_number = (last == nullptr ? 0 : last->as_int64()) + 1;
  text.schema_id = base.at("current-schema-id").as_int64();
  return snapshot_of(text);
}

Array append_updates(Object snapshot, std::string_view branch) {
  const auto id = snapshot.at("snapshot-id").as_int64();
  return {add_snapshot(std::move(snapshot)), set_branch(branch, id)};
}

Commit append(const Value& base, std::int64_t snapshot_id, std::string_view branch) {
  Commit commit = on_table(base);
  commit.requirements.push_back(assert_ref(branch, ref_snapshot(base, branch)));
  commit.updates = append_updates(next_snapshot(base, snapshot_id, branch), branch);
  return commit;
}

Commit joined(Commit first, const Commit& second) {
  append_all(first.requirements, second.requirements);
  append_all(first.updates, second.updates);
  return first;
}

Commit creation(const Value& staged, const Array& more) {
  Commit commit{Array{assert_create()}, {}};
  commit.updates = {assign_uuid(staged.at("table-uuid")),
                    upgrade_format_version(staged.at("format-version")),
                    add_schema(current_schema(staged).as_object()),
                    set_current_schema(),
                    add_spec(default_spec(staged).as_object()),
                    set_default_spec(),
                    add_sort_order(default_order(staged).as_object()),
                    set_default_sort_order(),
                    set_location(staged.at("location").as_string())};
  const auto* const properties = staged.as_object().if_contains("properties");
  if (properties != nullptr && !properties->as_object().empty()) {
    commit.updates.push_back(set_properties(properties->as_object()));
  }
  append_all(commit.updates, more);
  return commit;
}

Commit replacement(const Value& base, const Replacement& parts) {
  Commit commit = on_table(base);
  auto& updates = commit.updates;
  if (!parts.schema) updates.push_back(set_current_schema(id_member(base, "current-schema-id")));
  if (!parts.spec) updates.push_back(set_default_spec(id_member(base, "default-spec-id")));
  if (!parts.order) {
    updates.push_back(set_default_sort_order(id_member(base, "default-sort-order-id")));
  }
  if (!ref_snapshot(base, kMain).is_null()) updates.push_back(remove_ref(kMain));
  if (parts.schema) {
    commit.requirements.push_back(assert_last_assigned_field_id(base.at("last-column-id")));
    updates.push_back(add_schema(*parts.schema));
    updates.push_back(set_current_schema());
  }
  if (parts.spec) {
    commit.requirements.push_back(assert_last_assigned_partition_id(base.at("last-partition-id")));
    updates.push_back(add_spec(*parts.spec));
    updates.push_back(set_default_spec());
  }
  if (parts.order) {
    updates.push_back(add_sort_order(*parts.order));
    updates.push_back(set_default_sort_order());
  }
  if (parts.location) updates.push_back(set_location(*parts.location));
  if (!parts.properties.empty()) updates.push_back(set_properties(parts.properties));
  append_all(updates, parts.more);
  return commit;
}

Commit view_replacement(const Value& base, Object version, const Array& before) {
  Commit commit{Array{assert_view_uuid(base.at("view-uuid"))}, before};
  commit.updates.push_back(add_view_version(std::move(version)));
  commit.updates.push_back(set_current_view_version());
  return commit;
}

const Value& with_id(const Value& list, std::string_view member, std::int64_t id) {
  for (const auto& element : list.as_array()) {
    if (element.at(member).as_int64() == id) return element;
  }
  static const Value none;
  ADD_FAILURE() << "no element has " << member << " " << id;
  return none;
}

const Value& current_schema(const Value& metadata) {
  return with_id(metadata.at("schemas"), "schema-id", metadata.at("current-schema-id").as_int64());
}

const Value& default_spec(const Value& metadata) {
  return with_id(metadata.at("partition-specs"), "spec-id",
                 metadata.at("default-spec-id").as_int64());
}

const Value& default_order(const Value& metadata) {
  return with_id(metadata.at("sort-orders"), "order-id",
                 metadata.at("default-sort-order-id").as_int64());
}

Value ref_snapshot(const Value& metadata, std::string_view ref) {
  const auto* const refs = metadata.as_object().if_contains("refs");
  if (refs == nullptr) return nullptr;
  const auto* const found = refs->as_object().if_contains(ref);
  return found == nullptr ? Value(nullptr) : found->at("snapshot-id");
}

}  // namespace iceblink::test
