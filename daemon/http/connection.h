// One connection: reads a request, has it handled, writes the answer, and again.
//
// Thread safety: post, send, drain and close_if_overdue may be called from any thread; all else
// happens on the connection's strand.
//
// Invariants:
//  - One request at a time. Requests that came early wait in the buffer, so answers keep the
//    order of their requests.
//  - Every wait for the peer has a deadline; while a request is handled there is none.
//  - Unix and TCP sockets are one type here, so that this code is compiled once.
#pragma once

#include <atomic>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "daemon/http/exchange.h"
#include "daemon/http/listener.h"

namespace iceblink::daemon::http {

struct ConnectionLimits {
  std::uint32_t header_bytes_max = 64 * 1024;
  std::uint64_t body_bytes_max = std::uint64_t{16} << 20;
  std::chrono::milliseconds idle_timeout{60'000};     // between requests
  std::chrono::milliseconds request_timeout{30'000};  // from a request's first byte to its last
  std::chrono::milliseconds write_timeout{30'000};    // of an answer; a large one gets more
};

using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;
using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Strand>;

class Connection;
class RequestReader;
struct RequestRefusal;

/// The connections that are open. Outlives them: each holds it.
class ConnectionRegistry {
 public:
  void add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection) noexcept;
  [[nodiscard]] std::size_t size() const;
  /// Those that are open now.
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> all() const;
  /// Returns when none is left, or at `until`.
  void wait_empty(std::chrono::steady_clock::time_point until);

 private:
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::unordered_map<const Connection*, std::weak_ptr<Connection>> open_;  // guarded by mutex_
};

class Connection : public Peer, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, Caller caller, Services& services, const ConnectionLimits& limits,
             std::shared_ptr<ConnectionRegistry> registry);
  ~Connection() override;

  void start();
  /// Finishes the request in hand, if there is one, and ends.
  void drain();
  void close_if_overdue(std::chrono::steady_clock::time_point now);

  [[nodiscard]] const Caller& caller() const noexcept override { return caller_; }
  void post(std::function<void()> work) override;
  void send(Response response) override;

 private:
  void begin_request();
  void read_some();
  void on_read(const boost::system::error_code& error, std::size_t bytes);
  void on_overdue();
  void on_bytes();
  void on_parsed();
  /// Answers what no handler saw, and ends.
  void refuse(const RequestRefusal& refusal);
  void write_continue();
  void write(Response response);
  /// The file's bytes from `offset` on, a part at a time.
  void write_file(std::uint64_t offset, bool keeps_alive);
  void on_written();
  /// Counts the body of the request in hand; false when there is no room for it.
  [[nodiscard]] bool claim_request_bytes() noexcept;
  void release_bytes() noexcept;
  void discard_rest();
  void close() noexcept;
  void set_deadline(std::chrono::milliseconds from_now) noexcept;
  void clear_deadline() noexcept;

  // Constant after construction.
  const Caller caller_;
  Services& services_;
  const ConnectionLimits& limits_;
  const std::shared_ptr<ConnectionRegistry> registry_;

  // The strand's.
  Socket socket_;
  std::unique_ptr<RequestReader> reader_;
  bool is_reading_ = false;  // a read of the request is under way
  bool is_overdue_ = false;  // and has taken too long
  bool is_draining_ = false;
  bool is_cut_short_ = false;  // the peer may still be sending what was refused
  bool is_head_ = false;       // the request in hand is a HEAD
  bool is_read_ = false;       // the request in hand changes nothing
  bool keeps_alive_ = true;    // after the request in hand
  unsigned http_minor_ = 1;    // of the request in hand
  std::string head_;           // being written
  // Counted in the services' counters.
  std::uint64_t answer_bytes_ = 0;
  std::uint64_t request_bytes_ = 0;
  Response response_;            // being written
  std::vector<char> file_part_;  // of its file
  std::uint64_t discarded_bytes_ = 0;

  // steady_clock nanoseconds; relaxed: whoever finds it passed looks again on the strand.
  std::atomic<std::int64_t> deadline_ns_;
};

}  // namespace iceblink::daemon::http
