#include "iceberg/commit/view_builder.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_set>

#include "iceberg/commit/metadata_properties.h"
#include "iceberg/commit/property_edits.h"
#include "iceberg/commit/structure_key.h"
#include "iceberg/json_number.h"
#include "iceberg/json_writer.h"
#include "iceberg/metadata_header.h"
#include "iceberg/view_dialects.h"

namespace iceblink::iceberg {
namespace {

constexpr std::string_view kHistorySize = "version.history.num-entries";
constexpr std::int64_t kHistorySizeDefault = 10;
constexpr std::string_view kDropDialectAllowed = "replace.drop-dialect.allowed";
constexpr std::int32_t kFirstSchemaId = 0;
constexpr std::int32_t kFirstVersionId = 1;

/// The same text for two versions exactly where they differ in id and time alone.
std::string identity_of(const ViewVersion& version) {
  JsonWriter json;
  json.begin_array();
  json.integer(version.schema_id);
  if (version.default_catalog) json.string(*version.default_catalog);
  json.begin_array();
  for (const auto level : version.default_namespace) json.string(level);
  json.end_array();
  for (const auto& representation : version.representations) {
    json.begin_array();
    json.string(representation.type);
    json.string(representation.sql);
    json.string(representation.dialect);
    if (!representation.json.empty()) json.raw(representation.json);
    json.end_array();
  }
  json.begin_array();
  for (const auto& [key, value] : sorted_by_key(version.summary)) {
    json.string(key);
    json.string(value);
  }
  json.end_array();
  json.end_array();
  return json.take();
}

/// The id behind all of theirs, or the first one; nothing where there are no more.
template <typename Element>
std::optional<std::int32_t> next_id(const std::vector<Element>& elements, std::int32_t Element::*id,
                                    std::int32_t first) {
  std::int32_t next = first;
  for (const Element& element : elements) {
    if (element.*id < next) continue;
    if (element.*id == std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    next = element.*id + 1;
  }
  return next;
}

Status check_representations(const ViewVersion& version) {
  if (version.representations.empty()) {
    return {ErrorKind::kInvalidArgument, "Invalid view version: it has no representations"};
  }
  const auto dialects = sql_dialects(version);
  const auto repeated = std::adjacent_find(dialects.begin(), dialects.end());
  if (repeated == dialects.end()) return Ok{};
  return {ErrorKind::kInvalidArgument,
          "Invalid view version: Cannot add multiple queries for dialect " + *repeated};
}

std::string listed(const std::vector<std::string>& names) {
  std::string list = "[";
  for (const auto& name : names) list += (list.size() > 1 ? ", " : "") + name;
  return list + ']';
}

Result<std::size_t> history_size(std::span<const Property> properties) {
  const auto text = find_property(properties, kHistorySize);
  if (!text) return kHistorySizeDefault;
  std::int64_t size = 0;
  if (text->empty() || parse_json_integer(*text, size) != IntegerFault::kNone || size < 1) {
    return {ErrorKind::kInvalidArgument, std::string(kHistorySize) +
                                             " must be a positive integer, and is '" +
                                             std::string(*text) + "'"};
  }
  return size;
}

/// What is left of a log: what stands behind the last entry whose version is gone, since a log with
/// a hole in it would tell another history.
void cut_log(std::vector<ViewHistoryEntry>& log, const std::vector<ViewVersion>& versions) {
  std::unordered_set<std::int32_t> ids;
  for (const auto& version : versions) ids.insert(version.version_id);
  const auto last_gone = std::find_if(
      log.rbegin(), log.rend(), [&](const auto& entry) { return !ids.contains(entry.version_id); });
  log.erase(log.begin(), last_gone.base());
}

template <typename T>
std::vector<T> copy_of(std::span<const T> elements) {
  return {elements.begin(), elements.end()};
}

}  // namespace

ViewBuilder::ViewBuilder(const Uuid& view_uuid) noexcept : base_(nullptr), view_uuid_(view_uuid) {}

ViewBuilder::ViewBuilder(const ViewMetadata& base)
    : base_(&base),
      view_uuid_(base.view_uuid),
      location_(base.location),
      schemas_(copy_of(base.schemas)),
      versions_(copy_of(base.versions)),
      log_(copy_of(base.version_log)),
      properties_(copy_of(base.properties)),
      current_version_id_(base.current_version_id) {}

// ---- Updates

Status ViewBuilder::apply(const ViewUpdate& update) {
  return std::visit([this](const auto& one) { return apply(one); }, update);
}

Status ViewBuilder::apply(const AssignUuid& update) {
  const auto uuid = parse_uuid(update.uuid);
  if (!uuid) {
    return {ErrorKind::kInvalidArgument, "'" + std::string(update.uuid) + "' is not a UUID"};
  }
  if (*uuid == view_uuid_) return Ok{};
  return {ErrorKind::kInvalidArgument, "Cannot reassign uuid: the view's is " +
                                           format_uuid(view_uuid_) + ", not " + format_uuid(*uuid)};
}

Status ViewBuilder::apply(const UpgradeFormatVersion& update) {
  const std::string wanted = std::to_string(update.format_version);
  if (update.format_version > kViewFormatVersionMax) {
    return {ErrorKind::kInvalidArgument, "Unsupported format version: " + wanted};
  }
  if (update.format_version < kViewFormatVersionMax) {
    return {ErrorKind::kInvalidArgument,
            "Cannot downgrade v" + std::to_string(kViewFormatVersionMax) + " view to v" + wanted};
  }
  return Ok{};
}

Status ViewBuilder::apply(const AddSchema& update) {
  for (; indexed_schema_count_ < schemas_.size(); ++indexed_schema_count_) {
    const Schema& own = schemas_[indexed_schema_count_];
    schema_ids_.emplace(structure_key(own), own.schema_id);
  }
  if (const auto own = schema_ids_.find(structure_key(update.schema)); own != schema_ids_.end()) {
    last_added_schema_id_ = own->second;
    return Ok{};
  }
  const auto id = next_id(schemas_, &Schema::schema_id, kFirstSchemaId);
  if (!id) return {ErrorKind::kInvalidArgument, "Cannot add a schema: no ids are left"};
  schemas_.push_back(update.schema);
  schemas_.back().schema_id = *id;
  last_added_schema_id_ = id;
  return Ok{};
}

Status ViewBuilder::apply(const SetLocation& update) {
  if (update.location.empty())
    return {ErrorKind::kInvalidArgument, "Invalid location: it is empty"};
  location_ = update.location;
  return Ok{};
}

Status ViewBuilder::apply(const SetProperties& update) {
  set_properties(properties_, update.updates);
  return Ok{};
}

Status ViewBuilder::apply(const RemoveProperties& update) {
  remove_properties(properties_, update.removals);
  return Ok{};
}

Status ViewBuilder::apply(const AddViewVersion& update) {
  ViewVersion version = update.view_version;
  if (version.schema_id == kLastAdded) {
    if (!last_added_schema_id_) {
      return {ErrorKind::kInvalidArgument,
              "Cannot set last added schema: no schema has been added"};
    }
    version.schema_id = *last_added_schema_id_;
  }
  const auto has_its_schema = [&](const Schema& own) { return own.schema_id == version.schema_id; };
  if (std::none_of(schemas_.begin(), schemas_.end(), has_its_schema)) {
    return {ErrorKind::kInvalidArgument,
            "Cannot add version with unknown schema: " + std::to_string(version.schema_id)};
  }
  ICEBLINK_RETURN_IF_ERROR(check_representations(version));
  for (; indexed_version_count_ < versions_.size(); ++indexed_version_count_) {
    const ViewVersion& own = versions_[indexed_version_count_];
    version_ids_.emplace(identity_of(own), own.version_id);
  }
  if (const auto own = version_ids_.find(identity_of(version)); own != version_ids_.end()) {
    last_added_version_id_ = own->second;
    return Ok{};
  }
  const auto id = next_id(versions_, &ViewVersion::version_id, kFirstVersionId);
  if (!id) return {ErrorKind::kInvalidArgument, "Cannot add a version: no ids are left"};
  version.version_id = std::max(version.version_id, *id);
  versions_.push_back(version);
  last_added_version_id_ = version.version_id;
  return Ok{};
}

Status ViewBuilder::apply(const SetCurrentViewVersion& update) {
  if (update.view_version_id == kLastAdded) {
    if (!last_added_version_id_) {
      return {ErrorKind::kInvalidArgument,
              "Cannot set last version id: no view version has been added"};
    }
    current_version_id_ = last_added_version_id_;
    return Ok{};
  }
  if (find_version(update.view_version_id) == nullptr) {
    return {ErrorKind::kInvalidArgument, "Cannot set current version to unknown version: " +
                                             std::to_string(update.view_version_id)};
  }
  current_version_id_ = update.view_version_id;
  return Ok{};
}

const ViewVersion* ViewBuilder::find_version(std::int32_t version_id) const noexcept {
  const auto found =
      std::find_if(versions_.begin(), versions_.end(),
                   [&](const ViewVersion& version) { return version.version_id == version_id; });
  return found == versions_.end() ? nullptr : &*found;
}

// ---- The end

bool ViewBuilder::is_changed() const {
  return base_ == nullptr || location_ != base_->location ||
         current_version_id_ != base_->current_version_id ||
         schemas_.size() != base_->schemas.size() || versions_.size() != base_->versions.size() ||
         !has_same_entries(properties_, base_->properties);
}

Result<ViewValues> ViewBuilder::finish(std::int64_t now_ms) {
  if (location_.empty()) return {ErrorKind::kInvalidArgument, "Invalid location: it is empty"};
  if (!current_version_id_) {
    return {ErrorKind::kInvalidArgument, "Invalid view: it has no current version"};
  }
  ICEBLINK_RETURN_IF_ERROR(check_dialects_kept());
  ICEBLINK_ASSIGN_OR_RETURN(const std::size_t kept_count_min, history_size(properties_));
  continue_log(now_ms);
  remove_old_versions(kept_count_min);
  return ViewValues{.format_version = kViewFormatVersionMax,
                    .view_uuid = view_uuid_,
                    .location = location_,
                    .current_version_id = *current_version_id_,
                    .schemas = schemas_,
                    .versions = versions_,
                    .version_log = log_,
                    .properties = properties_};
}

Status ViewBuilder::check_dialects_kept() const {
  if (base_ == nullptr || is_true(properties_, kDropDialectAllowed)) return Ok{};
  const auto before = sql_dialects(base_->current_version());
  const auto after = sql_dialects(*find_version(*current_version_id_));
  if (std::includes(after.begin(), after.end(), before.begin(), before.end())) return Ok{};
  return {ErrorKind::kInvalidArgument, "Cannot replace view due to loss of view dialects (" +
                                           std::string(kDropDialectAllowed) +
                                           "=false):\nPrevious dialects: " + listed(before) +
                                           "\nNew dialects: " + listed(after)};
}

void ViewBuilder::continue_log(std::int64_t now_ms) {
  if (base_ != nullptr && base_->current_version_id == *current_version_id_) return;
  const bool was_there = base_ != nullptr && base_->find_version(*current_version_id_) != nullptr;
  log_.push_back(
      {.timestamp_ms = was_there ? now_ms : find_version(*current_version_id_)->timestamp_ms,
       .version_id = *current_version_id_});
}

void ViewBuilder::remove_old_versions(std::size_t kept_count_min) {
  const std::size_t base_count = base_ == nullptr ? 0 : base_->versions.size();
  const std::int32_t current_id = *current_version_id_;
  std::size_t own_count = versions_.size() - base_count;
  if (base_ != nullptr && base_->find_version(current_id) != nullptr) ++own_count;
  const std::size_t kept_count = std::max(kept_count_min, own_count);
  if (versions_.size() <= kept_count) return;

  std::vector<std::int32_t> ids;
  for (const auto& version : versions_) {
    if (version.version_id != current_id) ids.push_back(version.version_id);
  }
  std::sort(ids.begin(), ids.end());
  ids.resize(versions_.size() - kept_count);  // the oldest
  std::erase_if(versions_, [&](const ViewVersion& version) {
    return std::binary_search(ids.begin(), ids.end(), version.version_id);
  });
  cut_log(log_, versions_);
}

}  // namespace iceblink::iceberg
