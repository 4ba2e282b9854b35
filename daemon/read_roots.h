// Where this daemon reads metadata: anywhere, or below some directories alone, whatever a location
// says.
//
// Thread safety: immutable.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/owned_fd.h"
#include "iceberg/location_map.h"

namespace iceblink::daemon {

class ReadRoots {
 public:
  /// Anywhere.
  ReadRoots() = default;
  /// `roots` are locations of directories, which may be yet to be made; none: anywhere.
  /// kInvalidArgument, kUnsupported: one of another scheme; kNotAllowed: one with a "..".
  [[nodiscard]] static Result<ReadRoots> of(const std::vector<std::string>& roots,
                                            const iceberg::LocationMap& map);

  /// Where a location is read. A plain path works too.
  struct Place {
    Place(std::string whole) : path(std::move(whole)) {}  // NOLINT(google-explicit-constructor)
    Place(std::string whole, std::size_t root_size)
        : path(std::move(whole)), root_bytes(root_size) {}

    std::string path;               // absolute
    std::size_t root_bytes = npos;  // of `path`: the root it must not leave; npos: there is none

    static constexpr std::size_t npos = std::string::npos;
  };

  /// By its words alone: whether links lead out is seen when it is opened. kNotAllowed: below no
  /// root, or of another scheme where there are roots; kUnsupported, kInvalidArgument: it is no
  /// local one. Messages speak of `location` alone.
  [[nodiscard]] Result<Place> find(std::string_view location,
                                   const iceberg::LocationMap& map) const;

  /// Whether `location` may be stored without being read: as find(), and without a "..".
  [[nodiscard]] Status admit(std::string_view location, const iceberg::LocationMap& map) const;

 private:
  std::vector<std::string> roots_;  // absolute paths without a slash at the end
  bool is_bound_ = false;
};

/// The file as it is found, not yet open for reading (O_PATH): looking at it waits for nothing and
/// changes nothing. -1 and errno: EXDEV where it leaves its root. `resolve`: as of open_beneath.
/// Throws std::bad_alloc.
[[nodiscard]] int find_file(const ReadRoots::Place& place, std::uint64_t resolve = 0);

/// The same file for reading, whatever has its name by now, without waiting; -1 and errno. Needs
/// /proc: ENOSYS without.
[[nodiscard]] int open_found(int found) noexcept;

}  // namespace iceblink::daemon
