// From a base and a request to the metadata that follows: the text of the next file, and what its
// writer must know of it (Iceberg table and view specifications; REST specification, "commit").
//
// Errors: kInvalidArgument (400): the request contradicts itself, the base or its format; kConflict
// (409): a requirement failed ("Requirement failed: …"), or a snapshot was made on an older base
// than it claims; kCorrupt: the base's lazy parts; kOutOfMemory. What an update is refused for ends
// with its place, " (updates[3])", or with the member of a creation, " (partition-spec)".
//
// Thread safety: pure functions. Complexity: that of the base's text.
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>
#include <iceblink/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/commit/commit_request.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {

/// What a commit does not know by itself.
struct CommitContext {
  std::int64_t now_ms = 0;
  /// Of the base's file, as stored; empty: there is no base.
  std::string_view base_location;
  /// For what has none, where it needs one.
  Uuid fresh_uuid{};
  /// Where a new table or view goes that does not say so itself; empty: it has to.
  std::string_view default_location;
};

/// The next metadata of a table or view.
struct NewMetadata {
  std::string json;  // compact; empty: nothing has changed
  std::uint8_t format_version = 0;
  Uuid uuid{};
  std::string location;  // of the table or view
  /// `write.metadata.path`, where the file goes instead of <location>/metadata.
  std::optional<std::string> metadata_path;
  bool is_gzip = false;  // write.metadata.compression-codec
  /// Metadata files that fell out of the metadata-log, where
  /// `write.metadata.delete-after-commit.enabled` is true.
  std::vector<std::string> files_to_delete;

  [[nodiscard]] bool is_unchanged() const noexcept { return json.empty(); }
};

/// A new table: ids are assigned anew, the format is 2 unless `format-version` of the properties
/// says another.
[[nodiscard]] Result<NewMetadata> create_table(const TableCreationRequest& request,
                                               const CommitContext& context) noexcept;

/// `base` null: the table does not exist. Then `assert-create` must be the one requirement. All
/// requirements are checked first; then the updates are applied in order.
[[nodiscard]] Result<NewMetadata> commit_table(const TableMetadata* base, const TableCommit& commit,
                                               const CommitContext& context) noexcept;

[[nodiscard]] Result<NewMetadata> create_view(const ViewCreationRequest& request,
                                              const CommitContext& context) noexcept;
[[nodiscard]] Result<NewMetadata> commit_view(const ViewMetadata& base, const ViewCommit& commit,
                                              const CommitContext& context) noexcept;

}  // namespace iceblink::iceberg
