#include "daemon/http/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "daemon/http/connection_registry.h"
#include "daemon/http/error_body.h"
#include "daemon/http/event_loop.h"
#include "daemon/http/loop.h"
#include "daemon/http/tls_context.h"
#include "daemon/log_event.h"
#include "daemon/thread_name.h"

namespace iceblink::daemon::http {
namespace {

namespace asio = boost::asio;
using asio::generic::stream_protocol;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// After an accept failed for want of descriptors or memory.
constexpr milliseconds kAcceptPause{100};

/// How a connection goes.
struct Leaving {
  std::shared_ptr<std::atomic<std::size_t>> connection_count;
  void operator()(const Connection* connection) const noexcept {
    delete connection;
    // relaxed: a count to choose a loop by
    connection_count->fetch_sub(1, std::memory_order_relaxed);
  }
};

/// What a stop gives those who have connected and not yet asked anything.
constexpr milliseconds kFirstRequestGrace{200};

/// Of all connections, so that nobody who comes over TCP keeps away those who come over the socket.
std::size_t tcp_share_of(std::size_t connections_max) {
  return std::max<std::size_t>(1, connections_max - (connections_max + 3) / 4);
}

milliseconds sweep_period_of(const ConnectionLimits& limits) {
  const auto shortest =
      std::min({limits.idle_timeout, limits.request_timeout, limits.write_timeout});
  return std::clamp(shortest / 4, milliseconds(5), milliseconds(1000));
}

}  // namespace

class Server::State {
 public:
  State(Services& services, ServerOptions options)
      : services_(services),
        options_(std::move(options)),
        registry_(std::make_shared<ConnectionRegistry>()),
        connections_max_(options_.connections_max),
        limits_(std::make_shared<ConnectionLimits>(options_.limits)),
        tls_(options_.tls),
        sweep_timer_(own_.io()),
        heartbeat_timer_(own_.io()) {
    for (std::size_t i = 0; i < options_.threads; ++i) {
      loops_.push_back(std::make_unique<Loop>());
    }
  }

  ~State() { stop(); }

  Status start(std::vector<Listener> listeners) {
    for (Listener& listener : listeners) {
      const int family = listener.transport() == Transport::kUnix ? AF_UNIX : AF_INET;
      auto& accepting =
          accepting_.emplace_back(std::make_unique<Accepting>(own_.io(), std::move(listener)));
      error_code error;
      accepting->acceptor.assign(stream_protocol(family, 0), accepting->listener.fd(), error);
      // Else Asio waits for the next connection, while another may wait behind one that is gone.
      if (!error) {
        accepting->acceptor.set_option(asio::socket_base::enable_connection_aborted(true), error);
      }
      if (error) return {ErrorKind::kIo, "cannot listen: " + error.message()};
      (void)accepting->listener.release_fd();
    }
    for (auto& accepting : accepting_) accept(*accepting);
    sweep();
    if (options_.heartbeat) beat();
    threads_.emplace_back([this] {
      name_this_thread("http-accept");
      own_.run([this] { return begin_what_is_lost(); });
    });
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      threads_.emplace_back([this, i] {
        name_this_thread("http-" + std::to_string(i));
        loops_[i]->run();
      });
    }
    return Ok{};
  }

  void change(std::size_t connections_max, const ConnectionLimits& limits,
              std::shared_ptr<const TlsContext> tls) {
    // relaxed: a limit, which orders nothing
    connections_max_.store(connections_max, std::memory_order_relaxed);
    limits_.set(std::make_shared<ConnectionLimits>(limits));
    tls_.set(std::move(tls));
  }

  void begin_stop() noexcept {
    if (threads_.empty()) return;
    // relaxed: a sign for those who probe; orders nothing
    services_.is_ready.store(false, std::memory_order_relaxed);
    asio::post(own_.io(), [this] {
      const std::lock_guard lock(accept_mutex_);
      if (std::exchange(is_stopping_, true)) return;
      error_code ignored;
      for (auto& accepting : accepting_) accepting->acceptor.close(ignored);
      for (const auto& connection : registry_->all()) connection->drain();
      accepts_ended_.notify_all();
    });
  }

  [[nodiscard]] bool wait_answered(steady_clock::time_point until) {
    wait_accepted(until);
    const auto first_until = std::min(until, steady_clock::now() + kFirstRequestGrace);
    if (registry_->wait_empty(first_until)) return true;
    for (const auto& connection : registry_->all()) connection->end_waiting();
    if (steady_clock::now() < first_until) return false;  // hurried
    return registry_->wait_empty(until);
  }
  // Whoever was accepted before the stop is in the registry after this.
  void wait_accepted(steady_clock::time_point until) {
    std::unique_lock lock(accept_mutex_);
    accepts_ended_.wait_until(lock, until,
                              [this] { return is_stopping_ && accepts_pending_ == 0; });
  }
  void hurry() { registry_->hurry(); }
  [[nodiscard]] std::size_t connection_count() const { return registry_->size(); }

  void stop() noexcept {
    if (threads_.empty()) return;
    own_.stop();
    for (auto& loop : loops_) loop->stop();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    accepting_.clear();
  }

 private:
  struct Accepting {
    Accepting(asio::io_context& io, Listener from)
        : listener(std::move(from)), acceptor(io), pause(io) {}
    Listener listener;  // its socket file, once the acceptor has the descriptor
    asio::basic_socket_acceptor<stream_protocol, asio::io_context::executor_type> acceptor;
    asio::steady_timer pause;
    std::atomic<bool> is_lost{false};  // relaxed: claimed by an exchange
  };

  /// Begins what goes on for as long as the server does. Where there was no memory for that, the
  /// thread that it was asked on begins it again.
  template <typename Begin>
  static void begin(std::atomic<bool>& is_lost, Begin start_it) {
    try {
      start_it();
    } catch (const std::exception&) {
      is_lost.store(true, std::memory_order_relaxed);  // relaxed: claimed by an exchange
      throw;
    }
  }
  /// False: there is still no memory for it.
  bool begin_what_is_lost() noexcept {
    // relaxed: whoever takes it begins it, and the timers and the mutex order the rest
    const auto claims = [](std::atomic<bool>& is_lost) {
      return is_lost.exchange(false, std::memory_order_relaxed);
    };
    try {
      for (auto& accepting : accepting_) {
        const std::lock_guard lock(accept_mutex_);
        if (claims(accepting->is_lost) && !is_stopping_) accept(*accepting);
      }
      if (claims(is_sweep_lost_)) sweep();
      if (claims(is_beat_lost_)) beat();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  /// That with the fewest connections.
  [[nodiscard]] Loop& quietest_loop() const {
    // relaxed: a count to choose a loop by
    return **std::ranges::min_element(loops_, {}, [](const auto& loop) {
      return loop->connection_count()->load(std::memory_order_relaxed);
    });
  }

  void accept(Accepting& accepting) {
    begin(accepting.is_lost, [&] {
      Loop& loop = quietest_loop();
      accepting.acceptor.async_accept(loop.io(),
                                      [this, &accepting, &loop](error_code error, Socket socket) {
                                        on_accept(accepting, loop, error, std::move(socket));
                                      });
      ++accepts_pending_;
    });
  }

  void on_accept(Accepting& accepting, const Loop& loop, const error_code& error, Socket socket) {
    const std::lock_guard lock(accept_mutex_);
    --accepts_pending_;
    accepts_ended_.notify_all();  // seen once the mutex is let go
    if (is_stopping_ && error) return;
    if (error == asio::error::connection_aborted || error == asio::error::interrupted) {
      return accept(accepting);
    }
    if (error) return pause(accepting, error.message().c_str());
    try {
      take(accepting.listener.transport(), loop, std::move(socket));
    } catch (const std::exception& thrown) {
      return pause(accepting, thrown.what());
    }
    if (!is_stopping_) accept(accepting);
  }

  void pause(Accepting& accepting, const char* reason) {
    begin(accepting.is_lost, [&] {
      const auto left_out = services_.refusal_lines.take("accept", steady_clock::now());
      if (left_out) {
        log_event(level::warn, "accept failed", {{"message", reason}, {"left_out", *left_out}});
      }
      accepting.pause.expires_after(kAcceptPause);
      accepting.pause.async_wait([this, &accepting](error_code cancelled) {
        const std::lock_guard lock(accept_mutex_);
        if (!cancelled && !is_stopping_) accept(accepting);
      });
    });
  }

  void take(Transport transport, const Loop& loop, Socket socket) {
    auto tls = transport == Transport::kTcp ? tls_.get() : nullptr;
    // relaxed: a limit, which orders nothing
    const auto connections_max = connections_max_.load(std::memory_order_relaxed);
    const bool is_share_taken = transport == Transport::kTcp &&
                                registry_->count(Transport::kTcp) >= tcp_share_of(connections_max);
    const bool is_full = is_share_taken || registry_->size() >= connections_max;
    const auto whose = is_share_taken ? std::optional(Transport::kTcp) : std::nullopt;
    if (is_full && !registry_->end_most_idle(whose)) {
      // relaxed: a counter, for showing
      services_.counters.connections_refused.fetch_add(1, std::memory_order_relaxed);
      const auto left_out = services_.refusal_lines.take("connection", steady_clock::now());
      if (left_out) {
        log_event(level::warn, "connection refused",
                  {{"open", connections_max}, {"left_out", *left_out}});
      }
      // Who waits for a handshake could not read why.
      if (!tls) say_full(std::move(socket), connections_max);
      return;
    }
    // relaxed: a counter, for showing
    services_.counters.connections_accepted.fetch_add(1, std::memory_order_relaxed);
    if (transport == Transport::kTcp) {
      const int on = 1;
      ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    Caller caller = caller_of(transport, socket.native_handle());
    auto made = std::make_unique<Connection>(std::move(socket), std::move(tls), std::move(caller),
                                             services_, limits_, registry_);
    // relaxed: a count to choose a loop by
    loop.connection_count()->fetch_add(1, std::memory_order_relaxed);
    const std::shared_ptr<Connection> connection(made.release(), Leaving{loop.connection_count()});
    registry_->add(connection);
    connection->start();
    if (is_stopping_) connection->drain();  // accepted just before: it is answered, too
  }

  // One small write, which a new socket's buffer always takes, without waiting for anybody.
  void say_full(Socket socket, std::size_t connections_max) {
    const Response response =
        error_response({ErrorKind::kBusy, "there are " + std::to_string(connections_max) +
                                              " connections already; try again"});
    const std::string text =
        head_of(response, {.keeps_alive = false}).append(response.parts.front().text());
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(text), ignored);
    socket.shutdown(Socket::shutdown_both, ignored);
  }

  void sweep() {
    begin(is_sweep_lost_, [this] {
      sweep_timer_.expires_after(sweep_period_of(*limits_.get()));
      sweep_timer_.async_wait([this](error_code cancelled) {
        if (cancelled) return;
        close_overdue();
        sweep();
      });
    });
  }

  void close_overdue() noexcept {
    try {
      const auto now = steady_clock::now();
      for (const auto& connection : registry_->all()) connection->close_if_overdue(now);
    } catch (const std::exception& error) {
      log_event(level::err, "handler threw", {{"message", error.what()}});
    }
  }

  void beat() {
    begin(is_beat_lost_, [this] {
      options_.heartbeat();
      heartbeat_timer_.expires_after(options_.heartbeat_period);
      heartbeat_timer_.async_wait([this](error_code cancelled) {
        if (!cancelled) beat();
      });
    });
  }

  Services& services_;
  const ServerOptions options_;
  const std::shared_ptr<ConnectionRegistry> registry_;
  std::atomic<std::size_t> connections_max_;
  Reloadable<ConnectionLimits> limits_;
  Reloadable<TlsContext> tls_;
  std::vector<std::unique_ptr<Loop>> loops_;  // of the connections
  /// Accepts, and has the timers: what these do waits for no request. Gone before the loops, whose
  /// sockets an accept that is still pending holds.
  Loop own_;
  asio::steady_timer sweep_timer_;
  asio::steady_timer heartbeat_timer_;
  std::vector<std::unique_ptr<Accepting>> accepting_;
  std::atomic<bool> is_sweep_lost_{false};  // relaxed: claimed by an exchange
  std::atomic<bool> is_beat_lost_{false};   // relaxed: claimed by an exchange
  std::vector<std::thread> threads_;
  std::mutex accept_mutex_;   // between accepting and stopping
  bool is_stopping_ = false;  // guarded by accept_mutex_, as what is below
  std::size_t accepts_pending_ = 0;
  std::condition_variable accepts_ended_;
};

Result<std::unique_ptr<Server>> Server::start(Services& services, ServerOptions options,
                                              std::vector<Listener> listeners) {
  const auto others = event_loops();
  auto state = std::make_unique<State>(services, std::move(options));
  ICEBLINK_RETURN_IF_ERROR(check_event_loops(others));
  ICEBLINK_RETURN_IF_ERROR(state->start(std::move(listeners)));
  // relaxed: a sign for those who probe; orders nothing
  services.is_ready.store(true, std::memory_order_relaxed);
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;
void Server::change(std::size_t connections_max, const ConnectionLimits& limits,
                    std::shared_ptr<const TlsContext> tls) {
  state_->change(connections_max, limits, std::move(tls));
}
void Server::begin_stop() noexcept {
  state_->begin_stop();
}
bool Server::wait_answered(std::chrono::steady_clock::time_point until) noexcept {
  return state_->wait_answered(until);
}
void Server::hurry() noexcept {
  state_->hurry();
}
std::size_t Server::connection_count() const {
  return state_->connection_count();
}
void Server::stop() noexcept {
  state_->stop();
}

}  // namespace iceblink::daemon::http
