#include "daemon/http/request_reader.h"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <string>
#include <utility>

#include "daemon/http/content_coding.h"
#include "daemon/http/request_id.h"

namespace iceblink::daemon::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using beast::http::field;
using boost::system::error_code;

constexpr std::size_t kReadBytes = 16 * 1024;

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

std::string_view text_of(const beast::flat_buffer& buffer) {
  return {static_cast<const char*>(buffer.data().data()), buffer.size()};
}

// A field may stand on several lines (RFC 9110, 5.3).
template <typename Header, typename Name>
std::string joined_lines(const Header& header, const Name& name) {
  std::string joined;
  const auto [first, last] = header.equal_range(name);
  for (auto line = first; line != last; ++line) {
    if (line != first) joined += ", ";
    joined += line->value();
  }
  return joined;
}

}  // namespace

RequestReader::RequestReader(JudgeHeader judge, std::uint32_t header_bytes_max)
    : judge_(std::move(judge)),
      header_bytes_max_(header_bytes_max),
      // A parse leaves less than the header's limit behind, or is refused.
      buffer_(std::size_t{header_bytes_max} + kReadBytes) {}

void RequestReader::begin(std::uint64_t body_bytes_max) {
  body_bytes_max_ = body_bytes_max;
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(header_bytes_max_);
  parser_->body_limit(body_bytes_max_);
  refusal_.reset();
  is_header_judged_ = false;
  has_begun_ = false;
  skip_empty_lines();
}

asio::mutable_buffer RequestReader::room() {
  return buffer_.prepare(kReadBytes);
}

void RequestReader::fill(std::size_t bytes) {
  buffer_.commit(bytes);
  if (!has_begun_) skip_empty_lines();
}

asio::mutable_buffer RequestReader::room_to_discard() {
  buffer_.clear();
  return buffer_.prepare(kReadBytes);
}

void RequestReader::skip_empty_lines() {
  while (text_of(buffer_).starts_with("\r\n")) buffer_.consume(2);
  has_begun_ = buffer_.size() > 0 && text_of(buffer_) != "\r";
}

RequestReader::Step RequestReader::parse() {
  if (!has_begun_) return Step::kNeedsMore;
  error_code error;
  while (buffer_.size() > 0 && !parser_->is_done()) {
    const std::size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error || used == 0) break;
  }
  // A parser reads on into what it takes for the body: the header is judged all the same, and
  // first, since a body that is broken may be one that is framed otherwise.
  const bool judges_header = parser_->is_header_done() && !is_header_judged_;
  if (judges_header) {
    is_header_judged_ = true;
    refusal_ = judge_(parser_->get().base());
  }
  if (!refusal_) refusal_ = refusal_of(error);
  if (refusal_) return Step::kRefused;
  if (parser_->is_done()) return Step::kDone;
  const bool expects_continue =
      judges_header && beast::iequals(parser_->get()[field::expect], "100-continue");
  return expects_continue ? Step::kExpectsContinue : Step::kNeedsMore;
}

std::optional<RequestRefusal> RequestReader::refusal_of(const error_code& error) {
  const RestError too_much_header{431, "BadRequestException"};
  const std::string limit = " larger than " + std::to_string(header_bytes_max_) + " bytes";
  if (error == beast::http::error::body_limit) {
    return RequestRefusal{rest_error_of(ErrorKind::kTooLarge),
                          "the body is larger than " + std::to_string(body_bytes_max_) + " bytes"};
  }
  if (error == beast::http::error::header_limit) {
    return RequestRefusal{too_much_header, "the header is" + limit};
  }
  if (error && error != beast::http::error::need_more) {
    return RequestRefusal{{400, "BadRequestException"},
                          "this is not an HTTP request: " + error.message()};
  }
  if (!parser_->is_done() && buffer_.size() >= header_bytes_max_) {
    return RequestRefusal{too_much_header, "a chunk's header or the trailers are" + limit};
  }
  return std::nullopt;
}

std::uint64_t RequestReader::body_bytes() const {
  if (!parser_->is_header_done()) return 0;
  return parser_->content_length().value_or(parser_->get().body().size());
}

bool RequestReader::is_head() const {
  return parser_->is_header_done() && parser_->get().method() == beast::http::verb::head;
}

std::string_view RequestReader::method() const {
  if (!parser_->is_header_done()) return {};
  return parser_->get().method_string();
}

std::string_view RequestReader::target() const {
  if (!parser_->is_header_done()) return {};
  return parser_->get().target();
}

Request RequestReader::take() {
  auto& message = parser_->get();
  Request request;
  request.id = request_id_of(message["X-Request-ID"]);
  request.verb = verb_of(message.method());
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.if_none_match = joined_lines(message, field::if_none_match);
  if (message.count("Idempotency-Key") > 0) {
    request.idempotency_key = joined_lines(message, "Idempotency-Key");
  }
  request.accepts_gzip = accepts_gzip(joined_lines(message, field::accept_encoding));
  request.body = std::move(message.body());
  return request;
}

}  // namespace iceblink::daemon::http
