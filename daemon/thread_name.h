// Names of threads, as `top -H`, debuggers and /proc/PID/task show them.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <string>

namespace iceblink::daemon {

/// Of the calling thread. The kernel keeps 15 bytes.
inline void name_this_thread(const std::string& name) noexcept {
  constexpr std::size_t kBytesMax = 15;
  static_cast<void>(::pthread_setname_np(::pthread_self(), name.substr(0, kBytesMax).c_str()));
}

}  // namespace iceblink::daemon
