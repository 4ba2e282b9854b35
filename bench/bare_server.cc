// C12's other side: an HTTP server of Beast's, as its own examples have it, that answers 204 to
// everything, on one thread.
//
//   bare_server --socket PATH        prints "ready", ends with its standard input
#include <poll.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <memory>

#include "bench/measurement.h"

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Protocol = asio::local::stream_protocol;
using boost::system::error_code;

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(Protocol::socket socket) : socket_(std::move(socket)) {}
  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!error) self->write();
                     });
  }

 private:
  void write() {
    response_ = {http::status::no_content, request_.version()};
    response_.set(http::field::server, "bare");
    response_.keep_alive(request_.keep_alive());
    http::async_write(socket_, response_,
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  Protocol::socket socket_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::empty_body> response_;
};

void accept(Protocol::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](error_code error, Protocol::socket socket) {
    if (!error) std::make_shared<Session>(std::move(socket))->read();
    accept(acceptor);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = iceblink::bench::argument(argc, argv, "--socket", "bare.sock");
  ::unlink(path.c_str());
  asio::io_context context(1);
  Protocol::acceptor acceptor(context, Protocol::endpoint(path));
  accept(acceptor);
  asio::posix::stream_descriptor input(context, ::dup(STDIN_FILENO));
  input.async_wait(asio::posix::stream_descriptor::wait_read, [&](error_code) { context.stop(); });
  std::puts("ready");
  std::fflush(stdout);
  context.run();
  ::unlink(path.c_str());
  return 0;
}
