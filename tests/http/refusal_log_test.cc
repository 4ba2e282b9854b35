// What a log says of those who were refused: one line each, and no secret.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/http/certificate.h"
#include "tests/http/child_daemon.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kToken = "a-token-of-the-tests-0123456789";

class RefusalLog : public ::testing::Test {
 protected:
  RefusalLog() {
    write_file(path("token"), kToken + "\n");
    ::chmod(path("token").c_str(), 0600);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return scratch_.path() + "/" + name;
  }
  [[nodiscard]] ChildOptions options(const std::vector<std::string>& more) const {
    ChildOptions options;
    options.arguments = {"--runtime-dir", path("main"), "--data-dir",  path("data"),  "--map-bytes",
                         "67108864",      "--listen",   "127.0.0.1:0", "--log-level", "trace"};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    return options;
  }
  /// The port behind the last colon of the ready line.
  static std::uint16_t port_of(const std::string& ready) {
    return static_cast<std::uint16_t>(std::stoi(ready.substr(ready.rfind(':') + 1)));
  }
  /// Stops it, and gives the lines that have `text`.
  static std::vector<std::string> lines_with(ChildDaemon& child, const std::string& text) {
    child.signal(SIGTERM);
    EXPECT_EQ(child.wait(), 0);
    std::istringstream log(child.errors());
    std::vector<std::string> found;
    for (std::string line; std::getline(log, line);) {
      EXPECT_THAT(line, Not(HasSubstr(kToken)));
      if (line.find(text) != std::string::npos) found.push_back(line);
    }
    return found;
  }

  ScratchDir scratch_;
};

TEST_F(RefusalLog, HasOneLineForEachRequestWithoutTheToken) {
  ChildDaemon child(options({"--token-file", path("token")}));
  const auto ready = child.read_line();
  ASSERT_TRUE(ready.has_value());
  EXPECT_THAT(*ready, HasSubstr(" tables, http://127.0.0.1:"));
  auto client = HttpClient::to_loopback(port_of(*ready));
  EXPECT_EQ(client.get("/v1/namespaces?secret=1").status, 401);
  EXPECT_EQ(client.request({.target = "/v1/config", .headers = {"Authorization: Bearer " + kToken}})
                .status,
            200);
  EXPECT_EQ(
      client.request({.target = "/v1/config", .headers = {"Authorization: Bearer x" + kToken}})
          .status,
      401);
  EXPECT_EQ(client.post("/v1/namespaces", R"({"namespace":["a"]})").status, 401);
  EXPECT_THAT(lines_with(child, "request refused"),
              ElementsAre(AllOf(HasSubstr("[warning]"), HasSubstr("peer=127.0.0.1:"),
                                HasSubstr("method=GET path=/v1/namespaces status=401"),
                                HasSubstr("reason=\"the bearer token"), Not(HasSubstr("secret"))),
                          HasSubstr("method=GET path=/v1/config status=401"),
                          HasSubstr("method=POST path=/v1/namespaces status=401")));
}

TEST_F(RefusalLog, DoesNotGrowAsAFloodDoesAndHidesNothingOfTheSocket) {
  ChildOptions quiet = options({"--token-file", path("token"), "--read-roots", path("in")});
  // Nobody reads the log meanwhile.
  std::ranges::replace(quiet.arguments, std::string("trace"), std::string("info"));
  ChildDaemon child(quiet);
  const auto ready = child.read_line();
  ASSERT_TRUE(ready.has_value());
  constexpr int kFlood = 2000;
  auto stranger = HttpClient::to_loopback(port_of(*ready));
  const std::string long_path = "/v1/" + std::string(2000, 'x');
  for (int i = 0; i < kFlood; ++i) EXPECT_EQ(stranger.get(long_path).status, 401);
  auto client = HttpClient::to_unix(path("main/catalog.sock"));
  EXPECT_EQ(client.post("/v1/namespaces", R"({"namespace":["a"]})").status, 200);
  EXPECT_EQ(
      client.post("/v1/namespaces/a/register", R"({"name":"t","metadata-location":"/etc/passwd"})")
          .status,
      403);
  const auto lines = lines_with(child, "request refused");
  EXPECT_LT(lines.size(), kFlood / 4);
  for (const auto& line : lines) EXPECT_LT(line.size(), 600u);
  EXPECT_THAT(lines.back(), AllOf(HasSubstr("/etc/passwd"), HasSubstr(" left_out=0")));
}

TEST_F(RefusalLog, HasOneLineForEachLocationOutside) {
  ChildDaemon child(options({"--read-roots", path("in")}));
  ASSERT_TRUE(child.read_line().has_value());
  auto client = HttpClient::to_unix(path("main/catalog.sock"));
  EXPECT_EQ(client.post("/v1/namespaces", R"({"namespace":["a"]})").status, 200);
  EXPECT_EQ(
      client.post("/v1/namespaces/a/register", R"({"name":"t","metadata-location":"/etc/passwd"})")
          .status,
      403);
  EXPECT_EQ(client
                .post("/v1/namespaces/a/tables",
                      R"({"name":"t","location":"/elsewhere/t","schema":{"type":"struct",)"
                      R"("fields":[{"id":1,"name":"x","type":"long","required":false}]}})")
                .status,
            403);
  EXPECT_THAT(lines_with(child, "request refused"),
              ElementsAre(AllOf(HasSubstr("/etc/passwd"), HasSubstr("status=403"),
                                HasSubstr("peer=\"uid=" + std::to_string(::geteuid()) +
                                          " pid=" + std::to_string(::getpid()) + "\"")),
                          AllOf(HasSubstr("/elsewhere/t"), HasSubstr("status=403"))));
}

TEST_F(RefusalLog, HasOneLineForOtherHostsNamesAndForOtherUsers) {
  ChildDaemon child(options({"--readers", "420001"}));
  const auto ready = child.read_line();
  ASSERT_TRUE(ready.has_value());
  auto stranger = HttpClient::to_loopback(port_of(*ready));
  stranger.send("GET /v1/config HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(stranger.receive()->status, 403);
  std::size_t count = 1;
  if (::geteuid() == 0) {
    ::chmod(scratch_.path().c_str(), 0755);
    ::chmod(path("main").c_str(), 0755);
    ::chmod(path("main/catalog.sock").c_str(), 0666);
    auto reader = HttpClient::to_unix_as(path("main/catalog.sock"), {.uid = 420'001});
    EXPECT_EQ(reader.get("/v1/config").status, 200);
    EXPECT_EQ(reader.post("/v1/namespaces", R"({"namespace":["a"]})").status, 403);
    count = 2;
  }
  const auto lines = lines_with(child, "request refused");
  ASSERT_EQ(lines.size(), count);
  EXPECT_THAT(lines[0], HasSubstr("evil.example"));
  if (count == 2) {
    EXPECT_THAT(lines[1], HasSubstr("uid 420001 may not write"));
  }
}

TEST_F(RefusalLog, WarnsOnceOfTcpWithoutAToken) {
  ChildDaemon open(options({}));
  ASSERT_TRUE(open.read_line().has_value());
  EXPECT_EQ(lines_with(open, "without a token").size(), 1u);
  ChildDaemon guarded(options({"--token-file", path("token")}));
  ASSERT_TRUE(guarded.read_line().has_value());
  EXPECT_THAT(lines_with(guarded, "without a token"), IsEmpty());
}

TEST_F(RefusalLog, SaysWhoSpokePlainHttpToTls) {
  const auto made = make_certificate("catalog.test");
  write_file(path("c.pem"), made.certificate_pem);
  write_file(path("k.pem"), made.key_pem);
  ::chmod(path("k.pem").c_str(), 0600);
  ChildDaemon child(
      options({"--tls-certificate-file", path("c.pem"), "--tls-key-file", path("k.pem")}));
  const auto ready = child.read_line();
  ASSERT_TRUE(ready.has_value());
  EXPECT_THAT(*ready, HasSubstr(", https://127.0.0.1:"));
  auto plain = HttpClient::to_loopback(port_of(*ready));
  plain.send(HttpClient::text_of({.target = "/healthz"}));
  EXPECT_FALSE(plain.receive().has_value());
  EXPECT_TRUE(HttpClient::to_loopback_tls(port_of(*ready), made.certificate_pem).is_connected());
  EXPECT_THAT(lines_with(child, "handshake failed"),
              ElementsAre(AllOf(HasSubstr("reason="), HasSubstr("peer=127.0.0.1:"))));
}

}  // namespace
}  // namespace iceblink::test
