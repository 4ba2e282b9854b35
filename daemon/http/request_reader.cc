#include "daemon/http/request_reader.h"

#include <boost/beast/core/buffers_prefix.hpp>
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
  parser_->eager(false);  // a step at a time: the header alone, then chunk by chunk
  parser_->header_limit(header_bytes_max_);
  parser_->body_limit(body_bytes_max_);
  refusal_.reset();
  request_ = Request();
  keeps_alive_ = false;
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
  bool judges_header = false;
  while (buffer_.size() > 0 && !parser_->is_done() && !refusal_) {
    const bool is_in_body = parser_->is_header_done();
    // Of what has come, no more than may be pending: a chunk's header or trailers that are larger
    // are refused as they would be if they came in pieces.
    const std::size_t used =
        parser_->put(beast::buffers_prefix(header_bytes_max_, buffer_.data()), error);
    buffer_.consume(used);
    // Before the body, which may be broken since it is framed otherwise, and before its trailers,
    // which are no part of the header (RFC 9110, 6.5.1).
    if (parser_->is_header_done() && !is_in_body) {
      judges_header = true;
      refusal_ = judge_(parser_->get().base());
      if (!refusal_) take_header();
    }
    if (error || used == 0) break;
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

void RequestReader::take_header() {
  const auto& header = parser_->get();
  request_.id = request_id_of(header["X-Request-ID"]);
  request_.verb = verb_of(header.method());
  request_.method = std::string(header.method_string());
  request_.target = std::string(header.target());
  request_.if_none_match = joined_lines(header, field::if_none_match);
  if (header.count("Idempotency-Key") > 0) {
    request_.idempotency_key = joined_lines(header, "Idempotency-Key");
  }
  request_.accepts_gzip = accepts_gzip(joined_lines(header, field::accept_encoding));
  keeps_alive_ = header.keep_alive();
}

Request RequestReader::take() {
  request_.body = std::move(parser_->get().body());
  return std::exchange(request_, Request());
}

}  // namespace iceblink::daemon::http
