// One connection: reads a request, has it handled, writes the answer, and again.
//
// Thread safety: post, send, drain, close_if_overdue and the two about being idle may be called
// from any thread; all else happens on the thread of the connection's loop.
//
// Invariants:
//  - One request at a time. Requests that came early wait in the buffer, so answers keep the
//    order of their requests.
//  - Every wait for the peer has a deadline; while a request is handled there is none.
#pragma once

#include <atomic>
#include <boost/beast/http/message.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/http/exchange.h"
#include "daemon/http/header_rules.h"
#include "daemon/http/listener.h"
#include "daemon/http/stream.h"
#include "daemon/reloadable.h"

namespace iceblink::daemon::http {

struct ConnectionLimits {
  std::uint32_t header_bytes_max = 64 * 1024;
  std::uint64_t body_bytes_max = std::uint64_t{16} << 20;
  std::chrono::milliseconds idle_timeout{60'000};     // between requests
  std::chrono::milliseconds request_timeout{30'000};  // from a request's first byte to its last
  std::chrono::milliseconds write_timeout{30'000};    // of an answer; a large one gets more
};

class ConnectionRegistry;
class RequestReader;

class Connection : public Peer, public std::enable_shared_from_this<Connection> {
 public:
  /// `tls`: nullptr for none. `limits` hold for the requests that begin after they were set.
  Connection(Socket socket, std::shared_ptr<const TlsContext> tls, Caller caller,
             Services& services, const Reloadable<ConnectionLimits>& limits,
             std::shared_ptr<ConnectionRegistry> registry);
  ~Connection() override;

  void start();
  /// Finishes the request in hand, or that is on its way, and ends. One that was never asked
  /// anything waits for its first request.
  void drain();
  /// After drain(): waits for no request any more.
  void end_waiting();
  void close_if_overdue(std::chrono::steady_clock::time_point now);

  static constexpr std::int64_t kNoDeadline = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kNotIdle = std::numeric_limits<std::int64_t>::max();
  /// Since when it has waited for a request; kNotIdle while it has one, of somebody with rights.
  /// What has come of a header is none yet: one byte must not hold a place.
  [[nodiscard]] std::int64_t idle_since_ns() const noexcept {
    return idle_since_ns_.load(std::memory_order_relaxed);  // relaxed: who ends it claims it
  }
  /// Ends it, if it has been idle since `since_ns` and nobody else has claimed that. A request
  /// whose header is whole at the same time is answered first.
  [[nodiscard]] bool end_idle(std::int64_t since_ns);

  [[nodiscard]] const Caller& caller() const noexcept override { return caller_; }
  /// From any thread.
  [[nodiscard]] Transport transport() const noexcept { return transport_; }
  void post(std::function<void()> work) override;
  void send(Response response) override;

 private:
  void on_handshake(const boost::system::error_code& error);
  void begin_request();
  void read_some();
  void on_read(const boost::system::error_code& error, std::size_t bytes);
  void on_overdue();
  void on_bytes();
  void on_parsed();
  /// Sees to what the caller may do, too.
  [[nodiscard]] std::optional<RequestRefusal> judge(
      const boost::beast::http::request_header<>& header);
  /// Answers what no handler saw, and ends.
  void refuse(const RequestRefusal& refusal);
  void write_continue();
  void write(Response response);
  /// The file's bytes from `offset` on, a part at a time, read where nobody waits for the disk.
  void write_file(std::uint64_t offset, bool keeps_alive);
  /// On a file thread; false: not all of it could be read.
  [[nodiscard]] bool read_file_part(std::uint64_t offset) noexcept;
  void write_file_part(std::uint64_t offset, bool keeps_alive);
  void on_written();
  /// Counts the body of the request in hand; false when there is no room for it.
  [[nodiscard]] bool claim_request_bytes() noexcept;
  void release_bytes() noexcept;
  void discard_rest();
  void close() noexcept;
  void set_deadline(std::chrono::milliseconds from_now) noexcept {
    set_deadline(std::chrono::steady_clock::now() + from_now);
  }
  void set_deadline(std::chrono::steady_clock::time_point at) noexcept;
  void clear_deadline() noexcept {
    // relaxed: who finds it passed looks again on the loop
    deadline_ns_.store(kNoDeadline, std::memory_order_relaxed);
  }

  // Constant after construction.
  Services& services_;
  const Reloadable<ConnectionLimits>& next_limits_;
  const std::shared_ptr<ConnectionRegistry> registry_;
  const Transport transport_;

  // The loop's thread's.
  Caller caller_;  // its access: of the request in hand
  std::shared_ptr<const ConnectionLimits> limits_;
  Stream stream_;
  std::unique_ptr<RequestReader> reader_;
  bool is_reading_ = false;  // a read of the request is under way
  bool is_overdue_ = false;  // and has taken too long
  bool is_draining_ = false;
  bool has_had_request_ = false;
  bool is_busy_ = false;       // with a request, as idle_since_ns has it
  bool is_cut_short_ = false;  // the peer may still be sending what was refused
  bool is_head_ = false;       // the request in hand is a HEAD
  bool is_read_ = false;       // the request in hand changes nothing
  bool keeps_alive_ = true;    // after the request in hand
  unsigned http_minor_ = 1;    // of the request in hand
  std::string request_id_;     // of the request in hand
  std::string head_;           // being written
  // Counted in the services' counters.
  std::uint64_t answer_bytes_ = 0;
  std::uint64_t request_bytes_ = 0;
  Response response_;            // being written
  std::vector<char> file_part_;  // of its file; a file thread's while that reads
  std::chrono::steady_clock::time_point file_until_{};  // all of it has been taken
  std::uint64_t discarded_bytes_ = 0;

  // steady_clock nanoseconds; relaxed: whoever finds it passed looks again on the loop.
  std::atomic<std::int64_t> deadline_ns_;
  std::atomic<std::int64_t> idle_since_ns_;  // relaxed: whoever ends it claims it by an exchange
};

}  // namespace iceblink::daemon::http
