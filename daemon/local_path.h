// Locations as paths of this machine that can be compared.
//
// Thread safety: thread-safe.
#pragma once

#include <iceblink/result.h>

#include <optional>
#include <string>
#include <string_view>

#include "iceberg/location_map.h"

namespace iceblink::daemon {

/// The absolute path of a location, without empty and "." segments and without a slash at its end:
/// the root of the file system is "". kNotAllowed: it has a ".."; kUnsupported, kInvalidArgument:
/// it is no local one.
[[nodiscard]] Result<std::string> clean_path_of(std::string_view location,
                                                const iceberg::LocationMap& map);

/// Whether a path names something within that directory, by its segments; it is not within itself.
[[nodiscard]] bool is_below(std::string_view path, std::string_view directory) noexcept;

/// With all links followed, as far as it is there. Nothing: the file system does not say.
[[nodiscard]] std::optional<std::string> real_path_of(const std::string& path);

}  // namespace iceblink::daemon
