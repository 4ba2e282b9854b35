// HTTP/1.1 over the daemon's Unix socket: one request, one answer, one deadline.
//
// Thread safety: all of it; calls from several threads use a connection each.
//
// What an error says about a write:
//   kNoDaemon, kTimedOut, kNotAllowed, kIo  the request did not leave whole: nothing was done
//   kStateUnknown                           it left whole, and no whole answer came
#pragma once

#include <iceblink/result.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "client/connection_pool.h"

namespace iceblink::client {

enum class Effect : std::uint8_t { kRead, kWrite };

struct Request {
  std::string_view method;  // GET, HEAD, POST, DELETE; static storage
  std::string target;       // percent-encoded
  std::string_view content_type = "application/json";
  std::string body = {};
  Effect effect = Effect::kRead;
  std::string idempotency_key = {};  // empty: none
};

struct Answer {
  unsigned status = 0;
  std::optional<std::uint64_t> generation;  // Iceblink-Generation
  std::string body;
};

class DaemonClient {
 public:
  explicit DaemonClient(std::string socket_path) : pool_(std::move(socket_path)) {}

  /// An answer of any status. A read on a kept connection that turns out closed is sent again,
  /// once, on a new one.
  [[nodiscard]] Result<Answer> call(const Request& request,
                                    std::chrono::milliseconds timeout) noexcept;

  struct Stats {
    std::uint64_t call_count = 0;
    std::uint64_t write_count = 0;
    std::uint64_t connect_count = 0;
  };
  [[nodiscard]] Stats stats() const noexcept;

 private:
  struct Attempt;
  [[nodiscard]] Result<Answer> attempt(const Request& request, Deadline deadline,
                                       ConnectionPool::Freshness freshness, bool& try_again);
  [[nodiscard]] Error lost(const Request& request, const Attempt& attempt,
                           const std::string& why) const;

  ConnectionPool pool_;
  // relaxed: counts, for showing
  std::atomic<std::uint64_t> call_count_{0};
  std::atomic<std::uint64_t> write_count_{0};
};

}  // namespace iceblink::client
