#include "daemon/http/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "daemon/environment_number.h"

namespace iceblink::daemon::http {
namespace {

constexpr int kBacklog = 512;
constexpr int kFirstInheritedFd = 3;

Error system_error(const std::string& what) {
  const int code = errno;
  return {code == EACCES || code == EPERM ? ErrorKind::kNotAllowed : ErrorKind::kIo,
          what + ": " + std::system_category().message(code)};
}

template <typename Address>
const sockaddr* as_sockaddr(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);  // the sockets API is made of this cast
}

Status remove_stale_socket(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return Ok{};
    return system_error(path);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return {ErrorKind::kAlreadyExists, path + " is in the way: it is not a socket"};
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_error(path);
  return Ok{};
}

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};

Result<HostPort> parse_host_port(const std::string& text) {
  const auto colon = text.rfind(':');
  HostPort out;
  if (colon != std::string::npos) {
    out.host = text.substr(0, colon);
    const char* const end_of_text = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + colon + 1, end_of_text, out.port);
    if (error == std::errc{} && end == end_of_text && !out.host.empty()) {
      if (out.host.front() == '[' && out.host.back() == ']') {
        out.host = out.host.substr(1, out.host.size() - 2);
      }
      return out;
    }
  }
  return {ErrorKind::kInvalidArgument, "listen address '" + text + "' is not HOST:PORT"};
}

/// An address of either family, for bind().
struct TcpAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  TcpReach reach = TcpReach::kBeyondLoopback;
};

Result<TcpAddress> tcp_address_of(const HostPort& wanted, const std::string& text) {
  const std::string host = wanted.host == "localhost" ? "127.0.0.1" : wanted.host;
  TcpAddress out;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  bool is_loopback = false;
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(wanted.port);
    is_loopback = (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
    std::memcpy(&out.storage, &v4, sizeof(v4));
    out.size = sizeof(v4);
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(wanted.port);
    is_loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
    std::memcpy(&out.storage, &v6, sizeof(v6));
    out.size = sizeof(v6);
  }
  if (out.size == 0) {
    return {ErrorKind::kInvalidArgument,
            "listen address '" + text +
                "' has no numeric address: give a loopback one (127.0.0.1, [::1], localhost) or "
                "one of this host"};
  }
  if (is_loopback) out.reach = TcpReach::kLoopback;
  return out;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  std::memcpy(&v4, &bound, sizeof(v4));
  std::memcpy(&v6, &bound, sizeof(v6));
  return ntohs(bound.ss_family == AF_INET ? v4.sin_port : v6.sin6_port);
}

bool is_listening_unix_stream(int fd) {
  const auto option = [fd](int name) {
    int value = -1;
    socklen_t size = sizeof(value);
    return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
  };
  return option(SO_DOMAIN) == AF_UNIX && option(SO_TYPE) == SOCK_STREAM &&
         option(SO_ACCEPTCONN) == 1;
}

}  // namespace

Listener& Listener::operator=(Listener&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(transport_, other.transport_);
  std::swap(owned_path_, other.owned_path_);
  std::swap(port_, other.port_);
  std::swap(host_, other.host_);
  return *this;
}

std::string Listener::tcp_address() const {
  return host_ + ":" + std::to_string(port_);
}

Listener::~Listener() {
  if (fd_ >= 0) ::close(fd_);
  if (!owned_path_.empty()) ::unlink(owned_path_.c_str());
}

Status check_socket_path(const std::string& path) {
  constexpr std::size_t kBytesMax = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() <= kBytesMax) return Ok{};
  return {ErrorKind::kInvalidArgument,
          "socket path '" + path + "' has " + std::to_string(path.size()) +
              " bytes, a socket's name has at most " + std::to_string(kBytesMax)};
}

Result<Listener> Listener::open_unix(const std::string& path) {
  ICEBLINK_RETURN_IF_ERROR(check_socket_path(path));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  ICEBLINK_RETURN_IF_ERROR(remove_stale_socket(path));
  Listener listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), Transport::kUnix);
  if (listener.fd_ < 0) return system_error("socket for " + path);
  if (::bind(listener.fd_, as_sockaddr(address), sizeof(address)) != 0) return system_error(path);
  listener.owned_path_ = path;
  // Nobody can connect before listen(), so nobody sees the mode that umask gave.
  if (::chmod(path.c_str(), 0660) != 0) return system_error(path);
  if (::listen(listener.fd_, kBacklog) != 0) return system_error(path);
  return listener;
}

Result<Listener> Listener::open_tcp(const std::string& host_and_port, TcpReach most) {
  ICEBLINK_ASSIGN_OR_RETURN(const HostPort wanted, parse_host_port(host_and_port));
  ICEBLINK_ASSIGN_OR_RETURN(const TcpAddress address, tcp_address_of(wanted, host_and_port));
  if (address.reach > most) {
    return {ErrorKind::kInvalidArgument,
            "listen address '" + host_and_port + "' is refused: it is not a loopback address"};
  }
  Listener listener(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0),
                    Transport::kTcp);
  const std::string what = "listen address '" + host_and_port + "'";
  if (listener.fd_ < 0) return system_error(what);
  const int on = 1;
  if (::setsockopt(listener.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::bind(listener.fd_, as_sockaddr(address.storage), address.size) != 0 ||
      ::listen(listener.fd_, kBacklog) != 0) {
    return system_error(what);
  }
  listener.port_ = bound_port(listener.fd_);
  listener.host_ = host_and_port.substr(0, host_and_port.rfind(':'));
  return listener;
}

Result<TcpReach> tcp_reach_of(const std::string& host_and_port) {
  ICEBLINK_ASSIGN_OR_RETURN(const HostPort wanted, parse_host_port(host_and_port));
  ICEBLINK_ASSIGN_OR_RETURN(const TcpAddress address, tcp_address_of(wanted, host_and_port));
  return address.reach;
}

Result<std::vector<Listener>> Listener::inherited() {
  std::vector<Listener> listeners;
  const auto pid = number_in_environment("LISTEN_PID");
  if (!pid || *pid != static_cast<std::uint64_t>(::getpid())) return listeners;
  const std::uint64_t count = number_in_environment("LISTEN_FDS").value_or(0);
  int fd = kFirstInheritedFd;
  for (std::uint64_t i = 0; i < count; ++i, ++fd) {
    if (!is_listening_unix_stream(fd)) {
      return {ErrorKind::kInvalidArgument, "inherited descriptor " + std::to_string(fd) +
                                               " is not a listening Unix stream socket"};
    }
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    listeners.push_back(Listener(fd, Transport::kUnix));
  }
  return listeners;
}

}  // namespace iceblink::daemon::http
