// SIGTERM, SIGINT and SIGHUP, taken by waiting for them. Nothing has to be registered anywhere for
// them to come, so nothing can be missing under a full machine.
//
// Thread safety: one thread waits at a time; wake() from any.
#pragma once

#include <pthread.h>

#include <csignal>

namespace iceblink::daemon {

class TakenSignals {
 public:
  /// Blocks them for this thread and those that it starts from now on, for good: make it first.
  /// What comes before somebody waits is kept.
  TakenSignals() noexcept;

  /// The next one; 0: woken.
  [[nodiscard]] int wait() const noexcept;
  /// Ends the wait of `thread`, which has not been joined, or else its next one.
  static void wake(pthread_t thread) noexcept;

 private:
  sigset_t signals_{};
};

}  // namespace iceblink::daemon
