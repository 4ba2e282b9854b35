// Reads a file only if that needs no disk: for threads that must not wait.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "daemon/file_identity.h"
#include "daemon/read_roots.h"

namespace iceblink::daemon {

/// The whole file at `place`, when its name and all of its bytes are in the kernel's caches and it
/// has at most `bytes_max`. Nothing in every other case, errors included: whoever may wait finds
/// out which. Needs openat2(RESOLVE_CACHED) and preadv2(RWF_NOWAIT), which not every file system
/// has.
/// One of `own_files` is not opened; see MetadataFileRules.
[[nodiscard]] std::optional<std::string> read_if_cached(
    const ReadRoots::Place& place, std::size_t bytes_max,
    std::span<const FileIdentity> own_files = {});

}  // namespace iceblink::daemon
