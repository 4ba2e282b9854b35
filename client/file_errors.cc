#include "client/file_errors.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>

namespace iceblink::client {
namespace {

ErrorKind kind_of(int code) noexcept {
  switch (code) {
    case EACCES:
    case EPERM:
    case EXDEV:  // of openat2: it leads out of the root
      return ErrorKind::kNotAllowed;
    case ENAMETOOLONG:
    case ELOOP:
    case EISDIR:
    case ENXIO:  // a socket, or a device that is not there
    case ENODEV:
    case EINVAL:  // a name that the file system cannot have
      return ErrorKind::kInvalidArgument;
    case ENOMEM:
      return ErrorKind::kOutOfMemory;
    default:
      return ErrorKind::kIo;
  }
}

}  // namespace

Error file_not_found(std::string_view location) noexcept {
  // The words of the reference implementation: clients look for them.
  return {ErrorKind::kNotFound, {"Failed to open input stream for file: ", location}};
}

Error file_error(int code, std::string_view location, std::string_view doing) noexcept {
  if (code == ENOENT || code == ENOTDIR) return file_not_found(location);
  if (code == EXDEV) {
    return {kind_of(code), {location, ": it leads out of the directories that read_roots allows"}};
  }
  char text[128] = "";
  return {kind_of(code), {location, ": ", doing, ": ", ::strerror_r(code, text, sizeof(text))}};
}

Error file_too_large(std::string_view location, std::size_t bytes_max) noexcept {
  char digits[std::numeric_limits<std::size_t>::digits10 + 2];
  const auto end = std::to_chars(digits, digits + sizeof(digits), bytes_max).ptr;
  return {ErrorKind::kTooLarge,
          {location, ": the file is larger than ",
           std::string_view(digits, static_cast<std::size_t>(end - digits)), " bytes"}};
}

Error file_content_error(std::string_view location, const Error& error) noexcept {
  return {error.kind(), {location, ": ", error.message()}};
}

}  // namespace iceblink::client
