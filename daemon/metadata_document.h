// A metadata file as it is answered: its text, and what its row says of it.
//
// What opens files takes as long as the disk does, if not said otherwise. Errors: those of
// daemon/metadata_file.h; kInvalidArgument for metadata of the other kind.
#pragma once

#include <iceblink/object_kind.h>
#include <iceblink/result.h>

#include <memory>
#include <string>

#include "daemon/document_cache.h"
#include "daemon/metadata_file.h"
#include "daemon/store.h"

namespace iceblink::daemon {

struct MetadataDocument {
  std::string text;  // JSON: inflated, without a byte order mark, else as stored
  TableRow row;      // without a generation
};

/// Reads a file that is to be registered.
[[nodiscard]] Result<MetadataDocument> describe_document(const std::string& location,
                                                         const MetadataFileRules& rules,
                                                         ObjectKind kind = ObjectKind::kTable);

/// Reads the file of a row. kCorrupt: its bytes are not those that were registered. The file of
/// an unverified row is parsed instead.
[[nodiscard]] Result<std::string> read_document(const TableRow& row, const MetadataFileRules& rules,
                                                ObjectKind kind = ObjectKind::kTable);

/// As above, when that is a matter of microseconds: the file is small, plain, in the kernel's
/// caches, and the one that was registered. Null in every other case.
[[nodiscard]] std::shared_ptr<const std::string> read_document_at_once(
    const TableRow& row, const MetadataFileRules& rules, DocumentCache& cache);

}  // namespace iceblink::daemon
