// The same protocol over TLS.
#include <gmock/gmock.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <thread>

#include "daemon/http/tls_context.h"
#include "tests/http/certificate.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using daemon::http::TlsContext;
using ::testing::HasSubstr;

const std::string kToken = "a-token-of-the-tests-0123456789";

void write_secret(const std::string& path, const std::string& text) {
  write_file(path, text);
  ::chmod(path.c_str(), 0600);
}

class Tls : public DaemonTest {
 protected:
  void SetUp() override { start(tls_settings()); }

  daemon::Settings tls_settings() {
    auto settings = settings_in(scratch());
    settings.listen = "127.0.0.1:0";
    settings.tls_certificate_file = scratch().path() + "/certificate.pem";
    settings.tls_key_file = scratch().path() + "/key.pem";
    write_file(settings.tls_certificate_file, made_.certificate_pem);
    write_secret(settings.tls_key_file, made_.key_pem);
    return settings;
  }
  HttpClient tls(const TlsOptions& options = {}) {
    return HttpClient::to_loopback_tls(daemon().tcp_port(), made_.certificate_pem, options);
  }
  HttpClient plain() { return HttpClient::to_loopback(daemon().tcp_port()); }
  /// The location of a table's metadata of so many bytes.
  void register_large_table(std::size_t bytes) {
    create_namespace(R"(["a"])");
    std::string large = table_metadata();
    large.insert(1, std::string(bytes, ' '));
    register_table("a", "t", write_metadata("large.json", large));
  }

 private:
  const Certificate made_ = make_certificate("catalog.test");
};

TEST_F(Tls, CarriesRequestsOneAfterAnother) {
  auto client = tls();
  ASSERT_TRUE(client.is_connected());
  EXPECT_EQ(client.certificate_name(), "catalog.test");
  EXPECT_EQ(client.post("/v1/namespaces", R"({"namespace":["a"]})").status, 200);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.get("/v1/namespaces/a").status, 200);
  client.send(HttpClient::text_of({.target = "/v1/namespaces/a"}) +
              HttpClient::text_of({.target = "/v1/namespaces/b"}));
  EXPECT_EQ(client.receive()->status, 200);
  EXPECT_EQ(client.receive()->status, 404);
  EXPECT_EQ(daemon().tcp_url(), "https://127.0.0.1:" + std::to_string(daemon().tcp_port()));
}

TEST_F(Tls, CarriesLargeBodiesBothWays) {
  register_large_table(5 << 20);
  auto client = tls();
  EXPECT_GT(client.get("/v1/namespaces/a/tables/t").body.size(), std::size_t{5} << 20);
  std::string body = R"({"namespace":["b"]})";
  body.insert(1, std::string(5 << 20, ' '));
  EXPECT_EQ(client.post("/v1/namespaces", body).status, 200);
  EXPECT_EQ(client.head("/v1/namespaces/b").status, 204);
}

TEST_F(Tls, EndsConnectionsInItsOwnWords) {
  auto client = tls();
  const auto last = client.request({.target = "/healthz", .headers = {"Connection: close"}});
  EXPECT_EQ(last.header("connection"), "close");
  EXPECT_TRUE(client.sees_end());
}

TEST_F(Tls, IsOfVersion12OrLater) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    auto client = tls({.version_max = version});
    ASSERT_TRUE(client.is_connected());
    EXPECT_EQ(client.tls_version(), version == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3");
    EXPECT_EQ(client.get("/healthz").status, 200);
  }
  EXPECT_FALSE(tls({.version_max = TLS1_1_VERSION}).is_connected());
}

TEST_F(Tls, IsNotSpokenByPlainHttp) {
  auto client = plain();
  client.send(HttpClient::text_of({.target = "/healthz"}));
  EXPECT_FALSE(client.receive().has_value());
  EXPECT_EQ(tls().get("/healthz").status, 200);
}

TEST_F(Tls, AnswersARefusalThatComesInTheMiddleOfABody) {
  auto settings = tls_settings();
  settings.body_bytes_max = 100'000;
  start(settings);
  auto client = tls();
  client.send("POST /v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" +
              std::string(200'000, ' '));
  const auto refused = client.receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 413);
  EXPECT_TRUE(client.sees_end());
}

TEST_F(Tls, FinishesTheRequestInHandWhenTheDaemonStops) {
  auto idle = tls();
  EXPECT_EQ(idle.get("/healthz").status, 200);
  auto shaking = plain();  // nothing of a handshake ever comes
  auto client = tls();
  client.send(
      "POST /v1/namespaces HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
      "Content-Length: 19\r\n\r\n");
  ASSERT_TRUE(client.receive_continue());
  std::thread stopping([this] { daemon().stop(); });
  EXPECT_FALSE(idle.receive().has_value());  // so the stop has begun
  client.send(R"({"namespace":["a"]})");
  const auto created = client.receive();
  EXPECT_TRUE(shaking.sees_end());
  client.close();
  stopping.join();
  ASSERT_TRUE(created.has_value());
  EXPECT_EQ(created->status, 200);
  EXPECT_EQ(created->header("connection"), "close");
}

TEST_F(Tls, ServesBeyondLoopbackWithAToken) {
  auto settings = tls_settings();
  settings.listen = "0.0.0.0:0";
  settings.token_file = scratch().path() + "/token";
  write_secret(settings.token_file, kToken);
  start(settings);
  auto client = tls();
  EXPECT_EQ(client.get("/v1/namespaces").status, 401);
  EXPECT_EQ(
      client.request({.target = "/v1/namespaces", .headers = {"Authorization: Bearer " + kToken}})
          .status,
      200);
}

class ImpatientTls : public Tls {
  void SetUp() override {
    auto settings = tls_settings();
    settings.idle_timeout = std::chrono::milliseconds(150);
    settings.request_timeout = std::chrono::milliseconds(150);
    settings.write_timeout = std::chrono::milliseconds(150);
    settings.http_threads = 1;
    start(settings);
  }
};

TEST_F(ImpatientTls, EndsHandshakesThatStall) {
  auto silent = plain();
  auto begun = plain();
  begun.send(std::string_view("\x16\x03\x01\x02\x00\x01", 6));  // of a ClientHello
  for (int i = 0; i < 20; ++i) EXPECT_EQ(tls().get("/healthz").status, 200);
  EXPECT_TRUE(silent.sees_end());
  EXPECT_TRUE(begun.sees_end());
}

TEST_F(ImpatientTls, EndsIdleConnectionsAndAnswersSlowRequests) {
  auto idle = tls();
  EXPECT_EQ(idle.get("/healthz").status, 200);
  auto slow = tls();
  slow.send("GET /healthz HTTP/1.1\r\nX: ");
  EXPECT_FALSE(idle.receive().has_value());
  const auto refused = slow.receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 408);
}

TEST_F(ImpatientTls, ClosesAClientThatDoesNotTakeItsAnswer) {
  register_large_table(8 << 20);
  auto client = tls();
  client.send(HttpClient::text_of({.target = "/v1/namespaces/a/tables/t"}));
  std::string metrics;
  for (int i = 0; i < 1'000'000; ++i) {
    metrics = connect().get("/metrics").body;
    if (metrics.find("\niceblink_http_connections_open 1\n") != std::string::npos) break;
  }
  EXPECT_THAT(metrics, HasSubstr("\niceblink_http_connections_open 1\n"));
  EXPECT_FALSE(client.receive().has_value());
}

class TlsFiles : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return scratch_.path() + "/" + name; }
  std::string message(const std::string& certificate, const std::string& key, mode_t mode = 0600) {
    write_file(path("c.pem"), certificate);
    write_file(path("k.pem"), key);
    ::chmod(path("k.pem").c_str(), mode);
    const auto made = TlsContext::of(path("c.pem"), path("k.pem"));
    return made ? "taken" : made.error().message();
  }

 private:
  ScratchDir scratch_;
};

std::string encrypted(const std::string& key_pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> in(
      ::BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())), ::BIO_free);
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
      ::PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr), ::EVP_PKEY_free);
  const std::unique_ptr<BIO, int (*)(BIO*)> out(::BIO_new(::BIO_s_mem()), ::BIO_free);
  const unsigned char password[] = "password";
  EXPECT_EQ(::PEM_write_bio_PrivateKey(out.get(), key.get(), ::EVP_aes_128_cbc(), password, 8,
                                       nullptr, nullptr),
            1);
  char* data = nullptr;
  const auto size = ::BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

TEST_F(TlsFiles, BelongToEachOtherAndOpenWithoutAPassword) {
  const auto one = make_certificate("one");
  const auto two = make_certificate("two");
  EXPECT_EQ(message(one.certificate_pem, one.key_pem), "taken");
  EXPECT_EQ(message(two.certificate_pem + one.certificate_pem, two.key_pem), "taken");
  EXPECT_THAT(message(one.certificate_pem, two.key_pem), HasSubstr(path("k.pem")));
  EXPECT_THAT(message(one.certificate_pem, encrypted(one.key_pem)), HasSubstr(path("k.pem")));
  EXPECT_THAT(message(one.certificate_pem, "no key"), HasSubstr(path("k.pem")));
  EXPECT_THAT(message("no certificate", one.key_pem), HasSubstr(path("c.pem")));
  EXPECT_THAT(message("", one.key_pem), HasSubstr(path("c.pem")));
  for (const mode_t mode : {0644u, 0640u}) {
    EXPECT_THAT(message(one.certificate_pem, one.key_pem, mode), HasSubstr("0600 or 0400"));
  }
  const auto missing = TlsContext::of(path("nowhere"), path("k.pem"));
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message(), HasSubstr("nowhere"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const auto fifo = TlsContext::of(path("fifo"), path("k.pem"));
  ASSERT_FALSE(fifo.ok());
  EXPECT_THAT(fifo.error().message(), HasSubstr("fifo': not a regular file"));
}

}  // namespace
}  // namespace iceblink::test
