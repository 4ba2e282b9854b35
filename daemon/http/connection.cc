#include "daemon/http/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <limits>
#include <optional>

#include "daemon/http/error_body.h"
#include "daemon/http/router.h"

namespace iceblink::daemon::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::int64_t kNoDeadline = std::numeric_limits<std::int64_t>::max();
/// What a peer that was refused in the middle of a body may still send before it is cut off.
constexpr std::uint64_t kDiscardBytesMax = std::uint64_t{8} << 20;
constexpr milliseconds kDiscardTimeout{2000};
/// A large answer is given time as if the peer took this much a second.
constexpr std::uint64_t kSlowestBytesPerMs = 1024;

Verb verb_of(beast::http::verb verb) {
  switch (verb) {
    case beast::http::verb::get:
      return Verb::kGet;
    case beast::http::verb::head:
      return Verb::kHead;
    case beast::http::verb::post:
      return Verb::kPost;
    case beast::http::verb::put:
      return Verb::kPut;
    case beast::http::verb::delete_:
      return Verb::kDelete;
    default:
      return Verb::kOther;
  }
}

std::int64_t to_ns(steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

// The parser is made anew for every request; the buffer keeps what came early.
class Connection::Reading {
 public:
  enum class Step : std::uint8_t { kNeedsMore, kExpectsContinue, kDone, kFailed };

  void begin(const ConnectionLimits& limits) {
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(limits.header_bytes_max);
    parser_->body_limit(limits.body_bytes_max);
    has_begun_ = buffer_.size() > 0;
    has_continued_ = false;
  }

  [[nodiscard]] asio::mutable_buffer room() { return buffer_.prepare(kReadBytes); }
  void fill(std::size_t bytes) {
    buffer_.commit(bytes);
    has_begun_ = true;
  }

  Step parse(error_code& error) {
    error = {};
    while (buffer_.size() > 0 && !parser_->is_done()) {
      const std::size_t used = parser_->put(buffer_.data(), error);
      buffer_.consume(used);
      if (error || used == 0) break;
    }
    if (error == beast::http::error::need_more) error = {};
    if (error) return Step::kFailed;
    if (parser_->is_done()) return Step::kDone;
    if (parser_->is_header_done() && !has_continued_) {
      has_continued_ = true;
      const auto expect = parser_->get()[beast::http::field::expect];
      if (beast::iequals(expect, "100-continue")) return Step::kExpectsContinue;
    }
    return Step::kNeedsMore;
  }

  /// A byte of the request has come.
  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  [[nodiscard]] bool keeps_alive() const { return parser_->get().keep_alive(); }
  [[nodiscard]] unsigned http_minor() const { return parser_->get().version() % 10; }

  Request take() {
    auto& message = parser_->get();
    Request request;
    request.verb = verb_of(message.method());
    request.target = std::string(message.target());
    request.if_none_match = std::string(message[beast::http::field::if_none_match]);
    request.body = std::move(message.body());
    return request;
  }

 private:
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  bool has_begun_ = false;
  bool has_continued_ = false;
};

void ConnectionRegistry::add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  open_.emplace(connection.get(), connection);
}

void ConnectionRegistry::remove(const Connection* connection) noexcept {
  const std::lock_guard lock(mutex_);
  open_.erase(connection);
  if (open_.empty()) emptied_.notify_all();
}

void ConnectionRegistry::wait_empty(steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  emptied_.wait_until(lock, until, [this] { return open_.empty(); });
}

std::size_t ConnectionRegistry::size() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

std::vector<std::shared_ptr<Connection>> ConnectionRegistry::all() const {
  std::vector<std::shared_ptr<Connection>> out;
  const std::lock_guard lock(mutex_);
  out.reserve(open_.size());
  for (const auto& [address, weak] : open_) {
    if (auto connection = weak.lock()) out.push_back(std::move(connection));
  }
  return out;
}

Connection::Connection(Socket socket, Services& services, const ConnectionLimits& limits,
                       std::shared_ptr<ConnectionRegistry> registry)
    : services_(services),
      limits_(limits),
      registry_(std::move(registry)),
      socket_(std::move(socket)),
      reading_(std::make_unique<Reading>()),
      deadline_ns_(kNoDeadline) {
  // relaxed: a counter, for showing
  services_.counters.connections_open.fetch_add(1, std::memory_order_relaxed);
}

Connection::~Connection() {
  drop_answer();
  registry_->remove(this);
  // relaxed: a counter, for showing
  services_.counters.connections_open.fetch_sub(1, std::memory_order_relaxed);
}

void Connection::start() {
  asio::dispatch(socket_.get_executor(), [self = shared_from_this()] { self->begin_request(); });
}

void Connection::drain() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->is_draining_ = true;
    if (!self->reading_->has_begun()) self->close();
  });
}

void Connection::close_if_overdue(steady_clock::time_point now) {
  // relaxed: who finds it passed looks again on the strand
  if (deadline_ns_.load(std::memory_order_relaxed) > to_ns(now)) return;
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    // relaxed: who finds it passed looks again on the strand
    const auto deadline_ns = self->deadline_ns_.load(std::memory_order_relaxed);
    if (deadline_ns <= to_ns(steady_clock::now())) self->close();
  });
}

void Connection::post(std::function<void()> work) {
  asio::post(socket_.get_executor(),
             [self = shared_from_this(), work = std::move(work)] { work(); });
}

void Connection::send(Response response) {
  asio::dispatch(socket_.get_executor(),
                 [self = shared_from_this(), response = std::move(response)]() mutable {
                   self->write(std::move(response));
                 });
}

void Connection::begin_request() {
  reading_->begin(limits_);
  set_deadline(reading_->has_begun() ? limits_.request_timeout : limits_.idle_timeout);
  if (reading_->has_begun()) {
    on_bytes();
  } else {
    read_some();
  }
}

void Connection::read_some() {
  socket_.async_read_some(reading_->room(),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            if (error) return self->close();
                            if (!self->reading_->has_begun())
                              self->set_deadline(self->limits_.request_timeout);
                            self->reading_->fill(bytes);
                            self->on_bytes();
                          });
}

void Connection::on_bytes() {
  error_code error;
  switch (reading_->parse(error)) {
    case Reading::Step::kNeedsMore:
      return read_some();
    case Reading::Step::kExpectsContinue:
      return write_continue();
    case Reading::Step::kDone:
      return on_parsed();
    case Reading::Step::kFailed:
      return fail_parse(error);
  }
}

void Connection::on_parsed() {
  clear_deadline();
  keeps_alive_ = reading_->keeps_alive();
  http_minor_ = reading_->http_minor();
  Request request = reading_->take();
  is_head_ = request.verb == Verb::kHead;
  dispatch(std::make_shared<Exchange>(services_, shared_from_this(), std::move(request)));
}

void Connection::fail_parse(const error_code& error) {
  RestError refusal{400, "BadRequestException"};
  std::string message = "this is not an HTTP request: " + error.message();
  if (error == beast::http::error::body_limit) {
    refusal = rest_error_of(ErrorKind::kTooLarge);
    message = "the body is larger than " + std::to_string(limits_.body_bytes_max) + " bytes";
  } else if (error == beast::http::error::header_limit) {
    refusal.status = 431;
    message = "the header is larger than " + std::to_string(limits_.header_bytes_max) + " bytes";
  }
  is_head_ = false;
  Response response = error_response(refusal, message);
  response.closes = true;
  is_cut_short_ = true;
  write(std::move(response));
}

void Connection::write_continue() {
  asio::async_write(socket_, asio::buffer(kContinue),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      if (error) return self->close();
                      self->read_some();
                    });
}

void Connection::write(Response response) {
  response_ = std::move(response);
  if (is_draining_) response_.closes = true;
  const bool keeps_alive = keeps_alive_ && !response_.closes;
  head_ = head_of(response_, {.http_minor = http_minor_, .keeps_alive = keeps_alive});
  const std::size_t by_class = response_.status / 100;
  if (by_class < services_.counters.answers_by_class.size()) {
    // relaxed: a counter, for showing
    services_.counters.answers_by_class[by_class].fetch_add(1, std::memory_order_relaxed);
  }
  std::vector<asio::const_buffer> buffers{asio::buffer(head_)};
  const bool has_body = !is_head_ && response_.status != 204 && response_.status != 304;
  if (has_body) {
    for (const auto& part : response_.parts) buffers.push_back(asio::buffer(part));
  }
  answer_bytes_ = response_.body_bytes();
  // relaxed: a sum, which only limits
  services_.counters.answer_bytes.fetch_add(answer_bytes_, std::memory_order_relaxed);
  const std::uint64_t extra_ms = answer_bytes_ / kSlowestBytesPerMs;
  set_deadline(limits_.write_timeout + milliseconds(extra_ms));
  asio::async_write(socket_, buffers,
                    [self = shared_from_this(), keeps_alive](error_code error, std::size_t) {
                      if (error) return self->close();
                      self->keeps_alive_ = keeps_alive;
                      self->on_written();
                    });
}

void Connection::on_written() {
  drop_answer();
  if (keeps_alive_ && !is_draining_) return begin_request();
  if (!is_cut_short_) return close();
  // Closing with unread bytes would take the answer away from a peer that is still sending.
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  set_deadline(kDiscardTimeout);
  discard_rest();
}

void Connection::drop_answer() noexcept {
  response_ = {};
  // relaxed: a sum, which only limits
  services_.counters.answer_bytes.fetch_sub(answer_bytes_, std::memory_order_relaxed);
  answer_bytes_ = 0;
}

void Connection::discard_rest() {
  socket_.async_read_some(reading_->room(),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            self->discarded_bytes_ += bytes;
                            if (error || self->discarded_bytes_ > kDiscardBytesMax) {
                              return self->close();
                            }
                            self->discard_rest();
                          });
}

void Connection::close() noexcept {
  clear_deadline();
  error_code ignored;
  socket_.close(ignored);
}

void Connection::set_deadline(milliseconds from_now) noexcept {
  // relaxed: who finds it passed looks again on the strand
  deadline_ns_.store(to_ns(steady_clock::now() + from_now), std::memory_order_relaxed);
}

void Connection::clear_deadline() noexcept {
  // relaxed: who finds it passed looks again on the strand
  deadline_ns_.store(kNoDeadline, std::memory_order_relaxed);
}

}  // namespace iceblink::daemon::http
