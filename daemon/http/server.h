// The HTTP server: accept loops, the threads that serve, and the limits.
//
// Thread safety: hurry and change from any thread; the rest belongs to one thread, not of the
// server's own.
#pragma once

#include <iceblink/result.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/http/connection.h"
#include "daemon/http/listener.h"
#include "daemon/http/services.h"

namespace iceblink::daemon::http {

struct ServerOptions {
  /// Each has its own connections; one more accepts them and has the timers.
  std::size_t threads = 2;
  /// Above, the one that is idle longest is closed; if none is, the new one, with a 429. A quarter
  /// is not for TCP.
  std::size_t connections_max = 1024;
  ConnectionLimits limits;
  std::shared_ptr<const TlsContext> tls;  // of TCP; nullptr: without
  /// Called every `heartbeat_period`, on the thread that accepts.
  std::function<void()> heartbeat;
  std::chrono::milliseconds heartbeat_period{100};
};

class Server {
 public:
  /// Serves at once. `services` must outlive the server. kIo: a listener cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(Services& services,
                                                             ServerOptions options,
                                                             std::vector<Listener> listeners);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// From now on: the limits for new connections and the next requests of open ones, TLS for new
  /// connections.
  void change(std::size_t connections_max, const ConnectionLimits& limits,
              std::shared_ptr<const TlsContext> tls);

  /// Takes no more connections, and no more requests on those that are open.
  void begin_stop() noexcept;
  /// After begin_stop: true once every request has its answer; false at `until`, or when hurry()
  /// was called.
  [[nodiscard]] bool wait_answered(std::chrono::steady_clock::time_point until) noexcept;
  /// Ends the wait_answered that runs, or else the next. From any thread.
  void hurry() noexcept;
  [[nodiscard]] std::size_t connection_count() const;
  /// Ends the threads, whatever they have in hand; begin_stop first. Idempotent.
  void stop() noexcept;

 private:
  class State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace iceblink::daemon::http
