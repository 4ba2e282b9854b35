// The directory that the segment and the socket are in, and what is asked of it.
#pragma once

#include <iceblink/result.h>

#include <string>

namespace iceblink::daemon {

/// What is wrong with both directories as they are given, before anything is made.
/// kInvalidArgument: one is no directory, or both are the same.
[[nodiscard]] Status check_directories(const std::string& runtime_dir, const std::string& data_dir);

/// Makes it (0750), and what is missing above, unless it is there. kNotAllowed, kIo.
[[nodiscard]] Status make_runtime_dir(const std::string& path);

/// One line of the log where it is on a disk.
void warn_unless_tmpfs(const std::string& path);

}  // namespace iceblink::daemon
