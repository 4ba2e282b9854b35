// Cuts what a connection sends into requests, within limits.
//
// Thread safety: one thread at a time.
//
// Invariants:
//  - What is held of one request is at most the body's limit, twice the header's, and one read:
//    chunk headers and trailers are held whole while they are incomplete, and count as header.
//  - What a request comes to does not hang on the pieces that it comes in.
//  - Trailers are read and let go: they are no fields of the header (RFC 9110, 6.5.1).
//  - The parser is made anew for every request; the buffer keeps what came early.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "daemon/http/header_rules.h"
#include "daemon/http/request.h"

namespace iceblink::daemon::http {

class RequestReader {
 public:
  enum class Step : std::uint8_t { kNeedsMore, kExpectsContinue, kDone, kRefused };

  /// Why a request is refused by its header; called once each, as soon as that is complete.
  using JudgeHeader =
      std::function<std::optional<RequestRefusal>(const boost::beast::http::request_header<>&)>;

  RequestReader(JudgeHeader judge, std::uint32_t header_bytes_max);

  void begin(std::uint64_t body_bytes_max);
  /// Where the next bytes go.
  [[nodiscard]] boost::asio::mutable_buffer room();
  void fill(std::size_t bytes);
  /// Where bytes go that nobody will look at.
  [[nodiscard]] boost::asio::mutable_buffer room_to_discard();

  /// After kRefused: refusal().
  [[nodiscard]] Step parse();
  [[nodiscard]] const RequestRefusal& refusal() const { return *refusal_; }

  /// A byte of the request has come; empty lines before it are none (RFC 9112, 2.2).
  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  /// The body's size as far as it is known: announced, or received.
  [[nodiscard]] std::uint64_t body_bytes() const;
  [[nodiscard]] bool is_head() const;
  /// Once the header is complete; empty before.
  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] std::string_view target() const;
  [[nodiscard]] bool keeps_alive() const noexcept { return keeps_alive_; }
  [[nodiscard]] unsigned http_minor() const { return parser_->get().version() % 10; }
  /// After kDone.
  [[nodiscard]] Request take();

 private:
  void skip_empty_lines();
  /// What the header says, before trailers stand among its fields.
  void take_header();
  [[nodiscard]] std::optional<RequestRefusal> refusal_of(const boost::system::error_code& error);

  const JudgeHeader judge_;
  const std::uint32_t header_bytes_max_;
  std::uint64_t body_bytes_max_ = 0;  // of the request in hand
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::optional<RequestRefusal> refusal_;
  Request request_;  // but for its body
  bool has_begun_ = false;
  bool keeps_alive_ = false;
};

}  // namespace iceblink::daemon::http
