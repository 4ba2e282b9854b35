// A small blocking HTTP/1.1 client, strict about what it reads: tests must not forgive a server
// what a real client would not.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct ssl_st;  // OpenSSL's SSL

namespace iceblink::test {

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  [[nodiscard]] std::string header(const std::string& name) const;
  [[nodiscard]] bool has_header(const std::string& name) const { return headers.contains(name); }
  /// The body; fails the test and gives null when it is not JSON.
  [[nodiscard]] boost::json::value json() const;
  /// `error.type`, after checking that `error.code` is the status and the content type JSON.
  [[nodiscard]] std::string error_type() const;
  [[nodiscard]] std::string error_message() const;
};

struct HttpRequest {
  std::string verb = "GET";
  std::string target = {};
  std::string body = {};
  std::vector<std::string> headers = {};  // whole lines, without CRLF
};

struct Identity {
  unsigned uid = 65534;
  unsigned gid = 65534;
  std::vector<unsigned> groups = {};
};

struct TlsOptions {
  int version_max = 0;  // TLS1_1_VERSION and so on; 0: any
};

/// One connection. Every wait ends after a watchdog's time; then calls give std::nullopt.
class HttpClient {
 public:
  static HttpClient to_unix(const std::string& path);
  static HttpClient to_loopback(std::uint16_t port);
  /// As to_unix, by a process of another user that has nothing else of ours. Root only.
  static HttpClient to_unix_as(const std::string& path, const Identity& who);
  /// TLS that trusts `ca_pem` alone. Not connected when the handshake fails.
  static HttpClient to_loopback_tls(std::uint16_t port, const std::string& ca_pem,
                                    const TlsOptions& options = {});
  HttpClient(HttpClient&& other) noexcept;
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient();

  /// Fails the test when no answer comes.
  HttpResponse request(const HttpRequest& request);
  HttpResponse get(const std::string& target) { return request({.target = target}); }
  HttpResponse head(const std::string& target) {
    return request({.verb = "HEAD", .target = target});
  }
  HttpResponse post(const std::string& target, const std::string& body) {
    return request({.verb = "POST", .target = target, .body = body});
  }
  HttpResponse del(const std::string& target) {
    return request({.verb = "DELETE", .target = target});
  }

  [[nodiscard]] bool is_connected() const noexcept { return fd_ >= 0; }
  /// Of the peer, in TLS.
  [[nodiscard]] std::string certificate_name() const;
  [[nodiscard]] std::string tls_version() const;
  /// False when the peer has gone.
  bool send(std::string_view bytes);
  /// Sends no more, and still receives.
  void end_sending();
  /// `verb`: of the request this answers, since HEAD has no body.
  std::optional<HttpResponse> receive(std::string_view verb = "GET");
  /// Of the answer that comes next, once its head is there, which stays to be received; 0: none.
  int next_status();
  /// True when a "100 Continue" comes next.
  bool receive_continue();
  /// True when the peer has closed, and nothing more was to be read.
  bool sees_end();
  void close();

  [[nodiscard]] static std::string text_of(const HttpRequest& request);

 private:
  explicit HttpClient(int fd) : fd_(fd) {}
  bool receive_more();
  /// Where the head in `buffer_` ends, or npos when none comes.
  std::size_t receive_head();

  int fd_ = -1;
  std::shared_ptr<ssl_st> tls_;
  std::string buffer_;
};

}  // namespace iceblink::test
