#include "daemon/http/stream.h"

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "daemon/http/tls_context.h"

namespace iceblink::daemon::http {

namespace asio = boost::asio;
using boost::system::error_code;

struct Stream::Tls {
  // A stream takes its context by a reference that it could change; it does not, and copies what it
  // needs. The context stays for as long as its streams.
  Tls(Socket& socket, std::shared_ptr<const TlsContext> from)
      : context(std::move(from)), stream(socket, context->for_stream()) {}
  std::shared_ptr<const TlsContext> context;
  asio::ssl::stream<Socket&> stream;
};

Stream::Stream(Socket socket, std::shared_ptr<const TlsContext> tls)
    : socket_(std::move(socket)),
      tls_(tls ? std::make_unique<Tls>(socket_, std::move(tls)) : nullptr) {}

Stream::~Stream() = default;

void Stream::async_handshake(OnDone done) {
  if (!tls_) return done({});
  tls_->stream.async_handshake(asio::ssl::stream_base::server, std::move(done));
}

void Stream::async_read_some(const asio::mutable_buffer& room, OnBytes done) {
  if (tls_) return tls_->stream.async_read_some(room, std::move(done));
  socket_.async_read_some(room, std::move(done));
}

void Stream::async_write(const std::vector<asio::const_buffer>& bytes, OnDone done) {
  auto then = [done = std::move(done)](const error_code& error, std::size_t) { done(error); };
  // A small head and body become one record: the TLS stream joins them.
  if (tls_) return asio::async_write(tls_->stream, bytes, std::move(then));
  asio::async_write(socket_, bytes, std::move(then));
}

void Stream::async_end_sending(OnDone done) {
  if (!tls_) {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    return done({});
  }
  // Ends when the peer has said the same, or anything else.
  tls_->stream.async_shutdown(std::move(done));
}

void Stream::async_discard_some(const asio::mutable_buffer& room, OnBytes done) {
  socket_.async_read_some(room, std::move(done));
}

bool Stream::has_unread() const noexcept {
  error_code error;
  return socket_.available(error) > 0 && !error;
}

void Stream::cancel() noexcept {
  error_code ignored;
  socket_.cancel(ignored);
}

void Stream::close() noexcept {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace iceblink::daemon::http
