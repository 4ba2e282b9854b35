#include "daemon/stored_location.h"

#include <algorithm>
#include <string>

#include "iceberg/utf8.h"
#include "shm/layout.h"

namespace iceblink::daemon {

Status validate_location(const TableIdent& ident, std::string_view location) {
  const auto fault = [&](const std::string& what) -> Error {
    return {ErrorKind::kInvalidArgument, "The metadata location of " + format(ident) + " " + what};
  };
  if (location.empty() || location.size() > shm::kLocationBytesMax) {
    return fault("has " + std::to_string(location.size()) + " bytes, it must have 1 to " +
                 std::to_string(shm::kLocationBytesMax));
  }
  if (!is_utf8(location)) return fault("is not valid UTF-8");
  const auto control = std::find_if(location.begin(), location.end(), is_control);
  if (control == location.end()) return Ok{};
  return fault("holds a control character at byte " + std::to_string(control - location.begin()));
}

}  // namespace iceblink::daemon
