#include "client/daemon_client.h"

#include <sys/socket.h>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>

namespace iceblink::client {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t kReadBytes = std::size_t{16} * 1024;
constexpr std::uint32_t kHeadBytesMax = std::uint32_t{64} * 1024;
constexpr std::uint64_t kBodyBytesMax = std::uint64_t{64} << 20;

std::string bytes_of(const Request& request) {
  std::string bytes;
  bytes.reserve(request.target.size() + request.body.size() + 160);
  bytes.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  bytes.append("Host: localhost\r\nAccept: application/json\r\nUser-Agent: iceblink/");
  bytes.append(ICEBLINK_VERSION "\r\n");
  if (!request.body.empty() || request.method == "POST") {
    bytes.append("Content-Type: ").append(request.content_type);
    bytes.append("\r\nContent-Length: ").append(std::to_string(request.body.size()));
    bytes.append("\r\n");
  }
  if (!request.idempotency_key.empty()) {
    bytes.append("Idempotency-Key: ").append(request.idempotency_key).append("\r\n");
  }
  return bytes.append("\r\n").append(request.body);
}

enum class Outcome : std::uint8_t { kDone, kTimedOut, kBroken };

/// Sends until all is sent or the peer has answered early.
Outcome send_all(int fd, std::string_view bytes, Deadline deadline, std::size_t& sent) {
  sent = 0;
  while (sent < bytes.size()) {
    const auto count = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Outcome::kBroken;
    if (!wait_ready(fd, Readiness::kEither, deadline)) return Outcome::kTimedOut;
    char byte = 0;
    if (::recv(fd, &byte, 1, MSG_PEEK) > 0) return Outcome::kDone;  // a refusal, most likely
  }
  return Outcome::kDone;
}

/// The answer as it comes in.
class Reading {
 public:
  explicit Reading(bool is_head) {
    parser_.eager(true);
    parser_.header_limit(kHeadBytesMax);
    parser_.body_limit(kBodyBytesMax);
    parser_.skip(is_head);
  }

  Outcome run(int fd, Deadline deadline) {
    while (!parser_.is_done()) {
      const auto room = buffer_.prepare(kReadBytes);
      const auto count = ::recv(fd, room.data(), room.size(), 0);
      if (count > 0) {
        has_begun_ = true;
        buffer_.commit(static_cast<std::size_t>(count));
        if (!parse()) return Outcome::kBroken;
      } else if (count == 0) {
        // A parser that has got nothing takes an end for a whole, empty, successful message.
        if (!has_begun_) return fail("the connection was closed without an answer");
        error_code error;
        parser_.put_eof(error);
        if (error || !parser_.is_done()) return fail("the connection was closed");
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!wait_ready(fd, Readiness::kReadable, deadline)) return Outcome::kTimedOut;
      } else if (errno != EINTR) {
        return fail(std::strerror(errno));
      }
    }
    return Outcome::kDone;
  }

  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  [[nodiscard]] bool may_go_on() const { return parser_.get().keep_alive() && buffer_.size() == 0; }

  [[nodiscard]] Answer take() {
    auto& message = parser_.get();
    Answer answer;
    answer.status = message.result_int();
    const auto field = message["Iceblink-Generation"];
    std::uint64_t generation = 0;
    const char* const end = field.data() + field.size();
    const auto parsed = std::from_chars(field.data(), end, generation);
    if (parsed.ec == std::errc{} && parsed.ptr == end) answer.generation = generation;
    answer.body = std::move(message.body());
    return answer;
  }

 private:
  bool parse() {
    while (buffer_.size() > 0 && !parser_.is_done()) {
      error_code error;
      const std::size_t used = parser_.put(buffer_.data(), error);
      buffer_.consume(used);
      if (error == http::error::need_more) return true;
      if (error) {
        fail("the answer cannot be understood: " + error.message());
        return false;
      }
      if (used == 0) return true;
    }
    return true;
  }
  Outcome fail(std::string why) {
    why_ = std::move(why);
    return Outcome::kBroken;
  }

  boost::beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
  bool has_begun_ = false;
  std::string why_;
};

}  // namespace

/// How far a call came.
struct DaemonClient::Attempt {
  bool was_sent = false;  // whole
  bool timed_out = false;
};

Error DaemonClient::lost(const Request& request, const Attempt& attempt,
                         const std::string& why) const {
  const std::string what =
      pool_.socket_path() + ": " + std::string(request.method) + " " + request.target + ": " + why;
  if (attempt.was_sent && request.effect == Effect::kWrite) {
    return {ErrorKind::kStateUnknown, what + "; it may or may not have been done"};
  }
  return {attempt.timed_out ? ErrorKind::kTimedOut : ErrorKind::kNoDaemon, what};
}

Result<Answer> DaemonClient::attempt(const Request& request, Deadline deadline,
                                     ConnectionPool::Freshness freshness, bool& try_again) {
  const std::string bytes = bytes_of(request);
  Reading reading(request.method == "HEAD");
  ICEBLINK_ASSIGN_OR_RETURN(const PooledConnection taken, pool_.take(deadline, freshness));
  ConnectionLease connection(pool_, taken);
  std::size_t sent_bytes = 0;
  Outcome outcome = send_all(connection.fd(), bytes, deadline, sent_bytes);
  const bool sending_broke = outcome == Outcome::kBroken;
  const bool was_sent = sent_bytes == bytes.size();
  // Who refuses a request in its middle answers, and closes: the answer may be there all the same.
  // Who still waits for the rest of it is told that none comes.
  if (sending_broke) ::shutdown(connection.fd(), SHUT_WR);
  if (outcome != Outcome::kTimedOut) outcome = reading.run(connection.fd(), deadline);
  if (outcome == Outcome::kDone) {
    if (was_sent && reading.may_go_on()) connection.keep();
    return reading.take();
  }
  const bool may_repeat = !was_sent || request.effect == Effect::kRead;
  try_again =
      connection.is_reused() && outcome == Outcome::kBroken && !reading.has_begun() && may_repeat;
  if (outcome == Outcome::kTimedOut) return lost(request, {was_sent, true}, "no answer in time");
  return lost(request, {was_sent, false},
              sending_broke ? "the connection broke while sending" : reading.why());
}

Result<Answer> DaemonClient::call(const Request& request,
                                  std::chrono::milliseconds timeout) noexcept {
  // relaxed, both: counts, for showing
  call_count_.fetch_add(1, std::memory_order_relaxed);
  if (request.effect == Effect::kWrite) write_count_.fetch_add(1, std::memory_order_relaxed);
  try {
    const Deadline deadline = std::chrono::steady_clock::now() + timeout;
    bool try_again = false;
    auto answer = attempt(request, deadline, ConnectionPool::Freshness::kAny, try_again);
    if (!answer && try_again) {
      return attempt(request, deadline, ConnectionPool::Freshness::kNew, try_again);
    }
    return answer;
  } catch (const std::bad_alloc&) {
    // Where memory ran out is not known: after sending, perhaps.
    return {request.effect == Effect::kWrite ? ErrorKind::kStateUnknown : ErrorKind::kOutOfMemory,
            "out of memory while calling the daemon"};
  } catch (const std::exception& error) {
    return {request.effect == Effect::kWrite ? ErrorKind::kStateUnknown : ErrorKind::kInternal,
            error.what()};
  }
}

DaemonClient::Stats DaemonClient::stats() const noexcept {
  // relaxed, both: counts, for showing
  return {call_count_.load(std::memory_order_relaxed), write_count_.load(std::memory_order_relaxed),
          pool_.connect_count()};
}

}  // namespace iceblink::client
