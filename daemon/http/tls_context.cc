#include "daemon/http/tls_context.h"

#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>

#include "daemon/regular_file.h"
#include "daemon/secret_file.h"

namespace iceblink::daemon::http {
namespace {

namespace asio = boost::asio;
using asio::ssl::context;
using boost::system::error_code;

constexpr std::size_t kPemBytesMax = std::size_t{1} << 20;

Error bad_file(const char* setting, const std::string& path, const error_code& error) {
  return {ErrorKind::kInvalidArgument,
          std::string(setting) + " '" + path + "': not usable: " + error.message()};
}

// Not by its name: OpenSSL would wait for a FIFO.
Status use_certificates(context& tls, const std::string& path) {
  ICEBLINK_ASSIGN_OR_RETURN(
      const std::string pem,
      read_regular_file(path, "tls-certificate-file '" + path + "': ", kPemBytesMax));
  error_code error;
  tls.use_certificate_chain(asio::buffer(pem), error);
  if (error) return bad_file("tls-certificate-file", path, error);
  return Ok{};
}

Status use_key(context& tls, const std::string& path) {
  ICEBLINK_ASSIGN_OR_RETURN(std::string pem, read_secret_file(path, "tls-key-file", kPemBytesMax));
  error_code error;
  tls.use_private_key(asio::buffer(pem), context::pem, error);
  OPENSSL_cleanse(pem.data(), pem.size());
  if (error) return bad_file("tls-key-file", path, error);
  return Ok{};
}

}  // namespace

TlsContext::TlsContext() : context_(context::tls_server) {}

Result<TlsContext> TlsContext::of(const std::string& certificate_file,
                                  const std::string& key_file) {
  TlsContext made;
  context& tls = made.context_;
  SSL_CTX* const native = tls.native_handle();
  ::SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  ::SSL_CTX_set_options(
      native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  error_code error;
  // An encrypted key is refused instead of asking a terminal for its password.
  tls.set_password_callback([](std::size_t, context::password_purpose) { return std::string(); },
                            error);
  if (error) return {ErrorKind::kInternal, "tls: " + error.message()};
  ICEBLINK_RETURN_IF_ERROR(use_certificates(tls, certificate_file));
  ICEBLINK_RETURN_IF_ERROR(use_key(tls, key_file));
  if (::SSL_CTX_check_private_key(native) != 1) {
    return {ErrorKind::kInvalidArgument, "tls-key-file '" + key_file +
                                             "': not the key of tls-certificate-file '" +
                                             certificate_file + "'"};
  }
  return made;
}

}  // namespace iceblink::daemon::http
