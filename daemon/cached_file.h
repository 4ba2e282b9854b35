// Reads a file only if that needs no disk: for threads that must not wait. Needs
// openat2(RESOLVE_CACHED) and preadv2(RWF_NOWAIT), which not every file system has.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "daemon/file_identity.h"
#include "daemon/owned_fd.h"
#include "daemon/read_roots.h"

namespace iceblink::daemon {

/// A regular file that was found without the disk, and not opened.
///
/// Thread safety: belongs to one thread.
class CachedFile {
 public:
  /// The file at `place`, when its name is in the kernel's caches. Nothing in every other case,
  /// errors included: whoever may wait finds out which. One of `own_files` is nothing, too; see
  /// MetadataFileRules.
  [[nodiscard]] static std::optional<CachedFile> find(const ReadRoots::Place& place,
                                                      std::span<const FileIdentity> own_files = {});

  [[nodiscard]] const struct stat& status() const noexcept { return status_; }
  /// All of it, when its bytes are in the kernel's caches and it has at most `bytes_max`. Nothing
  /// in every other case.
  [[nodiscard]] std::optional<std::string> read(std::size_t bytes_max) const;

 private:
  CachedFile(OwnedFd found, const struct stat& status)
      : found_(std::move(found)), status_(status) {}

  OwnedFd found_;  // O_PATH
  struct stat status_;
};

/// Both at once.
[[nodiscard]] std::optional<std::string> read_if_cached(
    const ReadRoots::Place& place, std::size_t bytes_max,
    std::span<const FileIdentity> own_files = {});

}  // namespace iceblink::daemon
