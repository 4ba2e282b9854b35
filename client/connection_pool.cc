#include "client/connection_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "shm/file_mapping.h"

namespace iceblink::client {
namespace {

constexpr std::size_t kIdleMax = 4;
/// The daemon closes an idle connection after a minute; one that old is not used again, so that
/// the two do not cross.
constexpr std::chrono::seconds kIdleAgeMax{20};
/// Between two attempts while the daemon's backlog is full.
constexpr std::chrono::milliseconds kNap{1};

int poll_timeout_ms(Deadline deadline) noexcept {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

bool is_quiet_and_open(int fd) noexcept {
  char byte = 0;
  const auto got = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/// The socket's address, by way of its directory's descriptor where the path is too long for one.
class SocketAddress {
 public:
  explicit SocketAddress(const std::string& path) {
    address_.sun_family = AF_UNIX;
    std::string name = path;
    if (name.size() >= sizeof(address_.sun_path)) {
      const auto slash = path.rfind('/');
      directory_ = ::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
      name = "/proc/self/fd/" + std::to_string(directory_) + path.substr(slash);
    }
    std::memcpy(address_.sun_path, name.c_str(),
                std::min(name.size(), sizeof(address_.sun_path) - 1));
  }
  ~SocketAddress() {
    if (directory_ >= 0) ::close(directory_);
  }
  SocketAddress(const SocketAddress&) = delete;
  SocketAddress& operator=(const SocketAddress&) = delete;

  [[nodiscard]] int connect(int fd) const noexcept {
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&address_), sizeof(address_));
  }

 private:
  sockaddr_un address_{};
  int directory_ = -1;
};

Error connect_error(const std::string& socket_path, int errno_value) {
  const std::string message = socket_path + ": " + std::strerror(errno_value);
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
    case ECONNRESET:
      return {ErrorKind::kNoDaemon, message + "; is iceblinkd running?"};
    default:
      return shm::system_error(socket_path, errno_value);
  }
}

}  // namespace

bool wait_ready(int fd, Readiness readiness, Deadline deadline) noexcept {
  pollfd waiting{fd, 0, 0};
  if (readiness != Readiness::kWritable) waiting.events |= POLLIN;
  if (readiness != Readiness::kReadable) waiting.events |= POLLOUT;
  while (true) {
    const int ready = ::poll(&waiting, 1, poll_timeout_ms(deadline));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) return true;  // the next call fails
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
}

/// Keeps every pool usable in a child process.
class PoolForkHandlers {
 public:
  static PoolForkHandlers& instance() {
    static auto* const handlers = new PoolForkHandlers;  // never destroyed: fork may come late
    return *handlers;
  }
  void add(ConnectionPool* pool) {
    const std::lock_guard lock(mutex_);
    pools_.push_back(pool);
  }
  void remove(ConnectionPool* pool) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(pools_, pool);
  }

 private:
  PoolForkHandlers() {
    if (::pthread_atfork(before, after_in_parent, after_in_child) != 0) throw std::bad_alloc();
  }

  static void before() {
    auto& self = instance();
    self.mutex_.lock();
    for (ConnectionPool* pool : self.pools_) pool->mutex_.lock();
  }
  static void after_in_parent() { release(); }
  static void after_in_child() {
    for (ConnectionPool* pool : instance().pools_) pool->abandon();
    release();
  }
  static void release() {
    auto& self = instance();
    for (ConnectionPool* pool : self.pools_) pool->mutex_.unlock();
    self.mutex_.unlock();
  }

  std::mutex mutex_;
  std::vector<ConnectionPool*> pools_;
};

ConnectionPool::ConnectionPool(std::string socket_path) : socket_path_(std::move(socket_path)) {
  PoolForkHandlers::instance().add(this);
}

ConnectionPool::~ConnectionPool() {
  PoolForkHandlers::instance().remove(this);
  for (const int fd : open_) ::close(fd);
}

Result<PooledConnection> ConnectionPool::take(Deadline deadline, Freshness freshness) {
  if (freshness == Freshness::kAny) {
    const PooledConnection idle = take_idle();
    if (idle.fd >= 0) return idle;
  }
  return connect(deadline);
}

PooledConnection ConnectionPool::take_idle() noexcept {
  const auto oldest = std::chrono::steady_clock::now() - kIdleAgeMax;
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    const Idle candidate = idle_.back();
    idle_.pop_back();
    if (candidate.since > oldest && is_quiet_and_open(candidate.fd)) return {candidate.fd, true};
    close_locked(candidate.fd);
  }
  return {};
}

Result<PooledConnection> ConnectionPool::connect(Deadline deadline) {
  const SocketAddress address(socket_path_);
  ICEBLINK_ASSIGN_OR_RETURN(const int fd, open_socket());
  while (address.connect(fd) != 0) {
    const int failure = errno;
    if (failure == EINTR) continue;
    if (failure != EAGAIN) {
      close({fd, false});
      return connect_error(socket_path_, failure);
    }
    // The backlog of a Unix socket is full; there is nothing to poll for.
    if (std::chrono::steady_clock::now() >= deadline) {
      close({fd, false});
      return {ErrorKind::kTimedOut, socket_path_ + ": the daemon takes no connection"};
    }
    ::poll(nullptr, 0, static_cast<int>(kNap.count()));
  }
  return PooledConnection{fd, false};
}

Result<int> ConnectionPool::open_socket() {
  // Under the lock, so that no fork comes between the descriptor and its place in the list.
  const std::lock_guard lock(mutex_);
  open_.reserve(open_.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return shm::system_error(socket_path_, errno);
  open_.push_back(fd);
  ++connect_count_;
  return fd;
}

void ConnectionPool::give_back(PooledConnection connection) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    if (idle_.size() < kIdleMax) {
      idle_.push_back({connection.fd, std::chrono::steady_clock::now()});
      return;
    }
  } catch (const std::bad_alloc&) {
    // It is closed instead of kept.
  }
  close_locked(connection.fd);
}

void ConnectionPool::close(PooledConnection connection) noexcept {
  const std::lock_guard lock(mutex_);
  close_locked(connection.fd);
}

void ConnectionPool::close_locked(int fd) noexcept {
  std::erase(open_, fd);
  ::close(fd);
}

void ConnectionPool::abandon() noexcept {
  for (const int fd : open_) ::close(fd);
  open_.clear();
  idle_.clear();
}

std::uint64_t ConnectionPool::connect_count() const noexcept {
  const std::lock_guard lock(mutex_);
  return connect_count_;
}

}  // namespace iceblink::client
