// Tokens over TCP: files that hold them, and requests that bring them.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/http/bearer_token.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using daemon::http::bearer_token_in;
using daemon::http::BearerToken;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kToken = "a-token-of-the-tests-0123456789";

class TokenFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return scratch_.path() + "/token"; }
  void write(const std::string& text, mode_t mode = 0600) const {
    write_file(path(), text);
    ::chmod(path().c_str(), mode);
  }
  [[nodiscard]] std::string message() const {
    const auto token = BearerToken::from_file(path());
    return token ? "taken" : token.error().message();
  }

 private:
  ScratchDir scratch_;
};

TEST_F(TokenFile, IsOneLineThatNobodyElseCanRead) {
  for (const mode_t mode : {0600u, 0400u}) {
    write(kToken + "\n", mode);
    const auto token = BearerToken::from_file(path());
    ASSERT_TRUE(token.ok()) << token.error().message();
    EXPECT_TRUE(token->is(kToken));
    EXPECT_FALSE(token->is(kToken + "\n"));
    ::unlink(path().c_str());
  }
  for (const mode_t mode : {0640u, 0604u, 0620u, 0601u, 0644u, 0777u}) {
    write(kToken, mode);
    EXPECT_THAT(message(), HasSubstr("it must be 0600 or 0400")) << mode;
    EXPECT_THAT(message(), HasSubstr(path()));
  }
}

TEST_F(TokenFile, BelongsToRootOrToTheDaemon) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  write(kToken);
  ASSERT_EQ(::chown(path().c_str(), 420'001, 0), 0);
  EXPECT_THAT(message(), HasSubstr("belongs to uid 420001"));
}

TEST_F(TokenFile, IsARegularFile) {
  EXPECT_THAT(message(), HasSubstr("No such file"));
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(message(), HasSubstr("not a regular file"));
  ::unlink(path().c_str());
  ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
  EXPECT_THAT(message(), HasSubstr("not a regular file"));
  ::rmdir(path().c_str());
}

TEST_F(TokenFile, HoldsFrom16To4096BytesThatAreText) {
  write(std::string(16, 'x') + "\n");
  EXPECT_EQ(message(), "taken");
  write(std::string(4096, 'x') + "\n");
  EXPECT_EQ(message(), "taken");
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string(15, 'x') + "\n", std::string(4097, 'x')}) {
    write(bad);
    EXPECT_THAT(message(), HasSubstr("it must have 16 to 4096")) << bad.size();
  }
  write(std::string(5000, 'x'));
  EXPECT_THAT(message(), HasSubstr("larger than"));
  const std::string secret = "unspeakable-words";
  for (const std::string& bad :
       {secret + "\n\n", secret + "\r\n", secret + " " + secret, secret + std::string(1, '\0'),
        secret + "\x7f", secret + "\xc3\xa9"}) {
    write(bad);
    EXPECT_THAT(message(), HasSubstr("no control character"));
    EXPECT_THAT(message(), Not(HasSubstr("unspeakable")));
  }
}

TEST(BearerToken, StandsBehindItsSchemeHoweverThatIsSpelled) {
  for (const char* field : {"Bearer abc", "bearer abc", "BEARER   abc", "  Bearer abc  "}) {
    EXPECT_EQ(bearer_token_in(field), "abc") << field;
  }
  for (const char* field : {"", "Bearer", "Bearer ", "Bearerabc", "Basic abc", "abc"}) {
    EXPECT_EQ(bearer_token_in(field), "") << field;
  }
}

class GuardedTcp : public DaemonTest {
 protected:
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.listen = "127.0.0.1:0";
    settings.token_file = scratch().path() + "/token";
    write_file(settings.token_file, kToken + "\n");
    ::chmod(settings.token_file.c_str(), 0600);
    start(settings);
  }
  HttpClient tcp() { return HttpClient::to_loopback(daemon().tcp_port()); }
  HttpResponse get(std::vector<std::string> headers, const std::string& target = "/v1/namespaces") {
    return tcp().request({.target = target, .headers = std::move(headers)});
  }
};

TEST_F(GuardedTcp, ServesWhoBringsTheToken) {
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER "}) {
    EXPECT_EQ(get({std::string("Authorization: ") + scheme + kToken}).status, 200) << scheme;
  }
  auto client = tcp();
  const std::vector<std::string> headers{"Authorization: Bearer " + kToken};
  const auto made = client.request({.verb = "POST",
                                    .target = "/v1/namespaces",
                                    .body = R"({"namespace":["a"]})",
                                    .headers = headers});
  EXPECT_EQ(made.status, 200);
  EXPECT_EQ(client.request({.target = "/v1/namespaces/a", .headers = headers}).status, 200);
  EXPECT_EQ(client.get("/v1/namespaces/a").status, 401);  // each request brings it
}

TEST_F(GuardedTcp, RefusesEveryoneElse) {
  const std::vector<std::vector<std::string>> bad = {
      {},
      {"Authorization: Bearer wrong-token-of-the-tests-01234567"},
      {"Authorization: Bearer " + kToken.substr(0, kToken.size() - 1)},
      {"Authorization: Bearer " + kToken + "0"},
      {"Authorization: Bearer " + kToken + " " + kToken},
      {"Authorization: Bearer A" + kToken.substr(1)},
      {"Authorization: Bearer"},
      {"Authorization: " + kToken},
      {"Authorization: Basic " + kToken},
      {"Authorization: Bearer " + kToken, "Authorization: Bearer " + kToken},
      {"X-Authorization: Bearer " + kToken},
  };
  for (const auto& headers : bad) {
    const auto refused = get(headers);
    EXPECT_EQ(refused.status, 401) << (headers.empty() ? "" : headers.front());
    EXPECT_EQ(refused.header("www-authenticate"), "Bearer");
    EXPECT_EQ(refused.error_type(), "NotAuthorizedException");
    EXPECT_THAT(refused.body, Not(HasSubstr(kToken)));
  }
  EXPECT_EQ(get({}, "/metrics").status, 401);
  EXPECT_EQ(get({}, "/no/such/path").status, 401);
  EXPECT_EQ(get({}, "/healthz").status, 200);
  EXPECT_EQ(get({}, "/readyz").status, 200);
  const HttpRequest creation{
      .verb = "POST", .target = "/v1/namespaces", .body = R"({"namespace":["a"]})"};
  EXPECT_EQ(tcp().request(creation).status, 401);
  EXPECT_EQ(connect().head("/v1/namespaces/a").status, 404);
}

TEST_F(GuardedTcp, ServesOtherHostsNamesToo) {
  auto client = tcp();
  client.send(
      "GET /v1/namespaces HTTP/1.1\r\nHost: catalog.example:8181\r\nAuthorization: Bearer " +
      kToken + "\r\n\r\n");
  EXPECT_EQ(client.receive()->status, 200);
}

TEST_F(GuardedTcp, KeepsItsTokenToItself) {
  EXPECT_THAT(connect().get("/metrics").body, Not(HasSubstr(kToken)));
  EXPECT_THAT(connect().get("/v1/config").body, Not(HasSubstr(kToken)));
}

TEST_F(GuardedTcp, DoesNotStartWithATokenThatOthersCanRead) {
  auto settings = settings_in(scratch());
  settings.token_file = scratch().path() + "/token";
  ::chmod(settings.token_file.c_str(), 0644);
  const auto refused = daemon::Instance::start(settings);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(refused.error().message(), HasSubstr("has mode 0644"));
}

TEST_F(GuardedTcp, DoesNotStartBeyondLoopbackWithoutTls) {
  auto settings = settings_in(scratch());
  settings.token_file = scratch().path() + "/token";
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:80"}) {
    settings.listen = address;
    const auto refused = daemon::Instance::start(settings);
    ASSERT_FALSE(refused.ok()) << address;
    EXPECT_THAT(refused.error().message(),
                HasSubstr("it needs tls-certificate-file and tls-key-file"));
  }
}

}  // namespace
}  // namespace iceblink::test
