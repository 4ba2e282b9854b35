#include "tests/http/http_client.h"

#include <arpa/inet.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cctype>
#include <cstring>
#include <utility>

namespace iceblink::test {
namespace {

constexpr timeval kWatchdog{20, 0};

int connected(int fd, const void* address, socklen_t bytes) {
  if (fd < 0) return fd;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kWatchdog, sizeof(kWatchdog));
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kWatchdog, sizeof(kWatchdog));
  if (::connect(fd, static_cast<const sockaddr*>(address), bytes) == 0) return fd;
  ::close(fd);
  return -1;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

HttpResponse head_from(std::string_view text) {
  HttpResponse response;
  const auto line_end = text.find("\r\n");
  const auto status_line = text.substr(0, line_end);
  EXPECT_TRUE(status_line.starts_with("HTTP/1.1 ")) << status_line;
  response.status = std::atoi(std::string(status_line.substr(9, 3)).c_str());
  text.remove_prefix(line_end + 2);
  while (!text.empty()) {
    const auto end = text.find("\r\n");
    const auto line = text.substr(0, end);
    const auto colon = line.find(": ");
    EXPECT_NE(colon, std::string_view::npos) << line;
    if (colon != std::string_view::npos) {
      response.headers[lower(std::string(line.substr(0, colon)))] = line.substr(colon + 2);
    }
    text.remove_prefix(end + 2);
  }
  return response;
}

}  // namespace

std::string HttpResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

boost::json::value HttpResponse::json() const {
  boost::json::error_code error;
  auto value = boost::json::parse(body, error);
  EXPECT_FALSE(error) << "not JSON: " << body;
  return value;
}

std::string HttpResponse::error_type() const {
  EXPECT_EQ(header("content-type"), "application/json");
  const auto value = json();
  if (!value.is_object() || !value.get_object().contains("error")) return "(no error)";
  const auto& error = value.at("error").as_object();
  EXPECT_EQ(error.at("code").as_int64(), status);
  return std::string(error.at("type").as_string());
}

std::string HttpResponse::error_message() const {
  const auto value = json();
  if (!value.is_object() || !value.get_object().contains("error")) return "(no error)";
  return std::string(value.at("error").at("message").as_string());
}

HttpClient HttpClient::to_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  EXPECT_LT(path.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  return HttpClient(
      connected(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &address, sizeof(address)));
}

HttpClient HttpClient::to_loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return HttpClient(
      connected(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), &address, sizeof(address)));
}

HttpClient HttpClient::to_unix_as(const std::string& path, const Identity& who) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kWatchdog, sizeof(kWatchdog));
  const std::vector<gid_t> groups(who.groups.begin(), who.groups.end());
  // The peer is who connects, whoever has the socket afterwards.
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_other = ::setgroups(groups.size(), groups.data()) == 0 &&
                          ::setgid(who.gid) == 0 && ::setuid(who.uid) == 0;
    const auto* const to = reinterpret_cast<const sockaddr*>(&address);
    ::_exit(is_other && ::connect(fd, to, sizeof(address)) == 0 ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (status == 0) return HttpClient(fd);
  ::close(fd);
  return HttpClient(-1);
}

HttpClient HttpClient::to_loopback_tls(std::uint16_t port, const std::string& ca_pem,
                                       const TlsOptions& options) {
  HttpClient client = to_loopback(port);
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(::SSL_CTX_new(::TLS_client_method()),
                                                             ::SSL_CTX_free);
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(
      ::BIO_new_mem_buf(ca_pem.data(), static_cast<int>(ca_pem.size())), ::BIO_free);
  const std::unique_ptr<X509, void (*)(X509*)> ca(
      ::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), ::X509_free);
  EXPECT_EQ(::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context.get()), ca.get()), 1);
  ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (options.version_max != 0) {
    ::SSL_CTX_set_cipher_list(context.get(), "DEFAULT@SECLEVEL=0");  // else it refuses by itself
    ::SSL_CTX_set_max_proto_version(context.get(), options.version_max);
  }
  client.tls_ = std::shared_ptr<SSL>(::SSL_new(context.get()), ::SSL_free);
  ::SSL_set_fd(client.tls_.get(), client.fd_);
  if (::SSL_connect(client.tls_.get()) != 1) client.close();
  return client;
}

std::string HttpClient::certificate_name() const {
  const std::unique_ptr<X509, void (*)(X509*)> peer(::SSL_get1_peer_certificate(tls_.get()),
                                                    ::X509_free);
  char name[256] = {};
  ::X509_NAME_get_text_by_NID(::X509_get_subject_name(peer.get()), NID_commonName, name,
                              sizeof(name));
  return name;
}

std::string HttpClient::tls_version() const {
  return ::SSL_get_version(tls_.get());
}

HttpClient::HttpClient(HttpClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      tls_(std::move(other.tls_)),
      buffer_(std::move(other.buffer_)) {}

HttpClient::~HttpClient() {
  close();
}

void HttpClient::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::string HttpClient::text_of(const HttpRequest& request) {
  std::string text = request.verb + " " + request.target + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& header : request.headers) text += header + "\r\n";
  if (!request.body.empty() || request.verb == "POST") {
    text +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(request.body.size()) +
        "\r\n";
  }
  return text + "\r\n" + request.body;
}

HttpResponse HttpClient::request(const HttpRequest& request) {
  send(text_of(request));
  auto response = receive(request.verb);
  EXPECT_TRUE(response.has_value()) << "no answer to " << request.verb << " " << request.target;
  return response.value_or(HttpResponse{});
}

bool HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = tls_ ? ::SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                           : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void HttpClient::end_sending() {
  ::shutdown(fd_, SHUT_WR);
}

bool HttpClient::receive_more() {
  char chunk[65536];
  const auto got =
      tls_ ? ::SSL_read(tls_.get(), chunk, sizeof(chunk)) : ::recv(fd_, chunk, sizeof(chunk), 0);
  if (got <= 0) return false;
  buffer_.append(chunk, static_cast<std::size_t>(got));
  return true;
}

std::size_t HttpClient::receive_head() {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!receive_more()) break;
  }
  return end;
}

int HttpClient::next_status() {
  const std::size_t head_end = receive_head();
  if (head_end == std::string::npos) return 0;
  return head_from(std::string_view(buffer_).substr(0, head_end + 2)).status;
}

std::optional<HttpResponse> HttpClient::receive(std::string_view verb) {
  const std::size_t head_end = receive_head();
  if (head_end == std::string::npos) return std::nullopt;
  HttpResponse response = head_from(std::string_view(buffer_).substr(0, head_end + 2));
  buffer_.erase(0, head_end + 4);
  if (response.status == 100) return receive(verb);
  const bool has_body = verb != "HEAD" && response.has_header("content-length");
  if (response.status == 204 || response.status == 304) {
    EXPECT_FALSE(response.has_header("content-length"));
  }
  const std::size_t bytes = has_body ? std::stoul(response.header("content-length")) : 0;
  while (buffer_.size() < bytes) {
    if (!receive_more()) return std::nullopt;
  }
  response.body = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  return response;
}

bool HttpClient::receive_continue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  while (buffer_.size() < kContinue.size()) {
    if (!receive_more()) return false;
  }
  if (!buffer_.starts_with(kContinue)) return false;
  buffer_.erase(0, kContinue.size());
  return true;
}

bool HttpClient::sees_end() {
  if (!buffer_.empty()) return false;
  char byte = 0;
  if (tls_) {  // said so, and not cut off
    return ::SSL_get_error(tls_.get(), ::SSL_read(tls_.get(), &byte, 1)) == SSL_ERROR_ZERO_RETURN;
  }
  const auto got = ::recv(fd_, &byte, 1, 0);
  return got == 0 || (got < 0 && errno == ECONNRESET);
}

}  // namespace iceblink::test
