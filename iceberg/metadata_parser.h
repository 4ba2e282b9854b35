// From the bytes of a metadata file to its model (Iceberg table specification, "Table Metadata" and
// appendices C and E; Iceberg view specification). docs/metadata.md says what is accepted where
// libraries differ.
//
// Errors of all: kCorrupt, "field.path: what is wrong" (the first problem; "" as path is the whole
// document); kUnsupported: a format-version above ours, or zstd; kTooLarge: over a limit, which is
// named; kOutOfMemory. The caller knows the file's name and puts it in front.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>
#include <iceblink/result.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/byte_buffer.h"
#include "iceberg/gzip.h"

namespace iceblink::iceberg {

/// A table's metadata, given the file's bytes as stored: plain, with a BOM, or gzip, by its first
/// bytes. What has to do with single snapshots and with the logs stays raw. `wanted`, which throws
/// nothing, is told of the memory for a text that is compressed.
[[nodiscard]] Result<std::shared_ptr<TableMetadata>> parse_table_metadata(
    ByteBuffer file, const MetadataLimits& limits = {},
    const TextBytesWanted& wanted = {}) noexcept;

[[nodiscard]] Result<std::shared_ptr<ViewMetadata>> parse_view_metadata(
    ByteBuffer file, const MetadataLimits& limits = {},
    const TextBytesWanted& wanted = {}) noexcept;

/// Either, told apart by content: a view has a view-uuid, and versions or no table-uuid.
[[nodiscard]] Result<std::shared_ptr<MetadataDocument>> parse_metadata(
    ByteBuffer file, const MetadataLimits& limits = {}) noexcept;

/// One thing that is wrong with a document.
struct MetadataProblem {
  std::string path;  ///< e.g. "snapshots[3].summary.operation"; empty: the document as a whole
  std::string what;
};

/// All problems of a file, in its order, with every part built that a reader would leave raw.
/// Empty: it is valid. Besides the metadata of tables and views, that in a load-table response of
/// the REST protocol is found. Where the JSON itself is broken, nothing behind that place is looked
/// at. Errors: kOutOfMemory alone; what else is wrong is a problem.
[[nodiscard]] Result<std::vector<MetadataProblem>> check_metadata(
    ByteBuffer file, const MetadataLimits& limits = {}) noexcept;

}  // namespace iceblink::iceberg
