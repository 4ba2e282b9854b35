// The numbers of this host's users and groups.
//
// Thread safety: thread-safe.
#pragma once

#include <iceblink/result.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace iceblink::daemon {

/// Nothing: this host has none of that name. kIo: its user database cannot be asked.
[[nodiscard]] Result<std::optional<uid_t>> find_user(const std::string& name);
[[nodiscard]] Result<std::optional<gid_t>> find_group(const std::string& name);

}  // namespace iceblink::daemon
