// A program's first line, without a shell and with a deadline.
//
// Thread safety: free functions.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace iceblink::cli {

/// What the program (found by PATH) writes to standard output first, whatever it exits with; what
/// it writes to standard error is dropped. Empty: there is no such program, it wrote nothing, or it
/// took longer, and was killed.
[[nodiscard]] std::string command_output(const std::vector<std::string>& arguments,
                                         std::chrono::milliseconds timeout);

}  // namespace iceblink::cli
