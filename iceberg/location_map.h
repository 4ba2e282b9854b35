// Locations that are read somewhere else than they say. The daemon and the client have the same
// setting with the same meaning.
//
// Thread safety: immutable.
#pragma once

#include <iceblink/location_prefix.h>
#include <iceblink/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace iceblink::iceberg {

/// Prefixes are compared as text, byte by byte: "/data" is not for "file:/data/x".
class LocationMap {
 public:
  LocationMap() = default;
  /// kInvalidArgument: an empty side, or one with a NUL; two of one `from`; `to` is neither an
  /// absolute path nor a location with a scheme. `from` may be relative: that is how relative
  /// locations get the directory they are relative to.
  [[nodiscard]] static Result<LocationMap> of(std::vector<LocationPrefix> mappings);

  /// `location` with its prefix replaced, or as it is. A rest behind the prefix is taken byte for
  /// byte; where it leaves a URI for a plain path it is not decoded. Where it is to be decoded,
  /// `to` is a file: URI.
  [[nodiscard]] std::string map(std::string_view location) const;

  /// The local path that `location` is read at. Errors as local_path(), in words about the stored
  /// location: where it is mapped to is not for those who ask for it.
  [[nodiscard]] Result<std::string> path_of(std::string_view location) const;

  [[nodiscard]] bool is_empty() const noexcept { return mappings_.empty(); }

 private:
  std::vector<LocationPrefix> mappings_;  // longest `from` first; no slashes at the ends
};

/// "FROM=TO", as options have it. FROM ends before the first '=' that an absolute path or a
/// location with a scheme follows; so FROM may hold "day=1", though not "=/" or "=s3:".
/// kInvalidArgument: there is none, or nothing before it.
[[nodiscard]] Result<LocationPrefix> parse_location_prefix(std::string_view text);

}  // namespace iceblink::iceberg
