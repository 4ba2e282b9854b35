// One connection to a server on a Unix socket, one request at a time, as thin as it can be.
//
// Thread safety: belongs to one thread.
#pragma once

#include <string>
#include <string_view>

namespace iceblink::bench {

class HttpConnection {
 public:
  explicit HttpConnection(const std::string& socket_path);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// The whole answer, header and body; its begin must be `expected`, e.g. "HTTP/1.1 200". Lives
  /// until the next request.
  std::string_view request(std::string_view request, std::string_view expected);

  [[nodiscard]] static std::string get(std::string_view target, std::string_view more_fields = {});
  [[nodiscard]] static std::string head(std::string_view target);
  [[nodiscard]] static std::string post(std::string_view target, std::string_view body);

 private:
  const int fd_;
  std::string answer_;
};

}  // namespace iceblink::bench
