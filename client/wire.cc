#include "client/wire.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <optional>

namespace iceblink::client {
namespace {

void append_encoded(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    const bool is_unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
                               c == '~';
    if (is_unreserved) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

// A segment of dots alone would be taken for a step in the path.
void append_segment(std::string& out, std::string_view text) {
  if (text == "." || text == "..") {
    for (std::size_t i = 0; i < text.size(); ++i) out += "%2E";
    return;
  }
  append_encoded(out, text);
}

std::string object_path(const TableIdent& ident, std::string_view collection) {
  std::string path = namespace_path(ident.levels);
  path += collection;
  append_segment(path, ident.name);
  return path;
}

struct TypeMeaning {
  std::string_view type;
  ErrorKind kind;
};
constexpr TypeMeaning kTypes[] = {
    {"NoSuchNamespaceException", ErrorKind::kNotFound},
    {"NoSuchTableException", ErrorKind::kNotFound},
    {"NoSuchViewException", ErrorKind::kNotFound},
    {"NotFoundException", ErrorKind::kNotFound},
    {"AlreadyExistsException", ErrorKind::kAlreadyExists},
    {"NamespaceNotEmptyException", ErrorKind::kNotEmpty},
    {"CommitFailedException", ErrorKind::kConflict},
    {"CommitStateUnknownException", ErrorKind::kStateUnknown},
    {"ForbiddenException", ErrorKind::kNotAllowed},
    {"GoneException", ErrorKind::kGone},
    {"InsufficientStorageException", ErrorKind::kNoSpace},
    {"ContentTooLargeException", ErrorKind::kTooLarge},
    {"SlowDownException", ErrorKind::kBusy},
    {"ServiceUnavailableException", ErrorKind::kBusy},
    {"UnsupportedOperationException", ErrorKind::kUnsupported},
    {"NoSuchEndpointException", ErrorKind::kUnsupported},
};

ErrorKind kind_of_status(unsigned status, Effect effect) {
  switch (status) {
    case 400:
    case 422:
      return ErrorKind::kInvalidArgument;
    case 401:
    case 403:
      return ErrorKind::kNotAllowed;
    case 404:
      return ErrorKind::kNotFound;
    case 405:
    case 406:
    case 501:
      return ErrorKind::kUnsupported;
    case 409:
      return ErrorKind::kConflict;
    case 410:
      return ErrorKind::kGone;
    case 413:
      return ErrorKind::kTooLarge;
    case 408:
      return ErrorKind::kTimedOut;  // the request did not arrive whole
    case 429:
    case 503:
      return ErrorKind::kBusy;
    case 507:
      return ErrorKind::kNoSpace;
    default:
      break;
  }
  if (effect == Effect::kWrite && status >= 500) return ErrorKind::kStateUnknown;
  return status == 504 ? ErrorKind::kTimedOut : ErrorKind::kInternal;
}

std::optional<std::string> string_member(const boost::json::object& object, const char* name) {
  const auto* member = object.if_contains(name);
  if (member == nullptr || !member->is_string()) return std::nullopt;
  return std::string(member->get_string());
}

}  // namespace

ErrorKind kind_of_read(unsigned status) noexcept {
  return kind_of_status(status, Effect::kRead);
}

std::string namespace_path(const Namespace& levels) {
  std::string path = "/v1/namespaces/";
  if (levels.size() == 1) {
    append_segment(path, levels.front());
    return path;
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i > 0) path += "%1F";
    append_encoded(path, levels[i]);
  }
  return path;
}

std::string table_path(const TableIdent& ident) {
  return object_path(ident, "/tables/");
}
std::string view_path(const TableIdent& ident) {
  return object_path(ident, "/views/");
}

void append_json_string(std::string& out, std::string_view text) {
  out += boost::json::serialize(boost::json::string_view(text.data(), text.size()));
}

void append_json_names(std::string& out, const std::vector<std::string>& names) {
  out += '[';
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, names[i]);
  }
  out += ']';
}

void append_json_properties(std::string& out, const Properties& properties) {
  out += '{';
  bool is_first = true;
  for (const auto& [key, value] : properties) {
    if (!is_first) out += ',';
    is_first = false;
    append_json_string(out, key);
    out += ':';
    append_json_string(out, value);
  }
  out += '}';
}

Error error_of(const Request& request, const Answer& answer) {
  std::string message;
  std::string type;
  boost::system::error_code failed;
  const auto body = boost::json::parse(answer.body, failed);
  if (!failed && body.is_object()) {
    const auto* error = body.get_object().if_contains("error");
    if (error != nullptr && error->is_object()) {
      message = string_member(error->get_object(), "message").value_or("");
      type = string_member(error->get_object(), "type").value_or("");
    }
  }
  if (message.empty()) {
    message = std::string(request.method) + " " + request.target + ": HTTP status " +
              std::to_string(answer.status);
  }
  for (const TypeMeaning& known : kTypes) {
    if (known.type == type) return {known.kind, std::move(message)};
  }
  return {kind_of_status(answer.status, request.effect), std::move(message)};
}

}  // namespace iceblink::client
