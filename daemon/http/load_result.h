// The answers that hold a table's or a view's metadata (REST specification, "LoadTableResult",
// "CommitTableResponse", "UnregisterTableResult", "LoadViewResult").
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/object_kind.h>
#include <iceblink/result.h>

#include <optional>
#include <string>

#include "daemon/http/etag.h"
#include "daemon/http/response.h"
#include "daemon/metadata_file.h"
#include "daemon/table_row.h"

namespace iceblink::daemon::http {

enum class ResultConfig : std::uint8_t { kNone, kEmpty };

/// `row` without a location: staged, which has no file. `metadata` absent: it was not read.
[[nodiscard]] Response metadata_response(const TableRow& row, std::optional<BodyPart> metadata,
                                         ResultConfig config);

/// As above, with the tag of the representation.
[[nodiscard]] Response tagged_response(const TableRow& row, std::optional<BodyPart> metadata,
                                       ResultConfig config, SnapshotMode mode = SnapshotMode::kAll);

/// Reads the file of a row, as long as the disk takes. kRefs: metadata that is more than this
/// library understands is answered whole. Errors: those of read_document.
[[nodiscard]] Result<std::string> read_representation(const TableRow& row, ObjectKind kind,
                                                      SnapshotMode mode,
                                                      const MetadataFileRules& rules);

/// What a client is told when the file of a pointer cannot be read.
[[nodiscard]] Response failed_load(ObjectKind kind, const TableIdent& ident, const Error& error);

}  // namespace iceblink::daemon::http
