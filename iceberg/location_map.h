// Where the file of a location lies on this host: prefix mapping, then schemes, then roots. The
// daemon and the client have the same setting with the same meaning.
//
// Thread safety: immutable.
#pragma once

#include <iceblink/location_prefix.h>
#include <iceblink/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace iceblink::iceberg {

class LocationMap {
 public:
  LocationMap() = default;
  /// kInvalidArgument: an empty side; two of one `from`; `to` is neither an absolute path nor a
  /// location with a scheme.
  [[nodiscard]] static Result<LocationMap> of(std::vector<LocationPrefix> mappings);

  /// `location` with its prefix replaced, or as it is. A rest behind the prefix is taken byte for
  /// byte; where it leaves a URI for a plain path it is not decoded, since only file: URIs are.
  [[nodiscard]] std::string map(std::string_view location) const;

 private:
  std::vector<LocationPrefix> mappings_;  // longest `from` first
};

}  // namespace iceblink::iceberg
