#include "daemon/taken_signals.h"

#include <unistd.h>

#include <initializer_list>

namespace iceblink::daemon {

TakenSignals::TakenSignals() noexcept {
  ::sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals_, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

int TakenSignals::wait() const noexcept {
  siginfo_t info{};
  int signal = -1;
  while (signal < 0) signal = ::sigwaitinfo(&signals_, &info);  // EINTR alone
  return info.si_pid == ::getpid() ? 0 : signal;  // nobody but wake() sends it from here
}

void TakenSignals::wake(pthread_t thread) noexcept {
  ::pthread_kill(thread, SIGHUP);
}

}  // namespace iceblink::daemon
