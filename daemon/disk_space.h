// How much room a directory's file system has.
//
// Thread safety: pure functions.
#pragma once

#include <sys/statvfs.h>

#include <cstdint>
#include <string>

namespace iceblink::daemon {

struct DiskSpace {
  std::uint64_t free_bytes = 0;  // for this process
  std::uint64_t total_bytes = 0;
};

/// All zero when the file system does not say.
[[nodiscard]] inline DiskSpace disk_space_of(const std::string& path) noexcept {
  struct statvfs disk {};
  if (::statvfs(path.c_str(), &disk) != 0) return {};
  return {std::uint64_t{disk.f_bavail} * disk.f_frsize,
          std::uint64_t{disk.f_blocks} * disk.f_frsize};
}

}  // namespace iceblink::daemon
