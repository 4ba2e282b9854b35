#include "iceberg/commit/requirements.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "iceberg/commit/keyed_list.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {
namespace {

Error failed(const std::string& what) {
  return {ErrorKind::kConflict, "Requirement failed: " + what};
}

/// "last assigned field id changed: expected id A != B".
Status check_id(std::string_view what, std::int32_t expected, std::int32_t found) {
  if (expected == found) return Ok{};
  return failed(std::string(what) + " changed: expected id " + std::to_string(expected) +
                " != " + std::to_string(found));
}

struct NameOfRequirement {
  std::string_view operator()(const AssertCreate&) const { return "assert-create"; }
  std::string_view operator()(const AssertTableUuid&) const { return "assert-table-uuid"; }
  std::string_view operator()(const AssertRefSnapshotId&) const { return "assert-ref-snapshot-id"; }
  std::string_view operator()(const AssertLastAssignedFieldId&) const {
    return "assert-last-assigned-field-id";
  }
  std::string_view operator()(const AssertCurrentSchemaId&) const {
    return "assert-current-schema-id";
  }
  std::string_view operator()(const AssertLastAssignedPartitionId&) const {
    return "assert-last-assigned-partition-id";
  }
  std::string_view operator()(const AssertDefaultSpecId&) const { return "assert-default-spec-id"; }
  std::string_view operator()(const AssertDefaultSortOrderId&) const {
    return "assert-default-sort-order-id";
  }
  std::string_view operator()(const AssertViewUuid&) const { return "assert-view-uuid"; }
};

class RequirementCheck {
 public:
  explicit RequirementCheck(const TableMetadata& base) : base_(base) {}

  Status operator()(const AssertCreate&) const { return failed("table already exists"); }
  Status operator()(const AssertTableUuid& required) const {
    // A table without a uuid is not the one that is meant, whatever that is.
    const auto expected = parse_uuid(required.uuid);
    if (expected && base_.table_uuid == expected) return Ok{};
    return failed("UUID does not match: expected " + std::string(required.uuid) +
                  " != " + (base_.table_uuid ? std::string(base_.table_uuid_text) : "null"));
  }
  Status operator()(const AssertRefSnapshotId& required) {
    if (!refs_) index_refs();
    const std::string name(required.ref);
    const SnapshotRef* const ref = refs_->find(required.ref);
    if (ref == nullptr) {
      if (!required.snapshot_id) return Ok{};
      return failed("branch or tag " + name + " is missing, expected " +
                    std::to_string(*required.snapshot_id));
    }
    const std::string what = (ref->type == RefType::kTag ? "tag " : "branch ") + name;
    if (!required.snapshot_id) return failed(what + " was created concurrently");
    if (*required.snapshot_id == ref->snapshot_id) return Ok{};
    return failed(what + " has changed: expected id " + std::to_string(*required.snapshot_id) +
                  " != " + std::to_string(ref->snapshot_id));
  }
  Status operator()(const AssertLastAssignedFieldId& required) const {
    return check_id("last assigned field id", required.last_assigned_field_id,
                    base_.last_column_id);
  }
  Status operator()(const AssertCurrentSchemaId& required) const {
    return check_id("current schema", required.current_schema_id, base_.current_schema_id);
  }
  Status operator()(const AssertLastAssignedPartitionId& required) const {
    return check_id("last assigned partition id", required.last_assigned_partition_id,
                    base_.last_partition_id);
  }
  Status operator()(const AssertDefaultSpecId& required) const {
    return check_id("default partition spec", required.default_spec_id, base_.default_spec_id);
  }
  Status operator()(const AssertDefaultSortOrderId& required) const {
    return check_id("default sort order", required.default_sort_order_id,
                    base_.default_sort_order_id);
  }
  Status operator()(const AssertViewUuid&) const {
    return {ErrorKind::kInvalidArgument, "assert-view-uuid is of views, and this is a table"};
  }

 private:
  void index_refs() {
    refs_.emplace(reinterpret_cast<std::uintptr_t>(&base_));
    for (const SnapshotRef& ref : base_.refs) refs_->append(ref.name, ref);
  }

  const TableMetadata& base_;
  std::optional<KeyedList<std::string_view, SnapshotRef>> refs_;
};

Status check_creation(std::span<const Requirement> requirements) {
  bool is_creation = false;
  std::string others;
  for (const Requirement& requirement : requirements) {
    if (std::holds_alternative<AssertCreate>(requirement)) {
      is_creation = true;
      continue;
    }
    if (!others.empty()) others += ", ";
    others += std::visit(NameOfRequirement{}, requirement);
  }
  if (is_creation && others.empty()) return Ok{};
  return {ErrorKind::kInvalidArgument, "Invalid create requirements: [" + others + "]"};
}

}  // namespace

Status check_requirements(const TableMetadata* base, std::span<const Requirement> requirements) {
  if (base == nullptr) return check_creation(requirements);
  RequirementCheck check(*base);
  for (const Requirement& requirement : requirements) {
    ICEBLINK_RETURN_IF_ERROR(std::visit(check, requirement));
  }
  return Ok{};
}

}  // namespace iceblink::iceberg
