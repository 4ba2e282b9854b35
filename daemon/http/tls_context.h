// A certificate and its key, ready for TLS: 1.2 and above, without renegotiation.
//
// Thread safety: immutable; streams may be made of one from any thread.
#pragma once

#include <iceblink/result.h>

#include <boost/asio/ssl/context.hpp>
#include <string>

namespace iceblink::daemon::http {

class TlsContext {
 public:
  /// PEM files: the certificate with its chain, and its key, which must be as read_secret_file asks
  /// for and not be encrypted. kInvalidArgument: one of them is not that, or they are not of each
  /// other.
  [[nodiscard]] static Result<TlsContext> of(const std::string& certificate_file,
                                             const std::string& key_file);

  /// For asio, whose streams take a reference that is not const, and change nothing.
  [[nodiscard]] boost::asio::ssl::context& for_stream() const { return context_; }

 private:
  TlsContext();

  mutable boost::asio::ssl::context context_;
};

}  // namespace iceblink::daemon::http
