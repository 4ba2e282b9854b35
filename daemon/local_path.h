// Locations as paths of this machine that can be compared.
//
// Thread safety: pure functions; the file system is not looked at.
#pragma once

#include <iceblink/result.h>

#include <string>
#include <string_view>

#include "iceberg/location_map.h"

namespace iceblink::daemon {

/// The absolute path of a location, without empty and "." segments and without a slash at its end:
/// the root of the file system is "". kNotAllowed: it has a ".."; kUnsupported, kInvalidArgument:
/// it is no local one.
[[nodiscard]] Result<std::string> clean_path_of(std::string_view location,
                                                const iceberg::LocationMap& map);

/// Whether a clean path names something within that directory; it is not within itself.
[[nodiscard]] bool is_below(std::string_view path, std::string_view directory) noexcept;

}  // namespace iceblink::daemon
