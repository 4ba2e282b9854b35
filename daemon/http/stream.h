// The bytes of a connection: a socket's, or those that TLS makes of them.
//
// Thread safety: on the thread of the socket's event loop alone, which handlers run on too.
//
// Invariants:
//  - Unix and TCP sockets are one type here, with and without TLS, so that the code above is
//    compiled once.
//  - One read and one write at a time.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace iceblink::daemon::http {

/// Of an event loop that one thread runs, and no other.
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;

class TlsContext;

class Stream {
 public:
  using OnDone = std::function<void(const boost::system::error_code&)>;
  using OnBytes = std::function<void(const boost::system::error_code&, std::size_t)>;

  /// `tls`: nullptr for none.
  Stream(Socket socket, std::shared_ptr<const TlsContext> tls);
  ~Stream();

  [[nodiscard]] Executor executor() { return socket_.get_executor(); }
  [[nodiscard]] bool has_tls() const noexcept { return tls_ != nullptr; }

  /// Before anything is read or written. Without TLS it is done at once.
  void async_handshake(OnDone done);
  void async_read_some(const boost::asio::mutable_buffer& room, OnBytes done);
  /// All of it. What `bytes` point to must live until then.
  void async_write(const std::vector<boost::asio::const_buffer>& bytes, OnDone done);
  /// Tells the peer that nothing more is sent; `done` once it can be closed or read to the end.
  void async_end_sending(OnDone done);
  /// Reads what nobody will look at, past TLS.
  void async_discard_some(const boost::asio::mutable_buffer& room, OnBytes done);

  /// Whether the peer has sent what was not read yet.
  [[nodiscard]] bool has_unread() const noexcept;

  /// Ends what is under way with an error; the stream goes on.
  void cancel() noexcept;
  void close() noexcept;

 private:
  struct Tls;

  Socket socket_;
  std::unique_ptr<Tls> tls_;  // uses the socket
};

}  // namespace iceblink::daemon::http
