#include "bench/http_connection.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "bench/measurement.h"

namespace iceblink::bench {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

std::string head_of(std::string_view verb, std::string_view target) {
  return std::string(verb) + " " + std::string(target) + " HTTP/1.1\r\nHost: bench\r\n";
}

std::size_t body_bytes(std::string_view header) {
  constexpr std::string_view kName = "Content-Length: ";
  const auto at = header.find(kName);
  return at == std::string_view::npos
             ? 0
             : std::stoul(std::string(header.substr(at + kName.size(), 20)));
}

}  // namespace

HttpConnection::HttpConnection(const std::string& socket_path)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  require(socket_path.size() < sizeof(address.sun_path), "the socket's path is too long");
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  require(
      fd_ >= 0 && ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0,
      "cannot connect to the server");
}

HttpConnection::~HttpConnection() {
  ::close(fd_);
}

std::string_view HttpConnection::request(std::string_view request, std::string_view expected) {
  require(::send(fd_, request.data(), request.size(), MSG_NOSIGNAL) ==
              static_cast<ssize_t>(request.size()),
          "cannot send");
  const bool has_body = !request.starts_with("HEAD");
  std::size_t size = 0;
  std::size_t wanted = 0;  // known when the header is complete
  while (wanted == 0 || size < wanted) {
    if (answer_.size() < std::max(wanted, size + kReadBytes)) answer_.resize(size + kReadBytes);
    const ssize_t got = ::recv(fd_, answer_.data() + size, answer_.size() - size, 0);
    if (got <= 0) fail("the server hung up after: " + answer_.substr(0, size));
    size += static_cast<std::size_t>(got);
    const std::string_view text(answer_.data(), size);
    const auto end = wanted == 0 ? text.find("\r\n\r\n") : std::string_view::npos;
    if (end != std::string_view::npos) {
      wanted = end + 4 + (has_body ? body_bytes(text.substr(0, end + 2)) : 0);
    }
  }
  const std::string_view answer(answer_.data(), size);
  if (!answer.starts_with(expected)) fail("unexpected: " + std::string(answer.substr(0, 2000)));
  return answer;
}

std::string HttpConnection::get(std::string_view target, std::string_view more_fields) {
  return head_of("GET", target) + std::string(more_fields) + "\r\n";
}

std::string HttpConnection::head(std::string_view target) {
  return head_of("HEAD", target) + "\r\n";
}

std::string HttpConnection::post(std::string_view target, std::string_view body) {
  return head_of("POST", target) +
         "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

}  // namespace iceblink::bench
