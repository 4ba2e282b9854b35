// Where this daemon writes and deletes files: nowhere else, whatever a location says.
//
// Thread safety: immutable, but for what it knows of directories, which is shared between copies.
#pragma once

#include <iceblink/result.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/durable_directories.h"
#include "daemon/own_directories.h"
#include "daemon/owned_fd.h"
#include "iceberg/location_map.h"

namespace iceblink::daemon {

class WriteRoots {
 public:
  WriteRoots() = default;
  /// `roots` are locations of directories (made when they are first written to). Directories that
  /// are made are shared with `group`, if there is one. kInvalidArgument, kUnsupported: one of
  /// another scheme.
  [[nodiscard]] static Result<WriteRoots> of(const std::vector<std::string>& roots,
                                             iceberg::LocationMap map,
                                             std::optional<gid_t> group = std::nullopt);

  /// From now on nothing is made, written or deleted in the daemon's own, wherever roots and links
  /// lead. kInvalidArgument: a root is the store's or the runtime directory, or lies within one.
  [[nodiscard]] Status keep_out_of(OwnDirectories own);

  /// Makes the roots that are missing, and shares each with the group. Those that are there are
  /// left as they are. The first error, of kinds as below.
  [[nodiscard]] Status make_roots() const;

  /// An open directory and the name of a file in it.
  struct Place {
    OwnedFd directory;
    std::string name;
  };
  enum class Missing : std::uint8_t { kFails, kIsMade };

  /// The directory that `location` is in, reached without leaving its root. With kIsMade its name
  /// is durable, and those of all above it. kNotAllowed: it is below no root, leaves it,
  /// or is the daemon's own; kNotFound: the directory is missing, or below a file, where it is not
  /// to be made; kUnsupported, kInvalidArgument, kNoSpace, kIo. Messages speak of `location` alone.
  [[nodiscard]] Result<Place> open_parent(std::string_view location, Missing missing) const;

  /// Deletes a file; one that is not there is deleted. Errors as above.
  [[nodiscard]] Status remove(std::string_view location) const;

  /// True where `location` is lexically below a root.
  [[nodiscard]] bool covers(std::string_view location) const;

  /// True where a root is this directory, given by its path, or lies within it: lexically or, once
  /// links are followed, in truth. True, too, where that cannot be known.
  [[nodiscard]] bool has_root_within(const std::string& directory) const;

 private:
  std::vector<std::string> roots_;  // absolute paths without a slash at the end
  iceberg::LocationMap map_;
  std::optional<gid_t> group_;
  OwnDirectories own_;
  std::shared_ptr<DurableDirectories> durable_ = std::make_shared<DurableDirectories>();
};

}  // namespace iceblink::daemon
