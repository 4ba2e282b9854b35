#include "daemon/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace iceblink::daemon {

void notify_service_manager(std::string_view state) noexcept {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  const std::size_t path_bytes = std::strlen(path);
  sockaddr_un address{};
  if (path_bytes < 2 || path_bytes >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, path_bytes);
  if (path[0] == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto address_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_bytes);
  // One that does not read its socket holds nobody up.
  static_cast<void>(::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                             reinterpret_cast<const sockaddr*>(&address), address_bytes));
  ::close(fd);
}

void notify_reloading() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  std::array<char, 80> state{};
  const long long now_us = now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
  std::snprintf(state.data(), state.size(), "RELOADING=1\nMONOTONIC_USEC=%lld", now_us);
  notify_service_manager(state.data());
}

}  // namespace iceblink::daemon
