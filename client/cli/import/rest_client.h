// Asks an Iceberg REST catalog: one GET at a time, with its token, and again where it is busy.
//
// Thread safety: one thread, but for stop().
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "client/cli/http_connection.h"
#include "client/cli/import/rest_source.h"

namespace iceblink::cli {

class RestClient {
 public:
  /// Errors: those of open_rest about its options.
  [[nodiscard]] static Result<std::unique_ptr<RestClient>> make(const RestOptions& options);

  /// The JSON object at `path`, which begins behind the URL. kNotFound, kNotAllowed, kUnsupported
  /// (405, 406, 501), kInvalidArgument (400), kInternal (any other status), kTooLarge,
  /// kIncompatible (no JSON object); kBusy, kTimedOut, kIo: the catalog is away.
  [[nodiscard]] Result<boost::json::object> get(const std::string& path);

  /// From any thread: what is asked for ends soon, and is not asked for again.
  void stop() noexcept;

 private:
  struct Url {
    bool is_tls = false;
    std::string host;
    std::string port;
    std::string path;  // without a slash at its end
  };
  static Result<Url> parse_url(const std::string& text);

  RestClient(Url url, std::string authorization, std::optional<TlsTrust> trust)
      : url_(std::move(url)), authorization_(std::move(authorization)), trust_(std::move(trust)) {}

  struct Answer {
    HttpHead head;
    std::string body;
  };
  [[nodiscard]] Result<Answer> ask(const HttpRequest& request);
  [[nodiscard]] Result<Answer> ask_patiently(const HttpRequest& request);
  void keep(std::unique_ptr<HttpConnection> connection);
  /// False where it was stopped meanwhile.
  [[nodiscard]] bool pause(std::chrono::milliseconds duration);

  const Url url_;
  const std::string authorization_;
  std::optional<TlsTrust> trust_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_stopped_ = false;                     // guarded by mutex_
  std::unique_ptr<HttpConnection> connection_;  // uses trust_; changed with mutex_ held
};

/// Percent-encoded but for what is unreserved.
[[nodiscard]] std::string url_encoded(std::string_view text);

}  // namespace iceblink::cli
