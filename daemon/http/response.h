// One answer, and its head as bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iceblink::daemon::http {

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kBytes = "application/octet-stream";
inline constexpr std::string_view kPlainText = "text/plain; version=0.0.4; charset=utf-8";

/// The bytes of a file as a body: read as they are sent.
struct FileBody {
  int fd = -1;  // owned by `holder`
  std::uint64_t bytes = 0;
  std::shared_ptr<const void> holder;
};

/// A piece of a body: of this answer alone, or one that others read, too.
class BodyPart {
 public:
  // Both implicit: a body is mostly given as a string.
  BodyPart(std::string text) : own_(std::move(text)) {}
  /// Not null.
  BodyPart(std::shared_ptr<const std::string> text) : shared_(std::move(text)) {}

  [[nodiscard]] std::string_view text() const noexcept { return shared_ ? *shared_ : own_; }

 private:
  std::string own_;
  std::shared_ptr<const std::string> shared_;
};

/// An answer. Its header fields are named members, so that no client's text can become a header.
struct Response {
  unsigned status = 204;
  std::string_view content_type;  // static storage; empty when there is no body
  std::vector<BodyPart> parts;    // of the body, sent one after another without a copy
  std::optional<FileBody> file;   // the body, in place of parts
  bool is_gzip = false;           // the parts are one gzip member
  std::string etag;               // with its quotes
  std::string allow;              // of a 405
  std::string_view challenge;     // WWW-Authenticate of a 401; static storage
  std::string refusal;            // of a 401 and 403: why, for the log
  std::optional<unsigned> retry_after_s;
  std::optional<std::uint64_t> generation;  // Iceblink-Generation
  std::string checksum;                     // Iceblink-Checksum: ALGORITHM=HEX, of the body
  bool closes = false;                      // the connection ends after this answer
  // Of an error, for logs and metrics.
  std::string_view error_type;  // static storage
  std::string error_message;
  bool is_logged = false;  // a line of its own has said it
  bool is_final = true;    // false: what it says may be otherwise when the request comes again

  /// In memory: a file's are not.
  [[nodiscard]] std::size_t body_bytes() const noexcept;
  [[nodiscard]] std::uint64_t content_length() const noexcept {
    return file ? file->bytes : body_bytes();
  }
};

/// 200 with a JSON body.
[[nodiscard]] Response json_response(std::string body);

/// How the connection goes on, as far as the head says so.
struct HeadOptions {
  unsigned http_minor = 1;  // of the request: a 1.0 client must be told of keep-alive
  bool keeps_alive = true;
  std::string_view request_id = {};  // X-Request-ID; visible ASCII
};

/// Status line and header fields, the empty line included. A status that has no body (204, 304)
/// gets no Content-Length.
[[nodiscard]] std::string head_of(const Response& response, HeadOptions options);

}  // namespace iceblink::daemon::http
