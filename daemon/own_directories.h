// What belongs to the daemon itself: the store, the runtime directory, and the data directory that
// the lock is in. Nothing that a location names is written or deleted there, whatever the write
// roots say.
//
// Thread safety: immutable.
#pragma once

#include <string>
#include <vector>

namespace iceblink::daemon {

class OwnDirectories {
 public:
  /// None.
  OwnDirectories() = default;
  /// They may be yet to be made.
  OwnDirectories(const std::string& data_dir, const std::string& runtime_dir);

  /// Whether this path is the store's directory or the runtime directory, or lies within one, once
  /// links are followed.
  [[nodiscard]] bool hold(const std::string& path) const;
  /// Whether the open directory is one of those two, whatever name led to it (links, mounts): what
  /// is in it is the daemon's alone.
  [[nodiscard]] bool are_closed_as(int directory) const noexcept;
  /// Whether files of the daemon lie in the open directory: it is one of those two, or the data
  /// directory, below which a warehouse may be.
  [[nodiscard]] bool have_files_in(int directory) const noexcept;

 private:
  std::vector<std::string> closed_;
  std::vector<std::string> with_files_;  // those, too
};

}  // namespace iceblink::daemon
