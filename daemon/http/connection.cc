#include "daemon/http/connection.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/field.hpp>
#include <cerrno>
#include <limits>
#include <utility>

#include "daemon/http/connection_registry.h"
#include "daemon/http/denial_log.h"
#include "daemon/http/error_body.h"
#include "daemon/http/request_id.h"
#include "daemon/http/request_reader.h"
#include "daemon/http/router.h"
#include "daemon/log_event.h"

namespace iceblink::daemon::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
/// What a peer that was refused in the middle of a body may still send before it is cut off.
constexpr std::uint64_t kDiscardBytesMax = std::uint64_t{8} << 20;
constexpr milliseconds kDiscardTimeout{2000};
/// Bodies up to this size are not worth counting.
constexpr std::uint64_t kUncountedBytes = 64 * 1024;
/// A large answer is given time as if the peer took this much a second.
constexpr std::uint64_t kSlowestBytesPerMs = 1024;
/// Of a file's, what is read and sent at a time.
constexpr std::uint64_t kFilePartBytes = 256 * 1024;

std::int64_t to_ns(steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

Connection::Connection(Socket socket, std::shared_ptr<const TlsContext> tls, Caller caller,
                       Services& services, const Reloadable<ConnectionLimits>& limits,
                       std::shared_ptr<ConnectionRegistry> registry)
    : services_(services),
      next_limits_(limits),
      registry_(std::move(registry)),
      transport_(caller.transport),
      caller_(std::move(caller)),
      limits_(limits.get()),
      stream_(std::move(socket), std::move(tls)),
      reader_(std::make_unique<RequestReader>([this](const auto& header) { return judge(header); },
                                              limits_->header_bytes_max)),
      deadline_ns_(kNoDeadline),
      idle_since_ns_(to_ns(steady_clock::now())) {
  // relaxed: a counter, for showing
  services_.counters.connections_open.fetch_add(1, std::memory_order_relaxed);
}

Connection::~Connection() {
  release_bytes();
  registry_->remove(this);
  // relaxed: a counter, for showing
  services_.counters.connections_open.fetch_sub(1, std::memory_order_relaxed);
}

void Connection::start() {
  asio::dispatch(stream_.executor(), [self = shared_from_this()] {
    self->set_deadline(self->limits_->request_timeout);
    self->stream_.async_handshake([self](const error_code& error) { self->on_handshake(error); });
  });
}

void Connection::on_handshake(const error_code& error) {
  if (!error) return begin_request();
  // Who only comes and goes is not worth a line.
  if (error.category() == asio::error::get_ssl_category()) {
    const auto left_out = services_.refusal_lines.take("handshake", steady_clock::now());
    if (left_out) {
      log_event(level::warn, "handshake failed",
                {{"reason", error.message()}, {"peer", caller_.name}, {"left_out", *left_out}});
    }
  }
  close();
}

void Connection::drain() {
  asio::post(stream_.executor(), [self = shared_from_this()] {
    self->is_draining_ = true;
    // Who has just connected is about to send, and what has been sent is on its way to us.
    const bool may_come = !self->has_had_request_ || self->stream_.has_unread();
    if (!self->reader_->has_begun() && !may_come) self->close();
  });
}

void Connection::end_waiting() {
  asio::post(stream_.executor(), [self = shared_from_this()] {
    if (!self->reader_->has_begun()) self->close();
  });
}

bool Connection::end_idle(std::int64_t since_ns) {
  // relaxed: it decides who ends it, and orders nothing
  if (!idle_since_ns_.compare_exchange_strong(since_ns, kNotIdle, std::memory_order_relaxed)) {
    return false;
  }
  asio::post(stream_.executor(), [self = shared_from_this()] {
    self->is_draining_ = true;
    if (!self->is_busy_) self->close();
  });
  return true;
}

void Connection::close_if_overdue(steady_clock::time_point now) {
  // relaxed: who finds it passed looks again on the loop
  if (deadline_ns_.load(std::memory_order_relaxed) > to_ns(now)) return;
  asio::post(stream_.executor(), [self = shared_from_this()] {
    // relaxed: who finds it passed looks again on the loop
    const auto deadline_ns = self->deadline_ns_.load(std::memory_order_relaxed);
    if (deadline_ns <= to_ns(steady_clock::now())) self->on_overdue();
  });
}

void Connection::post(std::function<void()> work) {
  asio::post(stream_.executor(), [self = shared_from_this(), work = std::move(work)] { work(); });
}

void Connection::send(Response response) {
  asio::dispatch(stream_.executor(),
                 [self = shared_from_this(), response = std::move(response)]() mutable {
                   self->write(std::move(response));
                 });
}

void Connection::begin_request() {
  limits_ = next_limits_.get();
  reader_->begin(limits_->body_bytes_max);
  set_deadline(reader_->has_begun() ? limits_->request_timeout : limits_->idle_timeout);
  is_busy_ = false;
  // relaxed: whoever ends it claims it by an exchange
  idle_since_ns_.store(to_ns(steady_clock::now()), std::memory_order_relaxed);
  on_bytes();
}

void Connection::read_some() {
  is_reading_ = true;
  stream_.async_read_some(reader_->room(),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            self->is_reading_ = false;
                            self->on_read(error, bytes);
                          });
}

void Connection::on_read(const error_code& error, std::size_t bytes) {
  if (is_overdue_) {
    return refuse({{408, "RequestTimeoutException"}, "the request took too long to arrive"});
  }
  const bool had_begun = reader_->has_begun();
  if (error == asio::error::eof && had_begun) {
    return refuse({{400, "BadRequestException"}, "the request ended before it was complete"});
  }
  if (error) return close();
  reader_->fill(bytes);
  if (!had_begun && reader_->has_begun()) set_deadline(limits_->request_timeout);
  on_bytes();
}

// A request that did not come in time gets an answer; everything else just ends.
void Connection::on_overdue() {
  if (!is_reading_ || !reader_->has_begun()) return close();
  is_overdue_ = true;
  clear_deadline();
  stream_.cancel();  // the read ends, and answers
}

void Connection::on_bytes() {
  const auto step = reader_->parse();
  if (step != RequestReader::Step::kRefused && !claim_request_bytes()) {
    return refuse({rest_error_of(ErrorKind::kBusy), "too many large requests are being read"});
  }
  switch (step) {
    case RequestReader::Step::kNeedsMore:
      return read_some();
    case RequestReader::Step::kExpectsContinue:
      return write_continue();
    case RequestReader::Step::kDone:
      return on_parsed();
    case RequestReader::Step::kRefused:
      return refuse(reader_->refusal());
  }
}

std::optional<RequestRefusal> Connection::judge(
    const boost::beast::http::request_header<>& header) {
  using boost::beast::http::field;
  const auto policy = services_.access.get();
  const auto lines = header.count(field::authorization);
  caller_.access = policy->access_of(
      caller_, lines == 1 ? std::string_view(header[field::authorization]) : std::string_view());
  const bool is_local = caller_.transport == Transport::kTcp && !policy->token;
  if (auto refusal = judge_header(header, is_local ? HostNames::kLoopback : HostNames::kAny)) {
    return refusal;
  }
  // The router refuses the rest: of these no body is read, which could not do anything.
  if (announces_body(header)) {
    if (auto refusal = refusal_of(caller_, Access::kRead)) return refusal;
  }
  if (caller_.access != Access::kNone) {
    is_busy_ = true;
    idle_since_ns_.store(kNotIdle, std::memory_order_relaxed);  // relaxed: as in begin_request
  }
  return std::nullopt;
}

bool Connection::claim_request_bytes() noexcept {
  const std::uint64_t bytes = reader_->body_bytes();
  if (bytes <= kUncountedBytes || bytes <= request_bytes_) return true;
  const std::uint64_t own = std::exchange(request_bytes_, bytes);
  // relaxed: a sum, which only limits
  const std::uint64_t before =
      services_.counters.request_bytes.fetch_add(bytes - own, std::memory_order_relaxed);
  // One alone is taken whatever its size: its own limit is another.
  return before == own || before - own + bytes <= services_.request_bytes_max;
}

void Connection::on_parsed() {
  clear_deadline();
  has_had_request_ = true;
  keeps_alive_ = reader_->keeps_alive();
  http_minor_ = reader_->http_minor();
  Request request = reader_->take();
  request_id_ = request.id;
  is_head_ = request.verb == Verb::kHead;
  is_read_ = is_head_ || request.verb == Verb::kGet;
  dispatch(std::make_shared<Exchange>(services_, shared_from_this(), std::move(request)));
}

void Connection::refuse(const RequestRefusal& refusal) {
  is_head_ = reader_->is_head();
  is_read_ = false;
  request_id_ = request_id_of({});
  Response response = error_response(refusal.error, refusal.message);
  if (response.status == 401 || response.status == 403) {
    log_denial(response, {caller_, request_id_, reader_->method(), reader_->target()},
               services_.refusal_lines);
  }
  log_event(level::debug, "request unread",
            {{"id", request_id_},
             {"peer", caller_.name},
             {"status", response.status},
             {"message", refusal.message}});
  response.closes = true;
  is_cut_short_ = true;
  write(std::move(response));
}

void Connection::write_continue() {
  stream_.async_write({asio::buffer(kContinue)}, [self = shared_from_this()](error_code error) {
    if (error) return self->close();
    self->read_some();
  });
}

void Connection::write(Response response) {
  response_ = std::move(response);
  // relaxed: a sum, which only limits
  const auto others = services_.counters.answer_bytes.load(std::memory_order_relaxed);
  // What was done must be answered; what was only read can be asked for again.
  if (is_read_ && others > services_.answer_bytes_max && response_.body_bytes() > kUncountedBytes) {
    response_ = error_response({ErrorKind::kBusy, "too many large answers are being sent"});
  }
  if (is_draining_) response_.closes = true;
  const bool keeps_alive = keeps_alive_ && !response_.closes;
  head_ =
      head_of(response_,
              {.http_minor = http_minor_, .keeps_alive = keeps_alive, .request_id = request_id_});
  if (response_.status >= 400) {
    services_.metrics.count_refused(response_.status, response_.error_type);
  }
  const std::size_t by_class = response_.status / 100;
  if (by_class < services_.counters.answers_by_class.size()) {
    // relaxed: a counter, for showing
    services_.counters.answers_by_class[by_class].fetch_add(1, std::memory_order_relaxed);
  }
  std::vector<asio::const_buffer> buffers{asio::buffer(head_)};
  const bool has_body = !is_head_ && response_.status != 204 && response_.status != 304;
  if (has_body) {
    for (const auto& part : response_.parts) buffers.push_back(asio::buffer(part.text()));
  }
  answer_bytes_ = response_.body_bytes();
  // relaxed: a sum, which only limits
  services_.counters.answer_bytes.fetch_add(answer_bytes_, std::memory_order_relaxed);
  const std::uint64_t extra_ms = answer_bytes_ / kSlowestBytesPerMs;
  set_deadline(limits_->write_timeout + milliseconds(extra_ms));
  stream_.async_write(buffers, [self = shared_from_this(), keeps_alive](error_code error) {
    if (error) return self->close();
    if (const auto& file = self->response_.file) {
      self->file_until_ = steady_clock::now() + self->limits_->write_timeout +
                          milliseconds(file->bytes / kSlowestBytesPerMs);
      return self->write_file(0, keeps_alive);
    }
    self->keeps_alive_ = keeps_alive;
    self->on_written();
  });
}

void Connection::write_file(std::uint64_t offset, bool keeps_alive) {
  const std::uint64_t left = response_.file->bytes - offset;
  if (left == 0) {
    file_part_ = {};
    keeps_alive_ = keeps_alive;
    return on_written();
  }
  file_part_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, kFilePartBytes)));
  // For a part and for all of it: who takes it a byte at a time does not keep it for ever.
  set_deadline(std::min(steady_clock::now() + limits_->write_timeout, file_until_));
  const bool is_taken = services_.files.run([self = shared_from_this(), offset, keeps_alive] {
    const bool is_read = self->read_file_part(offset);
    try {
      asio::post(self->stream_.executor(), [self, offset, keeps_alive, is_read] {
        if (!is_read) return self->close();  // the length was promised
        self->write_file_part(offset, keeps_alive);
      });
    } catch (const std::exception&) {  // no memory: it ends with its last holder
    }
  });
  if (!is_taken) close();
}

bool Connection::read_file_part(std::uint64_t offset) noexcept {
  for (std::size_t done = 0; done < file_part_.size();) {
    const auto count = ::pread(response_.file->fd, file_part_.data() + done,
                               file_part_.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

void Connection::write_file_part(std::uint64_t offset, bool keeps_alive) {
  stream_.async_write({asio::buffer(file_part_)},
                      [self = shared_from_this(), offset, keeps_alive](error_code error) {
                        if (error) return self->close();
                        self->write_file(offset + self->file_part_.size(), keeps_alive);
                      });
}

void Connection::on_written() {
  release_bytes();
  if (keeps_alive_ && !is_draining_) return begin_request();
  if (!is_cut_short_ && !stream_.has_tls()) return close();
  set_deadline(std::min(kDiscardTimeout, limits_->request_timeout));
  stream_.async_end_sending([self = shared_from_this()](error_code) {
    // Closing with unread bytes would take the answer away from a peer that is still sending.
    if (self->is_cut_short_) return self->discard_rest();
    self->close();
  });
}

void Connection::release_bytes() noexcept {
  response_ = {};
  // relaxed: a sum, which only limits
  services_.counters.answer_bytes.fetch_sub(answer_bytes_, std::memory_order_relaxed);
  answer_bytes_ = 0;
  // relaxed: a sum, which only limits
  services_.counters.request_bytes.fetch_sub(request_bytes_, std::memory_order_relaxed);
  request_bytes_ = 0;
}

void Connection::discard_rest() {
  stream_.async_discard_some(reader_->room_to_discard(),
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
  stream_.close();
}

void Connection::set_deadline(steady_clock::time_point at) noexcept {
  // relaxed: who finds it passed looks again on the loop
  deadline_ns_.store(to_ns(at), std::memory_order_relaxed);
}

}  // namespace iceblink::daemon::http
