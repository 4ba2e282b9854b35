// Which file it is, whatever it is called.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <span>

namespace iceblink::daemon {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  [[nodiscard]] static FileIdentity of(const struct stat& status) noexcept {
    return {status.st_dev, status.st_ino};
  }
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

[[nodiscard]] inline bool is_among(const struct stat& status,
                                   std::span<const FileIdentity> files) noexcept {
  return std::ranges::find(files, FileIdentity::of(status)) != files.end();
}

}  // namespace iceblink::daemon
