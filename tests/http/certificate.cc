#include "tests/http/certificate.h"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

namespace iceblink::test {
namespace {

template <typename Write>
std::string pem_of(Write write) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(::BIO_new(::BIO_s_mem()), ::BIO_free);
  EXPECT_EQ(write(bio.get()), 1);
  char* data = nullptr;
  const auto size = ::BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

Certificate make_certificate(const std::string& name) {
  constexpr long kDaySeconds = 24L * 3600;
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(::EVP_EC_gen("P-256"), ::EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> made(::X509_new(), ::X509_free);
  ::X509_set_version(made.get(), X509_VERSION_3);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(made.get()), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(made.get()), -kDaySeconds);
  ::X509_gmtime_adj(::X509_getm_notAfter(made.get()), kDaySeconds);
  ::X509_set_pubkey(made.get(), key.get());
  X509_NAME* const subject = ::X509_get_subject_name(made.get());
  ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  ::X509_set_issuer_name(made.get(), subject);
  EXPECT_GT(::X509_sign(made.get(), key.get(), ::EVP_sha256()), 0);
  return {pem_of([&](BIO* bio) { return ::PEM_write_bio_X509(bio, made.get()); }),
          pem_of([&](BIO* bio) {
            return ::PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr,
                                              nullptr);
          })};
}

}  // namespace iceblink::test
