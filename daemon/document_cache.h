// Texts of small metadata files that were read lately, so that who asks again need not wait for
// them to be opened, read and hashed once more.
//
// A text is that of its fingerprint, whatever becomes of the file. It is handed out only for the
// file that it was read from, unchanged by its stamp, so that a file that is gone or was changed in
// place is noticed as it would be without this.
//
// Thread safety: all of it. Complexity: O(1).
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "daemon/file_identity.h"
#include "daemon/wall_clock.h"
#include "shm/layout.h"

namespace iceblink::daemon {

/// Which file it is, and since when.
struct FileStamp {
  FileIdentity identity;
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;  // since the Unix epoch, as its status has it
  std::int64_t changed_ns = 0;

  [[nodiscard]] static FileStamp of(const struct stat& status) noexcept;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

class DocumentCache {
 public:
  static constexpr std::size_t kTextBytesMax = 64 * 1024;
  static constexpr std::size_t kTexts = 256;  // 16 MiB at most, all together

  /// Null: it is not kept.
  [[nodiscard]] std::shared_ptr<const std::string> find(const shm::Id& fingerprint,
                                                        const FileStamp& stamp);
  /// Keeps a text in the place of another one. Not that of a file so young that it could still be
  /// changed without another stamp: clocks of file systems tick some hundred times a second, or
  /// once in one or two.
  void keep(const shm::Id& fingerprint, const FileStamp& stamp,
            std::shared_ptr<const std::string> text, std::int64_t at_ms = now_ms());

 private:
  struct Kept {
    shm::Id fingerprint;
    FileStamp stamp;
    std::shared_ptr<const std::string> text;
  };
  struct Place {
    std::mutex mutex;
    std::shared_ptr<const Kept> kept;
  };
  [[nodiscard]] Place& place_of(const shm::Id& fingerprint) noexcept;

  std::array<Place, kTexts> places_;
};

}  // namespace iceblink::daemon
