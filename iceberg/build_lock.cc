#include "iceberg/build_lock.h"

#include <pthread.h>

#include <new>

namespace iceblink::iceberg {

constinit std::atomic<std::uint32_t> BuildLock::life_{1};

BuildLock::BuildLock() {
  static const bool is_counted = [] {
    // relaxed: the child has one thread
    const auto in_child = [] { life_.fetch_add(1, std::memory_order_relaxed); };
    if (::pthread_atfork(nullptr, nullptr, in_child) != 0) throw std::bad_alloc();
    return true;
  }();
  static_cast<void>(is_counted);
}

}  // namespace iceblink::iceberg
