// SIGHUP: what takes effect at once, what waits for a restart, and what changes nothing.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <sstream>

#include "tests/http/certificate.h"
#include "tests/http/child_daemon.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

const std::string kFirstToken = "first-token-0123456789";
const std::string kSecondToken = "second-token-0123456789";

/// $NOTIFY_SOCKET, read.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    constexpr timeval kWatchdog{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kWatchdog, sizeof(kWatchdog));
  }
  ~NotifySocket() { ::close(fd_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  std::string next() {
    char message[256] = {};
    return ::recv(fd_, message, sizeof(message) - 1, 0) > 0 ? message : "(nothing)";
  }

 private:
  int fd_;
};

class Reload : public ::testing::Test {
 protected:
  Reload() : manager_(path("notify")) {
    write_secret("token", kFirstToken);
    write_certificate(first_);
    configure("");
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return scratch_.path() + "/" + name;
  }
  void write_secret(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    ::chmod(path(name).c_str(), 0600);
  }
  void write_certificate(const Certificate& certificate) const {
    write_file(path("c.pem"), certificate.certificate_pem);
    write_secret("k.pem", certificate.key_pem);
  }
  void configure(const std::string& more) const { configure_in(path("data"), more); }
  void configure_in(const std::string& data_dir, const std::string& more) const {
    write_file(path("d.toml"), "runtime-dir = \"" + path("main") + "\"\ndata-dir = \"" + data_dir +
                                   "\"\nmap-bytes = 67108864\nlisten = \"127.0.0.1:0\"\n" + more);
  }
  [[nodiscard]] std::string token_line() const {
    return "token-file = \"" + path("token") + "\"\n";
  }
  [[nodiscard]] std::string tls_lines() const {
    return "tls-certificate-file = \"" + path("c.pem") + "\"\ntls-key-file = \"" + path("k.pem") +
           "\"\n";
  }
  void start() {
    ChildOptions options;
    options.arguments = {"--config", path("d.toml")};
    options.environment["NOTIFY_SOCKET"] = path("notify");
    child_ = std::make_unique<ChildDaemon>(options);
    const auto ready = child_->read_line();
    ASSERT_TRUE(ready.has_value());
    port_ = static_cast<std::uint16_t>(std::stoi(ready->substr(ready->rfind(':') + 1)));
    EXPECT_THAT(manager_.next(), StartsWith("READY=1\nSTATUS="));
  }
  void reload() {
    child_->signal(SIGHUP);
    EXPECT_THAT(manager_.next(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
    EXPECT_THAT(manager_.next(), StartsWith("READY=1\nSTATUS="));
  }
  /// Stops it, and gives the lines that have `text`.
  std::vector<std::string> lines_with(const std::string& text) {
    child_->signal(SIGTERM);
    EXPECT_EQ(child_->wait(), 0);
    std::istringstream log(child_->errors());
    std::vector<std::string> found;
    for (std::string line; std::getline(log, line);) {
      if (line.find(text) != std::string::npos) found.push_back(line);
    }
    return found;
  }
  HttpClient tcp() const { return HttpClient::to_loopback(port_); }
  HttpClient unix_socket() const { return HttpClient::to_unix(path("main/catalog.sock")); }
  static HttpRequest with(const std::string& token) {
    return {.target = "/v1/namespaces", .headers = {"Authorization: Bearer " + token}};
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const ScratchDir& scratch() const { return scratch_; }

  const Certificate first_ = make_certificate("first.test");
  const Certificate second_ = make_certificate("second.test");

 private:
  ScratchDir scratch_;
  NotifySocket manager_;
  std::unique_ptr<ChildDaemon> child_;
  std::uint16_t port_ = 0;
};

TEST_F(Reload, ReplacesTheTokenForTheNextRequestOfOpenConnectionsToo) {
  configure(token_line());
  start();
  auto open = tcp();
  EXPECT_EQ(open.request(with(kFirstToken)).status, 200);
  EXPECT_EQ(open.request(with(kSecondToken)).status, 401);
  write_secret("token", kSecondToken);
  reload();
  EXPECT_EQ(open.request(with(kFirstToken)).status, 401);
  EXPECT_EQ(open.request(with(kSecondToken)).status, 200);
  EXPECT_THAT(lines_with("settings reloaded"), ElementsAre(HasSubstr("[info]")));
}

TEST_F(Reload, JudgesOpenConnectionsOfTheSocketAnew) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be other users";
  start();
  ::chmod(scratch().path().c_str(), 0755);
  ::chmod(path("main").c_str(), 0755);
  ::chmod(path("main/catalog.sock").c_str(), 0666);
  auto open = HttpClient::to_unix_as(path("main/catalog.sock"), {.uid = 420'001});
  const HttpRequest creation{
      .verb = "POST", .target = "/v1/namespaces", .body = R"({"namespace":["a"]})"};
  EXPECT_EQ(open.get("/v1/namespaces").status, 403);
  configure("readers = [\"420001\"]\n");
  reload();
  EXPECT_EQ(open.get("/v1/namespaces").status, 200);
  EXPECT_EQ(open.request(creation).status, 403);
  configure("writers = [\"420001\"]\n");
  reload();
  EXPECT_EQ(open.request(creation).status, 200);
  configure("");
  reload();
  EXPECT_EQ(open.get("/v1/namespaces").status, 403);
}

TEST_F(Reload, UsesANewCertificateForNewConnections) {
  configure(tls_lines());
  start();
  auto open = HttpClient::to_loopback_tls(port(), first_.certificate_pem);
  EXPECT_EQ(open.certificate_name(), "first.test");
  write_certificate(second_);
  reload();
  EXPECT_EQ(open.get("/healthz").status, 200);
  EXPECT_FALSE(HttpClient::to_loopback_tls(port(), first_.certificate_pem).is_connected());
  auto next = HttpClient::to_loopback_tls(port(), second_.certificate_pem);
  EXPECT_EQ(next.certificate_name(), "second.test");
  EXPECT_EQ(next.get("/healthz").status, 200);
}

TEST_F(Reload, UsesNewLimitsForTheNextRequestOfOpenConnectionsToo) {
  start();
  auto open = unix_socket();
  std::string body = R"({"namespace":["a"]})";
  body.insert(1, std::string(5000, ' '));
  EXPECT_EQ(open.post("/v1/namespaces", body).status, 200);
  configure("body-bytes-max = 1024\nidle-timeout-ms = 100\n");
  reload();
  EXPECT_EQ(open.get("/healthz").status, 200);
  EXPECT_TRUE(open.sees_end());  // idle, and for the new time alone
  EXPECT_EQ(unix_socket().post("/v1/namespaces", body).status, 413);
}

TEST_F(Reload, ChangesWhatIsLogged) {
  configure("log-level = \"error\"\n");
  start();
  reload();
  configure("log-level = \"info\"\n");
  reload();
  EXPECT_EQ(lines_with("settings reloaded").size(), 1u);
}

TEST_F(Reload, NamesWhatNeedsARestart) {
  start();
  configure_in(path("other"), "http-threads = 3\nlog-level = \"debug\"\n");
  reload();
  EXPECT_EQ(unix_socket().get("/readyz").status, 200);
  EXPECT_THAT(lines_with("restart needed"),
              ElementsAre(AllOf(
                  HasSubstr("[warning]"),
                  ::testing::EndsWith("restart needed settings=\"data-dir, http-threads\""))));
  EXPECT_NE(::access(path("other").c_str(), F_OK), 0);
}

TEST_F(Reload, WaitsForNoFifoInThePlaceOfAFile) {
  configure(tls_lines());
  start();
  ::unlink(path("c.pem").c_str());
  ASSERT_EQ(::mkfifo(path("c.pem").c_str(), 0600), 0);
  reload();
  ::unlink(path("d.toml").c_str());
  ASSERT_EQ(::mkfifo(path("d.toml").c_str(), 0600), 0);
  reload();
  auto open = HttpClient::to_loopback_tls(port(), first_.certificate_pem);
  EXPECT_EQ(open.get("/healthz").status, 200);
  EXPECT_THAT(lines_with("settings not reloaded"),
              ElementsAre(HasSubstr("c.pem': not a regular file"),
                          HasSubstr("d.toml': not a regular file")));
}

TEST_F(Reload, ChangesNothingWhereSomethingIsWrong) {
  configure(token_line());
  start();
  write_secret("token", kSecondToken);
  ::chmod(path("token").c_str(), 0644);
  reload();
  EXPECT_EQ(tcp().request(with(kFirstToken)).status, 200);
  write_secret("token", kSecondToken);
  for (const char* wrong :
       {"nonsense = 1\n", "connections-max = \n", "readers = [\"no-such-user\"]\n",
        "tls-key-file = \"/k\"\n", "require-token = true\n"}) {
    configure((std::string(wrong).starts_with("require") ? "" : token_line()) + wrong);
    reload();
    EXPECT_EQ(tcp().request(with(kFirstToken)).status, 200) << wrong;
    EXPECT_EQ(tcp().request(with(kSecondToken)).status, 401) << wrong;
  }
  const auto lines = lines_with("settings not reloaded");
  EXPECT_EQ(lines.size(), 6u);
  for (const auto& line : lines) EXPECT_THAT(line, HasSubstr("[error]"));
}

TEST_F(Reload, TakesMoreThanOneAndStillStops) {
  start();
  for (int i = 0; i < 5; ++i) reload();
  EXPECT_EQ(lines_with("settings reloaded").size(), 5u);
}

}  // namespace
}  // namespace iceblink::test
