// Asio registers the two descriptors that its event loop wakes by, of timers and of other threads,
// without a look at whether the kernel took them. Where it did not (memory, or
// fs.epoll.max_user_watches), no timer ends and nobody is woken, and nothing says so.
#pragma once

#include <iceblink/result.h>

#include <set>
#include <string>

namespace iceblink::daemon::http {

/// The epoll descriptors of this process, by number. Empty without /proc.
[[nodiscard]] std::set<std::string> event_loops();
/// Of every event loop but `others`, which were there before. kIo: one would not wake. Without
/// /proc nothing is looked at.
[[nodiscard]] Status check_event_loops(const std::set<std::string>& others);

}  // namespace iceblink::daemon::http
