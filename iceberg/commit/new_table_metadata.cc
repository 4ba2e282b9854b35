// New metadata of tables.
#include <new>
#include <string>
#include <vector>

#include "iceberg/commit/fresh_ids.h"
#include "iceberg/commit/metadata_properties.h"
#include "iceberg/commit/new_metadata.h"
#include "iceberg/commit/request_updates.h"
#include "iceberg/commit/requirements.h"
#include "iceberg/commit/schema_check.h"
#include "iceberg/commit/table_builder.h"
#include "iceberg/metadata_header.h"

namespace iceblink::iceberg {
namespace {

constexpr std::uint8_t kFormatVersionDefault = 2;

/// That of the properties, or the default.
Result<std::int32_t> format_version_of(std::span<const Property> properties) {
  const auto text = find_property(properties, kFormatVersionProperty);
  return text ? parse_format_version(*text) : Result<std::int32_t>(kFormatVersionDefault);
}

/// That of a table that a commit creates: of the first update that names one. An update that names
/// none of ours is refused when it is applied.
std::uint8_t format_version_of(std::span<const TableUpdate> updates) {
  std::int32_t version = kFormatVersionDefault;
  bool is_found = false;
  for (const TableUpdate& update : updates) {
    if (const auto* const upgrade = std::get_if<UpgradeFormatVersion>(&update)) {
      version = upgrade->format_version;
      break;
    }
    const auto* const set = std::get_if<SetProperties>(&update);
    if (set == nullptr || is_found || !find_property(set->updates, kFormatVersionProperty))
      continue;
    const auto named = format_version_of(set->updates);
    if (named) version = *named;
    is_found = true;
  }
  const bool is_ours = version >= 1 && version <= kTableFormatVersionMax;
  return is_ours ? static_cast<std::uint8_t>(version) : kFormatVersionDefault;
}

template <typename Update>
Result<NewMetadata> apply_all(TableBuilder& builder, const std::vector<Update>& updates) {
  ICEBLINK_RETURN_IF_ERROR(apply_updates(builder, updates));
  return builder.finish();
}

/// The format of a table that is to be created, where its schema may be of that.
Result<std::uint8_t> check_format(const TableCreationRequest& request) {
  const auto version = format_version_of(request.properties);
  if (!version) return about(version.error(), "properties");
  if (*version < 1 || *version > kTableFormatVersionMax) {
    return about({ErrorKind::kInvalidArgument, "Unsupported format version: v" +
                                                   std::to_string(*version) + " (supported: v" +
                                                   std::to_string(kTableFormatVersionMax) + ")"},
                 "properties");
  }
  const auto format_version = static_cast<std::uint8_t>(*version);
  const Status checked = check_schema(request.schema, format_version);
  if (!checked) return about(checked.error(), "schema");
  return format_version;
}

Result<NewMetadata> create(const TableCreationRequest& request, const CommitContext& context) {
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint8_t format_version, check_format(request));
  Arena arena;
  const FreshIds ids(request.schema, arena, reinterpret_cast<std::uintptr_t>(&arena));
  std::vector<MemberUpdate<TableUpdate>> updates;
  updates.push_back({"schema", AddSchema{ids.schema()}});
  updates.push_back({"schema", SetCurrentSchema{kLastAdded}});
  if (request.partition_spec) {
    const auto spec = ids.rebind(*request.partition_spec);
    if (!spec) return about(spec.error(), "partition-spec");
    updates.push_back({"partition-spec", AddPartitionSpec{*spec}});
    updates.push_back({"partition-spec", SetDefaultSpec{kLastAdded}});
  }
  if (request.write_order) {
    const auto order = ids.rebind(*request.write_order);
    if (!order) return about(order.error(), "write-order");
    updates.push_back({"write-order", AddSortOrder{*order}});
    updates.push_back({"write-order", SetDefaultSortOrder{kLastAdded}});
  }
  if (request.location) updates.push_back({"location", SetLocation{*request.location}});
  updates.push_back({"properties", SetProperties{request.properties}});
  TableBuilder builder(format_version, context);
  return apply_all(builder, updates);
}

Result<NewMetadata> commit_to(const TableMetadata& base, const TableCommit& commit,
                              const CommitContext& context) {
  ICEBLINK_RETURN_IF_ERROR(check_requirements(&base, commit.requirements));
  ICEBLINK_ASSIGN_OR_RETURN(const auto builder, TableBuilder::from_base(base, context));
  return apply_all(*builder, commit.updates);
}

Result<NewMetadata> commit_creation(const TableCommit& commit, const CommitContext& context) {
  ICEBLINK_RETURN_IF_ERROR(check_requirements(nullptr, commit.requirements));
  TableBuilder builder(format_version_of(commit.updates), context);
  return apply_all(builder, commit.updates);
}

}  // namespace

Result<NewMetadata> create_table(const TableCreationRequest& request,
                                 const CommitContext& context) noexcept try {
  return create(request, context);
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

Result<NewMetadata> commit_table(const TableMetadata* base, const TableCommit& commit,
                                 const CommitContext& context) noexcept try {
  return base == nullptr ? commit_creation(commit, context) : commit_to(*base, commit, context);
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

}  // namespace iceblink::iceberg
