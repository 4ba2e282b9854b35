#include "iceberg/commit/requirement_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "iceberg/commit/request_reader.h"
#include "iceberg/member_set.h"

namespace iceblink::iceberg {
namespace {

enum class Asserted : std::uint8_t { kOfTables, kOfViews };

struct RequirementType {
  std::string_view name;
  Asserted asserted;
  Requirement (*read)(JsonReader& reader);
};

std::string_view read_uuid(JsonReader& reader) {
  return read_member(reader, "uuid", [](JsonReader& at) { return at.read_string(); });
}

std::int32_t read_id(JsonReader& reader, std::string_view name) {
  return read_member(reader, name, [](JsonReader& at) { return at.read_int32(); });
}

Requirement read_create(JsonReader& reader) {
  reader.skip();
  return AssertCreate{};
}

Requirement read_table_uuid(JsonReader& reader) {
  return AssertTableUuid{read_uuid(reader)};
}

// Null says that there is no such ref; so it has to be written.
Requirement read_ref_snapshot_id(JsonReader& reader) {
  enum class Member { kRef, kSnapshotId };
  AssertRefSnapshotId requirement;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "ref")) {
      if (members.add(reader, Member::kRef)) requirement.ref = reader.read_string();
    } else if (is(key, "snapshot-id")) {
      if (!members.add(reader, Member::kSnapshotId) || reader.take_null()) return;
      requirement.snapshot_id = reader.read_int64();
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kRef, "ref"}, {Member::kSnapshotId, "snapshot-id"}});
  return requirement;
}

Requirement read_last_assigned_field_id(JsonReader& reader) {
  return AssertLastAssignedFieldId{read_id(reader, "last-assigned-field-id")};
}

Requirement read_current_schema_id(JsonReader& reader) {
  return AssertCurrentSchemaId{read_id(reader, "current-schema-id")};
}

Requirement read_last_assigned_partition_id(JsonReader& reader) {
  return AssertLastAssignedPartitionId{read_id(reader, "last-assigned-partition-id")};
}

Requirement read_default_spec_id(JsonReader& reader) {
  return AssertDefaultSpecId{read_id(reader, "default-spec-id")};
}

Requirement read_default_sort_order_id(JsonReader& reader) {
  return AssertDefaultSortOrderId{read_id(reader, "default-sort-order-id")};
}

Requirement read_view_uuid(JsonReader& reader) {
  return AssertViewUuid{read_uuid(reader)};
}

constexpr std::array kTypes{
    RequirementType{"assert-create", Asserted::kOfTables, read_create},
    RequirementType{"assert-table-uuid", Asserted::kOfTables, read_table_uuid},
    RequirementType{"assert-ref-snapshot-id", Asserted::kOfTables, read_ref_snapshot_id},
    RequirementType{"assert-last-assigned-field-id", Asserted::kOfTables,
                    read_last_assigned_field_id},
    RequirementType{"assert-current-schema-id", Asserted::kOfTables, read_current_schema_id},
    RequirementType{"assert-last-assigned-partition-id", Asserted::kOfTables,
                    read_last_assigned_partition_id},
    RequirementType{"assert-default-spec-id", Asserted::kOfTables, read_default_spec_id},
    RequirementType{"assert-default-sort-order-id", Asserted::kOfTables,
                    read_default_sort_order_id},
    RequirementType{"assert-view-uuid", Asserted::kOfViews, read_view_uuid},
};

Requirement read_requirement(JsonReader& reader, Asserted asserted) {
  const std::string_view name = read_kind(reader, "type");
  if (!reader.goes_on()) return {};
  const auto* const type = std::ranges::find(kTypes, name, &RequirementType::name);
  if (type != kTypes.end() && type->asserted == asserted) return type->read(reader);
  const std::string quoted = "'" + std::string(name) + "' ";
  if (type == kTypes.end()) {
    reader.report(quoted + "is unknown", "type");
  } else {
    reader.report(quoted + "is not a requirement of " +
                      (asserted == Asserted::kOfTables ? "tables" : "views"),
                  "type");
  }
  reader.skip();
  return {};
}

}  // namespace

Requirement read_table_requirement(JsonReader& reader) {
  return read_requirement(reader, Asserted::kOfTables);
}

Requirement read_view_requirement(JsonReader& reader) {
  return read_requirement(reader, Asserted::kOfViews);
}

}  // namespace iceblink::iceberg
