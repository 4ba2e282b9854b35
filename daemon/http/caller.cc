#include "daemon/http/caller.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

namespace iceblink::daemon::http {
namespace {

std::string tcp_name_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "unknown";
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof(v4));
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof(v6));
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
}

}  // namespace

Caller caller_of(Transport transport, int fd) {
  Caller caller{.transport = transport, .name = {}};
  if (transport == Transport::kTcp) {
    caller.name = tcp_name_of(fd);
    return caller;
  }
  auto credentials = peer_credentials_of(fd);
  if (!credentials) {
    caller.name = "unknown";
    return caller;
  }
  caller.name =
      "uid=" + std::to_string(credentials->uid) + " pid=" + std::to_string(credentials->pid);
  caller.credentials = std::move(*credentials);
  return caller;
}

}  // namespace iceblink::daemon::http
