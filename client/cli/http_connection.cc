#include "client/cli/http_connection.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <limits>

namespace iceblink::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Stream = beast::basic_stream<asio::generic::stream_protocol, asio::io_context::executor_type>;
using TlsStream = asio::ssl::stream<Stream&>;

constexpr std::size_t kPartBytes = std::size_t{256} << 10;
constexpr std::uint32_t kHeadBytesMax = std::uint32_t{64} << 10;

Error error_of(const error_code& code, const std::string& what) {
  if (code == beast::error::timeout) return {ErrorKind::kTimedOut, what + ": no answer in time"};
  const bool is_denied = code == boost::system::errc::permission_denied;
  return {is_denied ? ErrorKind::kNotAllowed : ErrorKind::kIo, what + ": " + code.message()};
}

/// A path that is too long for an address, by way of its directory's descriptor.
class SocketPath {
 public:
  explicit SocketPath(const std::string& path) : path_(path) {
    const auto slash = path.rfind('/');
    if (path.size() < sizeof(sockaddr_un::sun_path) || slash == std::string::npos) return;
    directory_ = ::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory_ < 0) return;
    path_ = "/proc/self/fd/" + std::to_string(directory_) + path.substr(slash);
  }
  ~SocketPath() {
    if (directory_ >= 0) ::close(directory_);
  }
  SocketPath(const SocketPath&) = delete;
  SocketPath& operator=(const SocketPath&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  int directory_ = -1;
};

}  // namespace

std::optional<std::string> HttpHead::field(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (beast::iequals({key.data(), key.size()}, {name.data(), name.size()})) return value;
  }
  return std::nullopt;
}

struct TlsTrust::Context {
  asio::ssl::context ssl{asio::ssl::context::tls_client};
};

TlsTrust::TlsTrust(std::unique_ptr<Context> context) : context_(std::move(context)) {}
TlsTrust::TlsTrust(TlsTrust&& other) noexcept = default;
TlsTrust::~TlsTrust() = default;

Result<TlsTrust> TlsTrust::of(const std::optional<std::string>& ca_file) {
  auto context = std::make_unique<Context>();
  error_code failed;
  if (ca_file) {
    context->ssl.load_verify_file(*ca_file, failed);
    if (failed) {
      return {ErrorKind::kInvalidArgument,
              *ca_file + ": no certificates can be read from it: " + failed.message()};
    }
  } else {
    context->ssl.set_default_verify_paths(failed);
    if (failed) return {ErrorKind::kIo, "the system's certificates: " + failed.message()};
  }
  context->ssl.set_verify_mode(asio::ssl::verify_peer);
  ::SSL_CTX_set_min_proto_version(context->ssl.native_handle(), TLS1_2_VERSION);
  return TlsTrust(std::move(context));
}

class HttpConnection::State {
 public:
  State(std::string what, HttpTimeouts timeouts)
      : what_(std::move(what)), timeouts_(timeouts), stream_(io_.get_executor()) {}

  Status connect(const asio::generic::stream_protocol::endpoint& endpoint) {
    const auto code = run(timeouts_.connect,
                          [&](auto done) { stream_.async_connect(endpoint, std::move(done)); });
    return code ? Status(error_of(code, what_)) : Status(Ok{});
  }

  Status connect(const std::string& host, const std::string& port) {
    asio::ip::tcp::resolver resolver(io_);
    error_code code;
    const auto found = resolver.resolve(host, port, code);
    if (code) return error_of(code, what_);
    Status status(ErrorKind::kIo, what_ + ": has no address");
    for (const auto& entry : found) {
      stream_.close();
      status = connect(asio::generic::stream_protocol::endpoint(entry.endpoint()));
      if (status) break;
    }
    return status;
  }

  Status secure(const std::string& host, asio::ssl::context& context) {
    tls_.emplace(stream_, context);
    // The macro of OpenSSL for this has a cast of C.
    ::SSL_ctrl(tls_->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               const_cast<char*>(host.c_str()));
    tls_->set_verify_callback(asio::ssl::host_name_verification(host));
    const auto code = run(timeouts_.connect, [&](auto done) {
      tls_->async_handshake(asio::ssl::stream_base::client, std::move(done));
    });
    if (!code) return Ok{};
    const Error error = error_of(code, what_ + ": TLS");
    // A certificate does not become another one by asking again.
    const bool timed_out = error.kind() == ErrorKind::kTimedOut;
    return {timed_out ? error.kind() : ErrorKind::kNotAllowed, error.message()};
  }

  Result<HttpHead> exchange(const HttpRequest& request,
                            const std::function<Sink(const HttpHead&)>& choose) {
    return tls_ ? exchange_on(*tls_, request, choose) : exchange_on(stream_, request, choose);
  }

  bool may_go_on() const noexcept { return may_go_on_; }
  // By a handler, so that it meets an operation that has begun, whenever that is.
  void stop() {
    asio::post(io_, [this] { stream_.cancel(); });
  }

 private:
  /// Runs one asynchronous operation to its end, or to the deadline.
  template <typename Start>
  error_code run(std::chrono::milliseconds timeout, Start start) {
    error_code result = asio::error::would_block;
    stream_.expires_after(timeout);
    start([&result](error_code code, auto&&...) { result = code; });
    io_.restart();
    io_.run();
    return result;
  }

  template <typename AnyStream>
  Result<HttpHead> exchange_on(AnyStream& stream, const HttpRequest& request,
                               const std::function<Sink(const HttpHead&)>& choose) {
    may_go_on_ = false;
    const std::string what = what_ + ": " + request.method + " " + request.target;
    http::request<http::empty_body> message{http::string_to_verb(request.method), request.target,
                                            11};
    message.set(http::field::host, request.host);
    message.set(http::field::user_agent, "iceblink/" ICEBLINK_VERSION);
    message.set(http::field::accept, "*/*");
    if (!request.authorization.empty()) {
      message.set(http::field::authorization, request.authorization);
    }
    if (request.method == "POST") message.content_length(0);
    auto code = run(timeouts_.head,
                    [&](auto done) { http::async_write(stream, message, std::move(done)); });
    if (code) return error_of(code, what);
    beast::flat_buffer buffer(kPartBytes + kHeadBytesMax);
    http::response_parser<http::buffer_body> parser;
    parser.header_limit(kHeadBytesMax);
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());  // the sink's to judge
    code = run(timeouts_.head, [&](auto done) {
      http::async_read_header(stream, buffer, parser, std::move(done));
    });
    if (code) return error_of(code, what);
    HttpHead head;
    head.status = parser.get().result_int();
    for (const auto& field : parser.get()) {
      head.fields.emplace_back(field.name_string(), field.value());
    }
    ICEBLINK_RETURN_IF_ERROR(read_body(stream, buffer, parser, what, choose(head)));
    may_go_on_ = parser.get().keep_alive();
    return head;
  }

  template <typename AnyStream>
  Status read_body(AnyStream& stream, beast::flat_buffer& buffer,
                   http::response_parser<http::buffer_body>& parser, const std::string& what,
                   const Sink& sink) {
    std::vector<char> part(kPartBytes);
    while (!parser.is_done()) {
      auto& body = parser.get().body();
      body.data = part.data();
      body.size = part.size();
      auto code = run(timeouts_.part, [&](auto done) {
        http::async_read_some(stream, buffer, parser, std::move(done));
      });
      if (code && code != http::error::need_buffer) return error_of(code, what);
      const std::size_t count = part.size() - body.size;
      if (count > 0) ICEBLINK_RETURN_IF_ERROR(sink(std::string_view(part.data(), count)));
    }
    return Ok{};
  }

  const std::string what_;
  const HttpTimeouts timeouts_;
  asio::io_context io_{1};
  Stream stream_;
  std::optional<TlsStream> tls_;  // over stream_
  bool may_go_on_ = true;
};

HttpConnection::HttpConnection(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpConnection::~HttpConnection() = default;

Result<std::unique_ptr<HttpConnection>> HttpConnection::open_unix(const std::string& path,
                                                                  HttpTimeouts timeouts) {
  auto state = std::make_unique<State>(path, timeouts);
  const SocketPath socket(path);
  if (socket.path().size() >= sizeof(sockaddr_un::sun_path)) {
    return {ErrorKind::kInvalidArgument, path + ": too long for the name of a socket"};
  }
  const asio::local::stream_protocol::endpoint endpoint(socket.path());
  if (const Status status = state->connect(endpoint); !status) {
    const ErrorKind kind = status.error().kind();
    const bool is_kept = kind == ErrorKind::kTimedOut || kind == ErrorKind::kNotAllowed;
    return {is_kept ? kind : ErrorKind::kNoDaemon, status.error().message()};
  }
  return std::unique_ptr<HttpConnection>(new HttpConnection(std::move(state)));
}

Result<std::unique_ptr<HttpConnection>> HttpConnection::open_tcp(const std::string& host,
                                                                 const std::string& port,
                                                                 TlsTrust* trust,
                                                                 HttpTimeouts timeouts) {
  auto state = std::make_unique<State>(host + ":" + port, timeouts);
  ICEBLINK_RETURN_IF_ERROR(state->connect(host, port));
  if (trust != nullptr) ICEBLINK_RETURN_IF_ERROR(state->secure(host, trust->context_->ssl));
  return std::unique_ptr<HttpConnection>(new HttpConnection(std::move(state)));
}

Result<HttpHead> HttpConnection::exchange(const HttpRequest& request,
                                          const std::function<Sink(const HttpHead&)>& choose) {
  return state_->exchange(request, choose);
}

bool HttpConnection::may_go_on() const noexcept {
  return state_->may_go_on();
}

void HttpConnection::stop() noexcept {
  try {
    state_->stop();
  } catch (const std::exception&) {
    // No memory for it: the timeout ends the exchange.
  }
}

HttpConnection::Sink into(std::string& text, std::size_t bytes_max, std::string what) {
  text.clear();
  return [&text, bytes_max, what = std::move(what)](std::string_view part) -> Status {
    if (text.size() + part.size() > bytes_max) {
      return {ErrorKind::kTooLarge,
              what + ": the answer is larger than " + std::to_string(bytes_max) + " bytes"};
    }
    text += part;
    return Ok{};
  };
}

}  // namespace iceblink::cli
