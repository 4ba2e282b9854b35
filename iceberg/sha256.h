// SHA-256 of bytes that come in parts. Who includes this links OpenSSL's libcrypto.
//
// Thread safety: one thread.
#pragma once

#include <openssl/evp.h>

#include <new>
#include <string>
#include <string_view>

#include "iceberg/hex.h"

namespace iceblink::iceberg {

class Sha256 {
 public:
  /// Throws std::bad_alloc.
  Sha256() : context_(EVP_MD_CTX_new()) {
    if (context_ == nullptr || EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) != 1) {
      EVP_MD_CTX_free(context_);
      throw std::bad_alloc();
    }
  }
  ~Sha256() { EVP_MD_CTX_free(context_); }
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes) { EVP_DigestUpdate(context_, bytes.data(), bytes.size()); }
  /// In hexadecimal digits. Once.
  [[nodiscard]] std::string hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context_, digest, &size);
    return to_hex({digest, size});
  }

 private:
  EVP_MD_CTX* const context_;
};

}  // namespace iceblink::iceberg
