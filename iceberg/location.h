// From a stored location to a path on this host.
#pragma once

#include <iceblink/result.h>

#include <string>
#include <string_view>

namespace iceblink::iceberg {

/// The local path of `location`: an absolute path stands for itself, byte for byte; `file:/p`,
/// `file:///p` and `file://localhost/p` are percent-decoded, once. In both, `?`, `#` and `+` are
/// characters like others. kUnsupported names another scheme or host; kInvalidArgument: relative,
/// empty, a bad percent escape, a NUL.
[[nodiscard]] Result<std::string> local_path(std::string_view location);

}  // namespace iceblink::iceberg
