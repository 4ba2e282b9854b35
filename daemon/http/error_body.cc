#include "daemon/http/error_body.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <string>

namespace iceblink::daemon::http {
namespace {

constexpr unsigned kRetryAfterSeconds = 1;
/// A file is not there, which may be mended.
constexpr std::string_view kFileNotFound = "NotFoundException";
constexpr std::string_view kEllipsis = "…";

// Length of the well-formed UTF-8 sequence at the start of `text`; 0 when there is none.
std::size_t sequence_bytes(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  std::size_t size = 0;
  if (lead >= 0xc2 && lead <= 0xdf) size = 2;
  if (lead >= 0xe0 && lead <= 0xef) size = 3;
  if (lead >= 0xf0 && lead <= 0xf4) size = 4;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
  const bool not_scalar = (lead == 0xed && at(1) > 0x9f) || (lead == 0xf4 && at(1) > 0x8f);
  return overlong || not_scalar ? 0 : size;
}

// A broken name or a system's error text must not make the answer unreadable, nor a name of
// megabytes make it long: it is stored, too, where it is given under a key.
std::string shown(std::string_view text) {
  std::string out;
  out.reserve(std::min(text.size(), kMessageBytesMax));
  const bool is_cut = text.size() > kMessageBytesMax;
  const std::size_t bytes_max = kMessageBytesMax - (is_cut ? kEllipsis.size() : 0);
  while (!text.empty()) {
    const std::size_t size = sequence_bytes(text);
    const std::string_view next = size == 0 ? std::string_view("?") : text.substr(0, size);
    if (out.size() + next.size() > bytes_max) break;
    out += next;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  if (is_cut) out += kEllipsis;
  return out;
}

}  // namespace

RestError rest_error_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return {400, "IllegalArgumentException"};
    case ErrorKind::kNotFound:
      return {404, kFileNotFound};
    case ErrorKind::kAlreadyExists:
      return {409, "AlreadyExistsException"};
    case ErrorKind::kNotEmpty:
      return {409, "NamespaceNotEmptyException"};
    case ErrorKind::kConflict:
      return {409, "CommitFailedException"};
    case ErrorKind::kGone:
      return {410, "GoneException"};
    case ErrorKind::kStateUnknown:
      return {500, "CommitStateUnknownException"};
    case ErrorKind::kNotAllowed:
      return {403, "ForbiddenException"};
    case ErrorKind::kNoSpace:
      return {507, "InsufficientStorageException"};
    case ErrorKind::kTooLarge:
      return {413, "ContentTooLargeException"};
    case ErrorKind::kBusy:
      return {429, "SlowDownException"};
    case ErrorKind::kUnsupported:
      return {406, "UnsupportedOperationException"};
    case ErrorKind::kNoDaemon:  // it is stopping
      return {503, "ServiceUnavailableException"};
    case ErrorKind::kTimedOut:
      return {504, "TimeoutException"};
    case ErrorKind::kNoSegment:
    case ErrorKind::kIncompatible:
    case ErrorKind::kCorrupt:
    case ErrorKind::kOutOfMemory:
    case ErrorKind::kIo:
    case ErrorKind::kInternal:
      break;
  }
  return {500, "InternalServerError"};
}

RestError rest_error_of(const Refused& refused) noexcept {
  switch (refused.refusal) {
    case Refusal::kNoSuchNamespace:
      return {404, "NoSuchNamespaceException"};
    case Refusal::kNoSuchTable:
      return {404, "NoSuchTableException"};
    case Refusal::kNoSuchView:
      return {404, "NoSuchViewException"};
    case Refusal::kAlreadyExists:
      return {409, "AlreadyExistsException"};
    case Refusal::kNamespaceNotEmpty:
      return {409, "NamespaceNotEmptyException"};
    case Refusal::kCommitFailed:
    case Refusal::kStaleBase:
      return {409, "CommitFailedException"};
    case Refusal::kUnprocessable:
      return {422, "UnprocessableEntityException"};
    case Refusal::kNone:
      break;
  }
  // Clients read a 500 or 504 as "it may have been done". A refusal was not.
  if (refused.error.kind() == ErrorKind::kOutOfMemory) return rest_error_of(ErrorKind::kBusy);
  const RestError error = rest_error_of(refused.error.kind());
  const bool leaves_doubt = error.status == 500 || error.status == 504;
  return leaves_doubt ? rest_error_of(ErrorKind::kNoDaemon) : error;
}

Response error_response(RestError error, std::string_view message) {
  std::string text = shown(message);
  std::string body = R"({"error":{"message":)";
  body += boost::json::serialize(boost::json::string_view(text));
  body += R"(,"type":")";
  body += error.type;
  body += R"(","code":)";
  body += std::to_string(error.status);
  body += "}}";
  Response response = json_response(std::move(body));
  response.status = error.status;
  response.error_type = error.type;
  response.error_message = std::move(text);
  response.is_final = error.type != kFileNotFound;
  if (error.status == 401) response.challenge = "Bearer";
  if (error.status == 401 || error.status == 403) response.refusal = shown(message);
  if (error.status == 429 || error.status == 503) response.retry_after_s = kRetryAfterSeconds;
  return response;
}

Response error_response(const Error& error) {
  return error_response(rest_error_of(error.kind()), error.message());
}

Response error_response(const Refused& refused) {
  return error_response(rest_error_of(refused), refused.error.message());
}

Response commit_refusal_response(const Refused& refused) {
  const RestError error = rest_error_of(refused);
  return error_response(error.status >= 500 ? rest_error_of(ErrorKind::kBusy) : error,
                        refused.error.message());
}

Response refusal_response(const Error& error) {
  return commit_refusal_response({Refusal::kNone, error});
}

}  // namespace iceblink::daemon::http
