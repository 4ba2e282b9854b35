// Files that hold secrets: tokens and private keys.
//
// Thread safety: thread-safe.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <string>

namespace iceblink::daemon {

/// The bytes of a regular file that root or this process's user owns and nobody else may open.
/// `setting` names the file's setting in messages, which never hold a byte of it. kInvalidArgument:
/// it is not that, is larger than `bytes_max`, or cannot be read.
[[nodiscard]] Result<std::string> read_secret_file(const std::string& path,
                                                   const std::string& setting,
                                                   std::size_t bytes_max);

}  // namespace iceblink::daemon
