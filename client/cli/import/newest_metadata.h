// Which of the metadata files in a table's `metadata` directory is the newest.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::cli {

/// Whether a file of that name is one: …metadata.json, plain or gzip (either way of saying so).
[[nodiscard]] bool is_metadata_file_name(std::string_view name) noexcept;
/// 12 of "00012-<uuid>.metadata.json", of "v12.metadata.json"; nothing where it has none.
[[nodiscard]] std::optional<std::uint64_t> version_of(std::string_view name) noexcept;

/// The path of the newest in `directory`: the one that Hadoop's version-hint.text names, if it is
/// there; else the one of the highest version in its name, on equal versions with the latest
/// last-updated-ms in it, then the one that was changed last. Nothing: it holds no metadata file.
/// kNotFound, kNotAllowed, kIo: the directory cannot be read.
[[nodiscard]] Result<std::optional<std::string>> newest_metadata(const std::string& directory);

}  // namespace iceblink::cli
