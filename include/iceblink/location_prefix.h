// Locations that are read somewhere else: of tables that were moved, or are mounted. One setting,
// of one meaning in clients and in the daemon.
#pragma once

#include <string>

namespace iceblink {

/// Locations that begin with `from` are read where those that begin with `to` are. Whole path parts
/// only: "s3://b/w" is for "s3://b/w" and "s3://b/w/x", not for "s3://b/wide"; a slash at the end
/// of either does not matter. Of several that match, the longest `from` wins; what it made is not
/// mapped again. Stored locations stay what they are.
struct LocationPrefix {
  std::string from;
  std::string to;  ///< an absolute path, or a location with a scheme
};

}  // namespace iceblink
