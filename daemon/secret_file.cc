#include "daemon/secret_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "daemon/regular_file.h"

namespace iceblink::daemon {
namespace {

constexpr mode_t kOthersMask = S_IRWXG | S_IRWXO;

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

}  // namespace

Result<std::string> read_secret_file(const std::string& path, const std::string& setting,
                                     std::size_t bytes_max) {
  const std::string what = setting + " '" + path + "': ";
  return read_regular_file(path, what, bytes_max, [&](const struct stat& found) -> Status {
    if (found.st_uid != 0 && found.st_uid != ::geteuid()) {
      return {ErrorKind::kInvalidArgument, what + "belongs to uid " + std::to_string(found.st_uid) +
                                               ", it must belong to root or to uid " +
                                               std::to_string(::geteuid())};
    }
    if ((found.st_mode & kOthersMask) != 0) {
      return {ErrorKind::kInvalidArgument, what + "has mode " + octal(found.st_mode) +
                                               ", it must be 0600 or 0400: others could read it"};
    }
    return Ok{};
  });
}

}  // namespace iceblink::daemon
