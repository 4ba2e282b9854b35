// One HTTP/1.1 connection of the program's own, for bodies that are not to be held in memory and
// for other servers than the daemon: over a Unix socket, TCP, or TLS.
//
// Thread safety: one thread, but for stop().
#pragma once

#include <iceblink/result.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iceblink::cli {

struct HttpRequest {
  std::string method = "GET";
  std::string target;
  std::string host = "localhost";
  /// Sent as it is, and shown in no message; empty: none.
  std::string authorization = {};
};

struct HttpHead {
  unsigned status = 0;
  std::vector<std::pair<std::string, std::string>> fields = {};

  /// The first of that name, without regard to case.
  [[nodiscard]] std::optional<std::string> field(std::string_view name) const;
};

struct HttpTimeouts {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds head{60'000};  // from the request's end to the answer's head
  std::chrono::milliseconds part{30'000};  // between two parts of a body
};

/// Whom to trust of those who speak TLS.
class TlsTrust {
 public:
  /// The system's certificates, or those of a file. kInvalidArgument: the file holds none.
  [[nodiscard]] static Result<TlsTrust> of(const std::optional<std::string>& ca_file);
  TlsTrust(TlsTrust&& other) noexcept;
  ~TlsTrust();

 private:
  friend class HttpConnection;
  struct Context;
  explicit TlsTrust(std::unique_ptr<Context> context);

  std::unique_ptr<Context> context_;
};

class HttpConnection {
 public:
  /// Is given the parts of a body as they come. An error ends the exchange.
  using Sink = std::function<Status(std::string_view part)>;

  /// kNoDaemon, kTimedOut, kNotAllowed; kInvalidArgument: no path of a socket.
  [[nodiscard]] static Result<std::unique_ptr<HttpConnection>> open_unix(const std::string& path,
                                                                         HttpTimeouts timeouts);
  /// With `trust`: TLS, and the certificate must be `host`'s. `trust` outlives the connection.
  /// kIo: no such host, or refused; kNotAllowed: no TLS, or not trusted; kTimedOut.
  [[nodiscard]] static Result<std::unique_ptr<HttpConnection>> open_tcp(const std::string& host,
                                                                        const std::string& port,
                                                                        TlsTrust* trust,
                                                                        HttpTimeouts timeouts);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Sends, and reads the answer's head, then its body into what `choose` returns for that head.
  /// kIo: the connection broke, or what came is not HTTP; kTimedOut; the sink's own.
  [[nodiscard]] Result<HttpHead> exchange(const HttpRequest& request,
                                          const std::function<Sink(const HttpHead&)>& choose);
  /// From any thread: the exchange that is under way, or the next one, fails with kIo.
  void stop() noexcept;
  /// Whether another request may be sent.
  [[nodiscard]] bool may_go_on() const noexcept;

 private:
  class State;
  explicit HttpConnection(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// A sink into memory: kTooLarge where it is more than `bytes_max`, naming `what`.
[[nodiscard]] HttpConnection::Sink into(std::string& text, std::size_t bytes_max, std::string what);

}  // namespace iceblink::cli
