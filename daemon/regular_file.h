// Whole files of settings, certificates and secrets.
//
// Thread safety: thread-safe.
#pragma once

#include <iceblink/result.h>
#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <string>

namespace iceblink::daemon {

/// The bytes of a regular file; one of another kind, such as a FIFO, is not waited for. `what` is
/// how messages begin. `admit`: what else is asked of it before it is read, if anything.
/// kInvalidArgument: it is not that, is larger than `bytes_max`, or cannot be read.
[[nodiscard]] Result<std::string> read_regular_file(
    const std::string& path, const std::string& what, std::size_t bytes_max,
    const std::function<Status(const struct stat&)>& admit = {});

}  // namespace iceblink::daemon
