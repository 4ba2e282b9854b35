// The group that shares the warehouse's directories: the daemon writes metadata, engines write data
// beside it, and each has to be able to make and remove what is next to the other's.
//
// Thread safety: values; make_shared from any thread.
#pragma once

#include <sys/types.h>

namespace iceblink::daemon {

/// Of directories that have no group to share them with: as usual, for their owner to write.
inline constexpr mode_t kOwnDirectoryMode = 0755;
/// Of those that have one. What is made in them is of their group (setgid).
inline constexpr mode_t kSharedDirectoryMode = 02775;

/// Gives the open directory `fd` to `group` (mode 2775), unless it is so already. Returns errno.
[[nodiscard]] int share_directory(int fd, gid_t group) noexcept;

}  // namespace iceblink::daemon
