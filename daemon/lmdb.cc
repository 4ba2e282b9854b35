#include "daemon/lmdb.h"

#include <cerrno>

namespace iceblink::daemon::lmdb {
namespace {

ErrorKind kind_of(int code) noexcept {
  switch (code) {
    case MDB_MAP_FULL:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorKind::kNoSpace;
    case MDB_TXN_FULL:
      return ErrorKind::kTooLarge;
    case MDB_READERS_FULL:
    case EAGAIN:
      return ErrorKind::kBusy;
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
      return ErrorKind::kCorrupt;
    case MDB_VERSION_MISMATCH:
    case MDB_INCOMPATIBLE:
      return ErrorKind::kIncompatible;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::kNotAllowed;
    case ENOMEM:
      return ErrorKind::kOutOfMemory;
    case MDB_BAD_VALSIZE:
      return ErrorKind::kInvalidArgument;
    default:
      return ErrorKind::kIo;
  }
}

}  // namespace

Error error_of(int code, std::string_view path, std::string_view doing) {
  return {kind_of(code),
          std::string(path) + ": " + std::string(doing) + ": " + std::string(mdb_strerror(code))};
}

bool is_out_of_space(int code) noexcept {
  return kind_of(code) == ErrorKind::kNoSpace;
}

}  // namespace iceblink::daemon::lmdb
