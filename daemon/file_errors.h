// What the codes of failed system calls on files are as errors.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/result.h>

namespace iceblink::daemon {

/// kNotFound, kNotAllowed, kNoSpace, kInvalidArgument (a name or a thing that cannot be), kBusy
/// (out of descriptors or memory, leased), kUnsupported (the call), else kIo.
[[nodiscard]] ErrorKind file_error_kind(int code) noexcept;

}  // namespace iceblink::daemon
