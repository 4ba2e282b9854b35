#include "daemon/file_errors.h"

#include <cerrno>

namespace iceblink::daemon {

ErrorKind file_error_kind(int code) noexcept {
  switch (code) {
    case ENOENT:
      return ErrorKind::kNotFound;
    case EXDEV:  // what openat2 says of a way out
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::kNotAllowed;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorKind::kNoSpace;
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EISDIR:
    case ENXIO:  // a socket, or a device that is not there
    case ENODEV:
    case EINVAL:  // a name that the file system cannot have
      return ErrorKind::kInvalidArgument;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:  // leased, and soon free
      return ErrorKind::kBusy;
    case ENOSYS:
      return ErrorKind::kUnsupported;
    default:
      return ErrorKind::kIo;
  }
}

}  // namespace iceblink::daemon
