// Files that are reached from a directory without leaving it.
//
// Thread safety: thread-safe.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <string>

namespace iceblink::daemon {

/// The descriptor of `relative` below `root`, or -1 and errno: EXDEV where a "..", a link or an
/// absolute path leads out; EAGAIN where others keep renaming on the way. `flags` as of open(2),
/// O_CLOEXEC is added. `resolve`: more of what openat2(2) calls RESOLVE_*.
[[nodiscard]] int open_beneath(int root, const std::string& relative, std::uint64_t flags,
                               std::uint64_t resolve = 0) noexcept;

/// Tries it: without openat2(2) no file of a catalog could be opened. kUnsupported: the kernel, or
/// the sandbox of this process, is without it; kNotAllowed, kBusy, kIo.
[[nodiscard]] Status check_open_beneath();

}  // namespace iceblink::daemon
