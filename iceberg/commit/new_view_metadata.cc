// Views' part of new_metadata.h.
#include <new>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "iceberg/commit/metadata_properties.h"
#include "iceberg/commit/new_metadata.h"
#include "iceberg/commit/request_updates.h"
#include "iceberg/commit/view_builder.h"
#include "iceberg/metadata_writer.h"

namespace iceblink::iceberg {
namespace {

Status unsuitable(std::string_view type) {
  return {ErrorKind::kInvalidArgument, "Invalid requirement of a view: " + std::string(type)};
}

struct RequirementCheck {
  const ViewMetadata& base;

  [[nodiscard]] Status operator()(const AssertViewUuid& requirement) const {
    if (parse_uuid(requirement.uuid) == base.view_uuid) return Ok{};
    return {ErrorKind::kConflict, "Requirement failed: view UUID does not match: expected " +
                                      format_uuid(base.view_uuid) +
                                      " != " + std::string(requirement.uuid)};
  }
  [[nodiscard]] Status operator()(const AssertCreate&) const { return unsuitable("assert-create"); }
  [[nodiscard]] Status operator()(const AssertTableUuid&) const {
    return unsuitable("assert-table-uuid");
  }
  [[nodiscard]] Status operator()(const AssertRefSnapshotId&) const {
    return unsuitable("assert-ref-snapshot-id");
  }
  [[nodiscard]] Status operator()(const AssertLastAssignedFieldId&) const {
    return unsuitable("assert-last-assigned-field-id");
  }
  [[nodiscard]] Status operator()(const AssertCurrentSchemaId&) const {
    return unsuitable("assert-current-schema-id");
  }
  [[nodiscard]] Status operator()(const AssertLastAssignedPartitionId&) const {
    return unsuitable("assert-last-assigned-partition-id");
  }
  [[nodiscard]] Status operator()(const AssertDefaultSpecId&) const {
    return unsuitable("assert-default-spec-id");
  }
  [[nodiscard]] Status operator()(const AssertDefaultSortOrderId&) const {
    return unsuitable("assert-default-sort-order-id");
  }
};

Result<NewMetadata> written(ViewBuilder& builder, std::int64_t now_ms) {
  ICEBLINK_ASSIGN_OR_RETURN(const ViewValues values, builder.finish(now_ms));
  NewMetadata metadata;
  ICEBLINK_ASSIGN_OR_RETURN(metadata.json, write_view_metadata(values, MetadataLimits{}.depth_max));
  metadata.format_version = values.format_version;
  metadata.uuid = values.view_uuid;
  metadata.location = values.location;
  set_file_options(metadata, values.properties);
  return metadata;
}

}  // namespace

Result<NewMetadata> create_view(const ViewCreationRequest& request,
                                const CommitContext& context) noexcept try {
  const std::string_view location =
      without_trailing_slashes(request.location.value_or(context.default_location));
  if (location.empty()) {
    return {ErrorKind::kInvalidArgument,
            "Invalid location: the view '" + std::string(request.name) + "' has none"};
  }
  ViewVersion version = request.view_version;
  version.version_id = 0;  // the builder's to choose
  version.schema_id = kLastAdded;
  ViewBuilder builder(context.fresh_uuid);
  const std::vector<MemberUpdate<ViewUpdate>> updates = {
      {"location", SetLocation{location}},
      {"properties", SetProperties{request.properties}},
      {"schema", AddSchema{request.schema}},
      {"view-version", AddViewVersion{version}},
      {"view-version", SetCurrentViewVersion{kLastAdded}}};
  ICEBLINK_RETURN_IF_ERROR(apply_updates(builder, updates));
  return written(builder, context.now_ms);
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

Result<NewMetadata> commit_view(const ViewMetadata& base, const ViewCommit& commit,
                                const CommitContext& context) noexcept try {
  for (const Requirement& requirement : commit.requirements) {
    ICEBLINK_RETURN_IF_ERROR(std::visit(RequirementCheck{base}, requirement));
  }
  ViewBuilder builder(base);
  ICEBLINK_RETURN_IF_ERROR(apply_updates(builder, commit.updates));
  if (builder.is_changed()) return written(builder, context.now_ms);
  NewMetadata unchanged;
  unchanged.format_version = base.format_version;
  unchanged.uuid = base.view_uuid;
  unchanged.location = base.location;
  set_file_options(unchanged, base.properties);
  return unchanged;
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

}  // namespace iceblink::iceberg
