// Which group shares the warehouse's directories with the daemon.
#pragma once

#include <iceblink/result.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace iceblink::daemon {

/// The group that is meant when none is named.
inline constexpr const char* kDefaultWarehouseGroup = "iceblink-writers";

/// `name` as a group of this host; empty: the default one, or none where this process may not give
/// directories to it. kInvalidArgument: there is no such group, or this process is not in it;
/// kIo: the host's user database.
[[nodiscard]] Result<std::optional<gid_t>> warehouse_group(const std::string& name);

}  // namespace iceblink::daemon
