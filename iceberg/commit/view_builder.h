// A view's next metadata: a base, or nothing, and the updates of a commit, applied in order
// (Iceberg view specification; REST specification, "CommitViewRequest").
//
// Borrows from the base and from the updates; both outlive it and what it hands out.
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/metadata/view_metadata.h>
#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "iceberg/commit/commit_request.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {

class ViewBuilder {
 public:
  /// Of a new view, of format 1.
  explicit ViewBuilder(const Uuid& view_uuid) noexcept;
  /// Of one that is there. Throws std::bad_alloc.
  explicit ViewBuilder(const ViewMetadata& base);

  /// kInvalidArgument: the update contradicts the base or the updates before it. Then the builder
  /// is of no more use. Throws std::bad_alloc.
  ///
  /// A schema or a version that is there already, but for ids and times, keeps its id and is the
  /// "last added" one all the same. Else a schema gets the highest id + 1 (the first: 0), whatever
  /// it says itself, and so does a version (the first: 1), unless its own is higher than that.
  [[nodiscard]] Status apply(const ViewUpdate& update);

  /// False while the view is what its base is.
  [[nodiscard]] bool is_changed() const;

  /// The values, with the version log continued and old versions removed: as many as
  /// `version.history.num-entries` stay, and always the current one and those that were added.
  /// Called once, last. `now_ms`: when a version that was there before became the current one.
  /// kInvalidArgument: a dialect got lost, and the properties do not allow it; that property is no
  /// positive integer; no version or no location. Throws std::bad_alloc.
  [[nodiscard]] Result<ViewValues> finish(std::int64_t now_ms);

 private:
  [[nodiscard]] Status apply(const AssignUuid& update);
  [[nodiscard]] Status apply(const UpgradeFormatVersion& update);
  [[nodiscard]] Status apply(const AddSchema& update);
  [[nodiscard]] Status apply(const SetLocation& update);
  [[nodiscard]] Status apply(const SetProperties& update);
  [[nodiscard]] Status apply(const RemoveProperties& update);
  [[nodiscard]] Status apply(const AddViewVersion& update);
  [[nodiscard]] Status apply(const SetCurrentViewVersion& update);

  [[nodiscard]] const ViewVersion* find_version(std::int32_t version_id) const noexcept;
  [[nodiscard]] Status check_dialects_kept() const;
  void continue_log(std::int64_t now_ms);
  void remove_old_versions(std::size_t kept_count_min);

  const ViewMetadata* const base_;  // null: there is none
  Uuid view_uuid_;
  std::string_view location_;
  std::vector<Schema> schemas_;
  std::vector<ViewVersion> versions_;  // what was added is at the end
  std::vector<ViewHistoryEntry> log_;
  std::vector<Property> properties_;
  std::optional<std::int32_t> current_version_id_;
  std::optional<std::int32_t> last_added_schema_id_;
  std::optional<std::int32_t> last_added_version_id_;
  // Ids by identity, of as many as the counts say: a commit may add thousands.
  std::unordered_map<std::string, std::int32_t> schema_ids_;
  std::unordered_map<std::string, std::int32_t> version_ids_;
  std::size_t indexed_schema_count_ = 0;
  std::size_t indexed_version_count_ = 0;
};

}  // namespace iceblink::iceberg
