// From the bytes of manifest lists and manifests to their model (Iceberg table specification,
// "Manifests", "Manifest Lists", "Sequence Number Inheritance", "First Row ID Inheritance").
//
// Fields are found by their ids, never by name. docs/metadata.md says what is accepted where
// libraries differ.
//
// Errors of all: kCorrupt ("field: what is wrong", with the entry's number), kUnsupported (codec,
// encryption), kTooLarge (over a limit, which is named), kOutOfMemory. The caller knows the file's
// name and puts it in front.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/metadata/manifest.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace iceblink::iceberg {

/// Told as reading goes on, for each 64 KiB or so of growth: all memory so far, the file excepted,
/// and what the document has at least. Throws nothing.
using ManifestBytesWanted = std::function<void(std::size_t bytes, std::size_t document_bytes_min)>;

/// `file` may go afterwards.
[[nodiscard]] Result<std::shared_ptr<const ManifestList>> read_manifest_list(
    std::string_view file, const TableSnapshot& snapshot, const MetadataLimits& limits = {},
    const ManifestBytesWanted& wanted = {}) noexcept;

/// Of a snapshot of format 1 whose manifests are embedded: what can be known of them unopened.
[[nodiscard]] Result<std::shared_ptr<const ManifestList>> embedded_manifest_list(
    const TableSnapshot& snapshot) noexcept;

/// A manifest, given what the manifest list says of it, and the table, whose specs and columns it
/// is of. Counts that do not match are kCorrupt, and so is a file that is cut short.
[[nodiscard]] Result<std::shared_ptr<const Manifest>> read_manifest(
    std::string_view file, const ManifestFile& listed, const TableMetadata& table,
    const MetadataLimits& limits = {}, const ManifestBytesWanted& wanted = {}) noexcept;

}  // namespace iceblink::iceberg
