// What clients ask a catalog to do to metadata (Iceberg REST specification, "CommitTableRequest",
// "CommitTransactionRequest", "CommitViewRequest", "CreateTableRequest", "CreateViewRequest").
//
// Values as they were sent: nothing here is judged against a base. Names are the specification's.
// Everything borrows from the request that it belongs to, which is immutable and safe to share.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>
#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "iceberg/arena.h"

namespace iceblink::iceberg {

// ---- Requirements: what must be so before anything is done.

struct AssertCreate {};
struct AssertTableUuid {
  std::string_view uuid;  // as written
};
struct AssertRefSnapshotId {
  std::string_view ref;
  std::optional<std::int64_t> snapshot_id;  // null: there must be no such ref
};
struct AssertLastAssignedFieldId {
  std::int32_t last_assigned_field_id = 0;
};
struct AssertCurrentSchemaId {
  std::int32_t current_schema_id = 0;
};
struct AssertLastAssignedPartitionId {
  std::int32_t last_assigned_partition_id = 0;
};
struct AssertDefaultSpecId {
  std::int32_t default_spec_id = 0;
};
struct AssertDefaultSortOrderId {
  std::int32_t default_sort_order_id = 0;
};
/// Of views.
struct AssertViewUuid {
  std::string_view uuid;  // as written
};

using Requirement =
    std::variant<AssertCreate, AssertTableUuid, AssertRefSnapshotId, AssertLastAssignedFieldId,
                 AssertCurrentSchemaId, AssertLastAssignedPartitionId, AssertDefaultSpecId,
                 AssertDefaultSortOrderId, AssertViewUuid>;

// ---- Updates, applied in order.

/// "The last one that was added" where an update names a schema, spec, sort order or version.
inline constexpr std::int32_t kLastAdded = -1;

struct RequestedPartitionField {
  std::optional<std::int32_t> field_id;
  std::string_view name;
  Transform transform;
  std::span<const std::int32_t> source_ids;
};
struct RequestedPartitionSpec {
  std::optional<std::int32_t> spec_id;
  std::span<const RequestedPartitionField> fields;
};

struct AssignUuid {
  std::string_view uuid;  // as written
};
struct UpgradeFormatVersion {
  std::int32_t format_version = 0;
};
struct AddSchema {
  Schema schema;
};
struct SetCurrentSchema {
  std::int32_t schema_id = 0;
};
struct AddPartitionSpec {
  RequestedPartitionSpec spec;
};
struct SetDefaultSpec {
  std::int32_t spec_id = 0;
};
struct AddSortOrder {
  SortOrder sort_order;
};
struct SetDefaultSortOrder {
  std::int32_t sort_order_id = 0;
};
struct AddSnapshot {
  TableSnapshot snapshot;
  bool has_sequence_number = false;
};
struct SetSnapshotRef {
  SnapshotRef ref;
};
struct RemoveSnapshots {
  std::span<const std::int64_t> snapshot_ids;
};
struct RemoveSnapshotRef {
  std::string_view ref_name;
};
struct SetLocation {
  std::string_view location;
};
struct SetProperties {
  std::span<const Property> updates;
};
struct RemoveProperties {
  std::span<const std::string_view> removals;
};
struct SetStatistics {
  StatisticsFile statistics;
};
struct RemoveStatistics {
  std::int64_t snapshot_id = 0;
};
struct SetPartitionStatistics {
  PartitionStatisticsFile partition_statistics;
};
struct RemovePartitionStatistics {
  std::int64_t snapshot_id = 0;
};
struct RemovePartitionSpecs {
  std::span<const std::int32_t> spec_ids;
};
struct RemoveSchemas {
  std::span<const std::int32_t> schema_ids;
};
struct AddEncryptionKey {
  EncryptionKey encryption_key;
};
struct RemoveEncryptionKey {
  std::string_view key_id;
};
/// Of views.
struct AddViewVersion {
  ViewVersion view_version;
};
struct SetCurrentViewVersion {
  std::int32_t view_version_id = 0;
};

using TableUpdate =
    std::variant<AssignUuid, UpgradeFormatVersion, AddSchema, SetCurrentSchema, AddPartitionSpec,
                 SetDefaultSpec, AddSortOrder, SetDefaultSortOrder, AddSnapshot, SetSnapshotRef,
                 RemoveSnapshots, RemoveSnapshotRef, SetLocation, SetProperties, RemoveProperties,
                 SetStatistics, RemoveStatistics, SetPartitionStatistics, RemovePartitionStatistics,
                 RemovePartitionSpecs, RemoveSchemas, AddEncryptionKey, RemoveEncryptionKey>;
using ViewUpdate =
    std::variant<AssignUuid, UpgradeFormatVersion, AddSchema, SetLocation, SetProperties,
                 RemoveProperties, AddViewVersion, SetCurrentViewVersion>;

// ---- Requests.

/// The memory that a request's values borrow from.
class RequestMemory {
 public:
  RequestMemory() = default;
  RequestMemory(const RequestMemory&) = delete;
  RequestMemory& operator=(const RequestMemory&) = delete;
  [[nodiscard]] Arena& arena() noexcept { return arena_; }

 private:
  Arena arena_;
};

struct TableCommit {
  std::optional<TableIdent> identifier;
  std::vector<Requirement> requirements;
  std::vector<TableUpdate> updates;
};
struct ViewCommit {
  std::optional<TableIdent> identifier;
  std::vector<Requirement> requirements;
  std::vector<ViewUpdate> updates;
};

struct TableCommitRequest : RequestMemory {
  TableCommit commit;
};
struct ViewCommitRequest : RequestMemory {
  ViewCommit commit;
};
/// At least one change; each has its identifier, and no two the same.
struct TransactionRequest : RequestMemory {
  std::vector<TableCommit> table_changes;
};
struct TableCreationRequest : RequestMemory {
  std::string_view name;
  std::optional<std::string_view> location;
  Schema schema;
  std::optional<RequestedPartitionSpec> partition_spec;
  std::optional<SortOrder> write_order;
  bool stage_create = false;
  std::span<const Property> properties;
};
struct ViewCreationRequest : RequestMemory {
  std::string_view name;
  std::optional<std::string_view> location;
  Schema schema;
  ViewVersion view_version;
  std::span<const Property> properties;
};

/// From the body of a request. kInvalidArgument names the member: JSON that is none, a member that
/// is missing or of another type, an update or a requirement that is unknown, or none of a table
/// (of a view), half a surrogate pair in a string, more depth or more elements than are read.
/// kTooLarge: more than 4 GiB; kOutOfMemory. Members that are unknown are ignored.
/// Identifiers are validated. Thread safety: pure functions.
[[nodiscard]] Result<std::shared_ptr<const TableCommitRequest>> parse_table_commit(
    std::string_view body) noexcept;
[[nodiscard]] Result<std::shared_ptr<const ViewCommitRequest>> parse_view_commit(
    std::string_view body) noexcept;
[[nodiscard]] Result<std::shared_ptr<const TransactionRequest>> parse_transaction(
    std::string_view body) noexcept;
[[nodiscard]] Result<std::shared_ptr<const TableCreationRequest>> parse_table_creation(
    std::string_view body) noexcept;
[[nodiscard]] Result<std::shared_ptr<const ViewCreationRequest>> parse_view_creation(
    std::string_view body) noexcept;

}  // namespace iceblink::iceberg
