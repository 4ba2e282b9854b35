#include "client/cli/import/rest_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/url/parse.hpp>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <utility>

#include "client/wire.h"
#include "shm/file_mapping.h"

namespace iceblink::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Of one answer: a table's metadata may be large, and as JSON takes some times as much.
constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;
constexpr std::size_t kTokenBytesMax = 64 * 1024;
constexpr std::size_t kJsonDepthMax = 512;
constexpr int kTriesMax = 6;
constexpr seconds kRetryAfterMax{30};

Result<std::string> read_token(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return shm::system_error(path, errno != 0 ? errno : EIO);
  std::string token(kTokenBytesMax + 1, '\0');
  file.read(token.data(), static_cast<std::streamsize>(token.size()));
  token.resize(static_cast<std::size_t>(file.gcount()));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' ')) {
    token.pop_back();
  }
  const bool is_text =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
  if (token.empty() || token.size() > kTokenBytesMax || !is_text) {
    return {ErrorKind::kInvalidArgument, path + ": holds no token, one line of visible ASCII"};
  }
  return token;
}

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  // As an address: a name may begin like one.
  in6_addr v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  in_addr v4{};
  return ::inet_pton(AF_INET, host.c_str(), &v4) == 1 && ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
}

/// What the answer says went wrong, shortened.
std::string message_of(const std::string& body) {
  constexpr std::size_t kShownBytesMax = 300;
  boost::system::error_code failed;
  const auto value = boost::json::parse(body, failed);
  if (failed || !value.is_object()) return {};
  const auto* const error = value.get_object().if_contains("error");
  if (error == nullptr || !error->is_object()) return {};
  const auto* const message = error->get_object().if_contains("message");
  if (message == nullptr || !message->is_string()) return {};
  return ": " + std::string(message->get_string()).substr(0, kShownBytesMax);
}

milliseconds pause_of(const HttpHead& head, int tries) {
  const milliseconds usual{100 << tries};
  const auto field = head.field("Retry-After");
  unsigned after_s = 0;
  if (!field) return usual;
  const auto parsed = std::from_chars(field->data(), field->data() + field->size(), after_s);
  if (parsed.ec != std::errc{}) return usual;
  return std::max(usual, milliseconds(std::min(seconds(after_s), kRetryAfterMax)));
}

}  // namespace

std::string url_encoded(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool is_unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
                               c == '~';
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved) {
      out += c;
    } else {
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

Result<RestClient::Url> RestClient::parse_url(const std::string& text) {
  // Not shown: it may hold a password.
  const Error bad(ErrorKind::kInvalidArgument,
                  "URL is not of the form http[s]://HOST[:PORT][/PATH], without /v1");
  const auto parsed = boost::urls::parse_uri(text);
  if (parsed.has_error()) return bad;
  const auto& view = *parsed;
  Url url;
  url.is_tls = view.scheme() == "https";
  if ((!url.is_tls && view.scheme() != "http") || view.has_userinfo() || view.has_query() ||
      view.has_fragment() || view.encoded_host().empty()) {
    return bad;
  }
  url.host = std::string(view.host_address());
  url.port = view.port().empty() ? (url.is_tls ? "443" : "80") : std::string(view.port());
  url.path = std::string(view.encoded_path());
  // A host that begins like an address is taken apart by the parser, and not all of it is told.
  const std::string authority(view.encoded_authority());
  const bool is_whole = std::string(view.scheme()) + "://" + authority + url.path == text;
  if (!is_whole || (!url.path.empty() && !url.path.starts_with('/'))) return bad;
  while (!url.path.empty() && url.path.back() == '/') url.path.pop_back();
  return url;
}

Result<std::unique_ptr<RestClient>> RestClient::make(const RestOptions& options) {
  ICEBLINK_ASSIGN_OR_RETURN(Url url, parse_url(options.url));
  std::string authorization;
  if (options.token_file) {
    if (!url.is_tls && !is_loopback(url.host)) {
      return {ErrorKind::kInvalidArgument,
              "a token is not sent over http:// to another host; use https://"};
    }
    ICEBLINK_ASSIGN_OR_RETURN(const std::string token, read_token(*options.token_file));
    authorization = "Bearer " + token;
  }
  std::optional<TlsTrust> trust;
  if (url.is_tls) {
    auto made = TlsTrust::of(options.ca_file);
    if (!made) return made.error();
    trust.emplace(std::move(*made));
  }
  return std::unique_ptr<RestClient>(
      new RestClient(std::move(url), std::move(authorization), std::move(trust)));
}

// On a kept connection that turns out closed: again, on a new one.
Result<RestClient::Answer> RestClient::ask(const HttpRequest& request) {
  while (true) {
    const bool is_reused = connection_ != nullptr;
    if (!is_reused) {
      ICEBLINK_ASSIGN_OR_RETURN(
          auto made,
          HttpConnection::open_tcp(url_.host, url_.port, trust_ ? &*trust_ : nullptr, {}));
      keep(std::move(made));
    }
    Answer answer;
    auto head = connection_->exchange(
        request, [&](const HttpHead&) { return into(answer.body, kBodyBytesMax, request.target); });
    if (!head || !connection_->may_go_on()) keep(nullptr);
    if (head) {
      answer.head = std::move(*head);
      return answer;
    }
    if (!is_reused || head.error().kind() != ErrorKind::kIo) return head.error();
  }
}

void RestClient::keep(std::unique_ptr<HttpConnection> connection) {
  const std::lock_guard lock(mutex_);
  connection_ = std::move(connection);
  if (connection_ && is_stopped_) connection_->stop();
}

bool RestClient::pause(milliseconds duration) {
  std::unique_lock lock(mutex_);
  return !stopped_.wait_for(lock, duration, [this] { return is_stopped_; });
}

void RestClient::stop() noexcept {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  if (connection_) connection_->stop();
  stopped_.notify_all();
}

Result<RestClient::Answer> RestClient::ask_patiently(const HttpRequest& request) {
  for (int tries = 1;; ++tries) {
    auto answer = ask(request);
    const bool is_busy = answer && client::kind_of_read(answer->head.status) == ErrorKind::kBusy;
    const bool is_away = !answer && (answer.error().kind() == ErrorKind::kIo ||
                                     answer.error().kind() == ErrorKind::kTimedOut);
    if ((!is_busy && !is_away) || tries == kTriesMax) return answer;
    if (!pause(pause_of(is_busy ? answer->head : HttpHead{}, tries))) return answer;
  }
}

Result<boost::json::object> RestClient::get(const std::string& path) {
  HttpRequest request;
  request.target = url_.path + path;
  const bool is_v6 = url_.host.find(':') != std::string::npos;
  request.host = (is_v6 ? "[" + url_.host + "]" : url_.host) + ":" + url_.port;
  request.authorization = authorization_;
  ICEBLINK_ASSIGN_OR_RETURN(const Answer answer, ask_patiently(request));
  const std::string what = "GET " + request.target;
  const unsigned status = answer.head.status;
  if (status / 100 == 3) {
    return {ErrorKind::kIo, what + ": HTTP status " + std::to_string(status) +
                                ": a redirect, which is not followed"};
  }
  if (status != 200) {
    return {client::kind_of_read(status),
            what + ": HTTP status " + std::to_string(status) + message_of(answer.body)};
  }
  boost::json::parse_options options;
  options.max_depth = kJsonDepthMax;
  boost::system::error_code failed;
  auto value = boost::json::parse(answer.body, failed, {}, options);
  if (failed || !value.is_object()) {
    return {ErrorKind::kIncompatible, what + ": the answer is not a JSON object"};
  }
  return std::move(value.get_object());
}

}  // namespace iceblink::cli
