// Connections to the daemon's socket, kept for the next call.
//
// Thread safety: all of it. No call here waits for the daemon but connect, up to its deadline.
//
// Fork: the child closes its copies of every connection, those in use included, and starts with
// none; the parent's go on.
//
// Invariants: a connection is owned by one caller or idle; an idle one has nothing to read.
#pragma once

#include <iceblink/result.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace iceblink::client {

using Deadline = std::chrono::steady_clock::time_point;

/// A connected, non-blocking socket.
struct PooledConnection {
  int fd = -1;
  bool is_reused = false;  // it has served a call before
};

class ConnectionPool {
 public:
  explicit ConnectionPool(std::string socket_path);
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  enum class Freshness : std::uint8_t { kAny, kNew };

  /// An idle connection that is still open, or a new one. kNoDaemon, kNotAllowed, kTimedOut (the
  /// daemon accepts none), kIo.
  [[nodiscard]] Result<PooledConnection> take(Deadline deadline, Freshness freshness);
  /// After a call that left the connection in order.
  void give_back(PooledConnection connection) noexcept;
  void close(PooledConnection connection) noexcept;

  [[nodiscard]] std::uint64_t connect_count() const noexcept;
  [[nodiscard]] const std::string& socket_path() const noexcept { return socket_path_; }

 private:
  friend class PoolForkHandlers;

  struct Idle {
    int fd;
    std::chrono::steady_clock::time_point since;
  };

  [[nodiscard]] PooledConnection take_idle() noexcept;
  [[nodiscard]] Result<PooledConnection> connect(Deadline deadline);
  [[nodiscard]] Result<int> open_socket();
  void close_locked(int fd) noexcept;
  /// In a child process: closes everything. The mutex is held.
  void abandon() noexcept;

  const std::string socket_path_;

  // Under mutex_.
  mutable std::mutex mutex_;
  std::vector<Idle> idle_;  // the longest idle first
  std::vector<int> open_;   // all, those in use included
  std::uint64_t connect_count_ = 0;
};

/// A connection on loan: closed at the end, unless kept.
class ConnectionLease {
 public:
  ConnectionLease(ConnectionPool& pool, PooledConnection connection) noexcept
      : pool_(pool), connection_(connection) {}
  ~ConnectionLease() {
    if (keep_) {
      pool_.give_back(connection_);
    } else {
      pool_.close(connection_);
    }
  }
  ConnectionLease(const ConnectionLease&) = delete;
  ConnectionLease& operator=(const ConnectionLease&) = delete;

  [[nodiscard]] int fd() const noexcept { return connection_.fd; }
  [[nodiscard]] bool is_reused() const noexcept { return connection_.is_reused; }
  void keep() noexcept { keep_ = true; }

 private:
  ConnectionPool& pool_;
  const PooledConnection connection_;
  bool keep_ = false;
};

enum class Readiness : std::uint8_t { kReadable, kWritable, kEither };
/// Waits until `fd` is ready (or has failed, which the next call on it tells). False at the
/// deadline.
[[nodiscard]] bool wait_ready(int fd, Readiness readiness, Deadline deadline) noexcept;

}  // namespace iceblink::client
