// Imports from other REST catalogs: from another daemon, and from servers that behave oddly.
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "tests/moves/moves_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// ---- From another daemon.

class RestImport : public DaemonTest {
 protected:
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.listen = "127.0.0.1:0";
    start(settings);
  }
  Finished import(std::vector<std::string> arguments = {}) {
    const std::string url = "http://127.0.0.1:" + std::to_string(daemon().tcp_port());
    arguments.insert(arguments.begin(), {"import", "rest", url});
    return place_.run(arguments);
  }

  Place place_;
};

TEST_F(RestImport, TakesNamespacesTablesAndViewsWithTheirNames) {
  const auto applied = connect().post(
      "/iceblink/v1/batch",
      R"({"op":"create-namespace","namespace":["a"],"properties":{"k":"v"}})"
      "\n"
      R"({"op":"create-namespace","namespace":["a","b.c/ü +%"]})"
      "\n"
      R"({"op":"register","namespace":["a","b.c/ü +%"],"name":"t/ü +%","metadata-location":")" +
          write_table("t.metadata.json") +
          "\"}\n"
          R"({"op":"register","namespace":["a"],"name":"v","kind":"view","metadata-location":")" +
          write_metadata("v.metadata.json", view_metadata()) + "\"}\n");
  ASSERT_EQ(applied.status, 200) << applied.body;
  const Finished finished = import();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("2 read, 2 created"));
  EXPECT_EQ(place_.tables(), "a.\"b.c/ü +%\".t/ü +%\n");
  const auto lines = place_.exported();
  EXPECT_EQ(lines[0], R"({"kind":"namespace","namespace":["a"],"properties":{"k":"v"}})");
  EXPECT_THAT(lines[1], HasSubstr(R"("kind":"view","namespace":["a"],"name":"v")"));
  EXPECT_EQ(import().exit_code, 0);
}

TEST_F(RestImport, GoesThroughAllPages) {
  std::string lines = R"({"op":"create-namespace","namespace":["a"]})"
                      "\n";
  for (int i = 0; i < 2500; ++i) {
    lines += R"({"op":"create-namespace","namespace":["n)" + std::to_string(i) + "\"]}\n";
  }
  const std::string location = write_table("t.metadata.json");
  for (int i = 0; i < 2500; ++i) {
    lines += R"({"op":"register","namespace":["a"],"name":"t)" + std::to_string(i) +
             R"(","unverified":true,"metadata-location":")" + location + "\"}\n";
  }
  ASSERT_EQ(connect().post("/iceblink/v1/batch", lines).status, 200);
  const Finished finished = import({"--unverified"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("2500 created, 0 moved, 0 skipped, 0 conflicts, 0 failed; "
                                      "2501 namespaces created"));
}

TEST_F(RestImport, OneThatCannotBeLoadedIsSaidAndPassedOver) {
  ASSERT_EQ(connect()
                .post("/iceblink/v1/batch",
                      R"({"op":"create-namespace","namespace":["a"]})"
                      "\n"
                      R"({"op":"register","namespace":["a"],"name":"gone","unverified":true,)"
                      R"("metadata-location":"/nowhere"})"
                      "\n"
                      R"({"op":"register","namespace":["a"],"name":"t","metadata-location":")" +
                          write_table("t.metadata.json") + "\"}")
                .status,
            200);
  const Finished finished = import();
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_THAT(finished.err, HasSubstr("table a.gone: GET /v1/namespaces/a/tables/gone"));
  EXPECT_EQ(place_.tables(), "a.t\n");
}

// ---- From servers that behave oddly.

/// Answers each request by its target, on a loopback port.
class OddServer {
 public:
  using Answer = std::function<std::string(const std::string& request)>;

  explicit OddServer(Answer answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, generic, &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~OddServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  static std::string answer(int status, const std::string& body, const std::string& fields = "") {
    return "HTTP/1.1 " + std::to_string(status) +
           " X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body;
  }

 private:
  void serve() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      std::string request;
      char buffer[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const auto count = ::recv(fd, buffer, sizeof(buffer), 0);
        if (count <= 0) break;
        request.append(buffer, static_cast<std::size_t>(count));
      }
      const std::string text = answer_(request);
      static_cast<void>(::send(fd, text.data(), text.size(), MSG_NOSIGNAL));
      ::close(fd);
    }
  }

  const Answer answer_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

class OddRestImport : public ::testing::Test {
 protected:
  Finished import(const OddServer& server, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"import", "rest", server.url(), "--unverified"});
    return place_.run(arguments);
  }

  Folder folder_;
  Place place_;
};

TEST_F(OddRestImport, UsesPrefixAndSeparatorAndTokenAndKnowsCatalogsWithoutViews) {
  std::atomic<bool> has_token{true};
  const OddServer server([&](const std::string& request) {
    const std::string line = request.substr(0, request.find("\r\n"));
    if (request.find("Authorization: Bearer s3cret\r\n") == std::string::npos) has_token = false;
    const auto is = [&](const std::string& start) { return line.starts_with("GET " + start); };
    const std::string root = "/v1/my%20prefix/namespaces";
    if (is("/v1/config?warehouse=w%201 ")) {
      return OddServer::answer(200, R"({"defaults":{"prefix":"x"},"overrides":{"prefix":)"
                                    R"("my%20prefix","namespace-separator":"%2E"}})");
    }
    if (is(root + "?") && line.find("parent=") == std::string::npos) {
      return OddServer::answer(200, R"({"namespaces":[["a"]]})");
    }
    if (is(root + "?") && line.find("parent=a ") != std::string::npos) {
      return OddServer::answer(200, R"({"namespaces":[["a","b"],["a"],["z"]]})");
    }
    if (is(root + "/a%2Eb/tables?")) {
      return OddServer::answer(200, R"({"identifiers":[{"namespace":["a","b"],"name":"t"}]})");
    }
    if (is(root + "/a%2Eb/tables/t?snapshots=refs ")) {
      return OddServer::answer(200, R"({"metadata-location":"s3://t","metadata":{}})");
    }
    if (is(root + "/a ") || is(root + "/a%2Eb ") || line.find("/tables?") != std::string::npos ||
        line.find("parent=a%2Eb ") != std::string::npos) {
      return OddServer::answer(200, "{}");
    }
    return OddServer::answer(404, "{}");
  });
  const auto token = folder_.put("token", "s3cret\n");
  const Finished finished = import(server, {"--token-file", token, "--warehouse", "w 1"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(has_token);
  EXPECT_EQ(place_.tables(), "a.b.t\n");
  EXPECT_THAT(finished.out + finished.err, Not(HasSubstr("s3cret")));
}

TEST_F(OddRestImport, AsksAgainWhereTheCatalogIsBusy) {
  std::atomic<int> requests{0};
  const OddServer server([&](const std::string& request) {
    if (requests++ < 2) return OddServer::answer(503, "{}", "Retry-After: 0\r\n");
    return OddServer::answer(200,
                             request.starts_with("GET /v1/config") ? "{}" : R"({"namespaces":[]})");
  });
  EXPECT_EQ(import(server).exit_code, 0);
  EXPECT_EQ(requests, 4);
}

TEST_F(OddRestImport, EndsWherePagesDoNotGoOn) {
  int page = 0;
  bool is_repeated = true;
  const OddServer server([&](const std::string& request) {
    if (request.starts_with("GET /v1/config")) return OddServer::answer(200, "{}");
    const std::string token = is_repeated ? "again" : std::to_string(++page);
    return OddServer::answer(200, R"({"namespaces":[],"next-page-token":")" + token + "\"}");
  });
  for (const bool repeats : {true, false}) {
    is_repeated = repeats;
    const Finished finished = import(server);
    EXPECT_EQ(finished.exit_code, 5);
    EXPECT_THAT(finished.err, HasSubstr("the catalog's pages do not go on"));
  }
  EXPECT_EQ(page, 1'001);
}

// The second table's answer never comes: whoever asks is not waited for.
TEST_F(OddRestImport, EndsAtAnErrorWhileTheCatalogIsAsked) {
  std::promise<void> is_over;
  std::future<void> over = is_over.get_future();
  const OddServer server([&](const std::string& request) {
    if (request.starts_with("GET /v1/config")) return OddServer::answer(200, "{}");
    if (request.find("/tables?") != std::string::npos) {
      return OddServer::answer(200, R"({"identifiers":[{"name":"bad"},{"name":"slow"}]})");
    }
    if (request.find("/tables/slow") != std::string::npos) {
      over.wait();
      return std::string();
    }
    if (request.find("/tables/bad") != std::string::npos) return OddServer::answer(404, "{}");
    return OddServer::answer(200, request.find("parent=") == std::string::npos &&
                                          request.find("/namespaces?") != std::string::npos
                                      ? R"({"namespaces":[["a"]]})"
                                      : R"({"namespaces":[]})");
  });
  const auto begun_at = std::chrono::steady_clock::now();
  const Finished finished = import(server, {"--stop-on-error"});
  is_over.set_value();
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_LT(std::chrono::steady_clock::now() - begun_at, std::chrono::seconds(20));
}

TEST_F(OddRestImport, FollowsNoRedirectAndSaysWhatIsWrong) {
  const auto token = folder_.put("token", "s3cret");
  const OddServer moved([](const std::string&) {
    return OddServer::answer(302, "", "Location: http://127.0.0.1:9/v1/config\r\n");
  });
  const Finished redirected = import(moved, {"--token-file", token});
  EXPECT_EQ(redirected.exit_code, 70);
  EXPECT_THAT(redirected.err, HasSubstr("a redirect, which is not followed"));
  const OddServer denied([](const std::string&) {
    return OddServer::answer(401, R"({"error":{"message":"who are you","code":401}})");
  });
  const Finished refused = import(denied, {"--token-file", token});
  EXPECT_EQ(refused.exit_code, 7);
  EXPECT_THAT(refused.err, HasSubstr("HTTP status 401: who are you"));
  EXPECT_THAT(refused.err, Not(HasSubstr("s3cret")));
  const OddServer page([](const std::string&) { return OddServer::answer(200, "<html>"); });
  EXPECT_EQ(import(page).exit_code, 5);
}

TEST_F(OddRestImport, SendsNoTokenWhereOthersCouldReadIt) {
  const auto token = folder_.put("token", "s3cret");
  const Finished plain =
      place_.run({"import", "rest", "http://catalog.example", "--token-file", token});
  EXPECT_EQ(plain.exit_code, 5);
  EXPECT_THAT(plain.err, HasSubstr("use https://"));
  for (const char* host : {"127.evil.example", "127.0.0.1.evil.example", "[2001:db8::1]"}) {
    const Finished evil =
        place_.run({"import", "rest", std::string("http://") + host + ":9", "--token-file", token});
    EXPECT_EQ(evil.exit_code, 5) << host << evil.err;
  }
  const OddServer server([](const std::string&) { return std::string(); });
  const std::string https = "https" + server.url().substr(4);
  const Finished untrusted = place_.run({"import", "rest", https, "--ca-file", token});
  EXPECT_EQ(untrusted.exit_code, 5);
  for (const char* url : {"ftp://x", "x", "http://user:pass@x", "http://x?y", "http://"}) {
    const Finished bad = place_.run({"import", "rest", url});
    EXPECT_EQ(bad.exit_code, 5) << url;
    EXPECT_THAT(bad.err, Not(HasSubstr("pass")));
  }
}

}  // namespace
}  // namespace iceblink::test
