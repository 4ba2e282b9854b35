// Sockets that listen: made here, or inherited from the service manager.
//
// Thread safety: values; move only. Destroying one closes it and, if it was made here, removes
// its socket file.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace iceblink::daemon::http {

enum class Transport : std::uint8_t { kUnix, kTcp };

/// Whose packets come to an address: this host's alone, or those of others too.
enum class TcpReach : std::uint8_t { kLoopback, kBeyondLoopback };

class Listener {
 public:
  /// Listens at `path`, mode 0660. What lies there is removed first when it is a socket: the
  /// caller must hold the lock of the directory. kInvalidArgument: the path is too long for a
  /// socket's name; kAlreadyExists: something else lies there; kNotAllowed, kIo.
  [[nodiscard]] static Result<Listener> open_unix(const std::string& path);

  /// "127.0.0.1:8181", "[::1]:8181" or "localhost:8181"; port 0 takes a free one. What tcp_reach_of
  /// refuses; kInvalidArgument: it reaches further than `most`; kNotAllowed, kIo.
  [[nodiscard]] static Result<Listener> open_tcp(const std::string& host_and_port, TcpReach most);

  /// What systemd handed over ($LISTEN_PID, $LISTEN_FDS); empty when nothing. kInvalidArgument:
  /// one of them is not a listening Unix stream socket.
  [[nodiscard]] static Result<std::vector<Listener>> inherited();

  Listener(Listener&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        transport_(other.transport_),
        owned_path_(std::exchange(other.owned_path_, {})),
        port_(other.port_),
        host_(std::exchange(other.host_, {})) {}
  Listener& operator=(Listener&& other) noexcept;
  ~Listener();

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] Transport transport() const noexcept { return transport_; }
  /// Of a TCP listener.
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// "127.0.0.1:8181", of a TCP listener.
  [[nodiscard]] std::string tcp_address() const;
  /// The descriptor is the caller's now; the socket file is still removed at the end.
  [[nodiscard]] int release_fd() noexcept { return std::exchange(fd_, -1); }

 private:
  Listener(int fd, Transport transport) noexcept : fd_(fd), transport_(transport) {}

  int fd_ = -1;
  Transport transport_ = Transport::kUnix;
  std::string owned_path_;
  std::uint16_t port_ = 0;
  std::string host_;  // as it was given
};

/// kInvalidArgument: too long for a socket's name.
[[nodiscard]] Status check_socket_path(const std::string& path);

/// kInvalidArgument: not HOST:PORT, or HOST is no address of this machine's notation (a name other
/// than localhost, say).
[[nodiscard]] Result<TcpReach> tcp_reach_of(const std::string& host_and_port);

}  // namespace iceblink::daemon::http
