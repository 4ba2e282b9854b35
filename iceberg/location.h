// From a stored location to a path on this host.
#pragma once

#include <iceblink/result.h>

#include <optional>
#include <string>
#include <string_view>

namespace iceblink::iceberg {

/// The local path of `location`: an absolute path stands for itself, byte for byte; `file:/p`,
/// `file:///p` and `file://localhost/p` are percent-decoded, once. In both, `?`, `#` and `+` are
/// characters like others. kUnsupported names another scheme or host; kInvalidArgument: relative,
/// empty, a bad percent escape, a NUL.
[[nodiscard]] Result<std::string> local_path(std::string_view location);

/// The scheme (RFC 3986, 3.1) that `location` begins with, as it is written. No absolute path has
/// one, nor a relative one whose first part holds no colon.
[[nodiscard]] std::optional<std::string_view> scheme_of(std::string_view location) noexcept;
/// Schemes are compared without regard to case.
[[nodiscard]] bool is_same_scheme(std::string_view a, std::string_view b) noexcept;

}  // namespace iceblink::iceberg
