// The metadata of a table or a view, for people: lines of at most 80 columns where what they name
// is not longer itself.
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>
#include <iceblink/result.h>
#include <iceblink/table.h>

#include <string>
#include <vector>

namespace iceblink::cli {

/// Builds the current snapshot: kCorrupt where that fails, kOutOfMemory.
[[nodiscard]] Result<std::vector<std::string>> summary_of(const TableMetadata& table);
/// The same of a handle, with its name and where its metadata is.
[[nodiscard]] Result<std::vector<std::string>> summary_of(const Table& table);
[[nodiscard]] std::vector<std::string> summary_of(const ViewMetadata& view);

}  // namespace iceblink::cli
