// The exit codes, which scripts rely on, and which error is which.
#pragma once

#include <iceblink/result.h>

#include <cstdint>

namespace iceblink::cli {

enum class ExitCode : std::uint8_t {
  kYes = 0,  // yes, done
  kNo = 1,   // no, not found
  kUsage = 2,
  kNoDaemon = 3,  // no daemon, or no segment, where the command needs it
  kConflict = 4,
  kInvalid = 5,       // corrupt or invalid
  kStateUnknown = 6,  // the write may or may not have been done
  kNotAllowed = 7,
  kInternal = 70,
};

[[nodiscard]] constexpr ExitCode exit_code_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kNotFound:
    case ErrorKind::kGone:
      return ExitCode::kNo;
    case ErrorKind::kNoSegment:
    case ErrorKind::kNoDaemon:
    case ErrorKind::kTimedOut:
      return ExitCode::kNoDaemon;
    case ErrorKind::kAlreadyExists:
    case ErrorKind::kNotEmpty:
    case ErrorKind::kConflict:
      return ExitCode::kConflict;
    case ErrorKind::kInvalidArgument:
    case ErrorKind::kIncompatible:
    case ErrorKind::kCorrupt:
    case ErrorKind::kTooLarge:
    case ErrorKind::kUnsupported:
      return ExitCode::kInvalid;
    case ErrorKind::kStateUnknown:
      return ExitCode::kStateUnknown;
    case ErrorKind::kNotAllowed:
      return ExitCode::kNotAllowed;
    case ErrorKind::kNoSpace:
    case ErrorKind::kBusy:
    case ErrorKind::kOutOfMemory:
    case ErrorKind::kIo:
    case ErrorKind::kInternal:
      break;
  }
  return ExitCode::kInternal;
}

}  // namespace iceblink::cli
