// How a daemon ends: in order, in time, and with everything that it acknowledged.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>

#include "tests/http/child_instance.h"
#include "tests/http/request_bodies.h"

namespace iceblink::test {
namespace {

using std::chrono::steady_clock;
using ::testing::HasSubstr;

std::string create_namespace(const std::string& name) {
  return HttpClient::text_of(
      {.verb = "POST", .target = "/v1/namespaces", .body = R"({"namespace":[")" + name + "\"]}"});
}

// Some megabytes, which take a while to read, to change and to write.
std::string many_properties() {
  std::string properties = R"(,"properties":{"first":"1")";
  for (int i = 0; i < 60'000; ++i) {
    properties += ",\"p" + std::to_string(i) + "\":\"" + std::string(40, 'x') + "\"";
  }
  return properties + "}";
}

class StoppingDaemon : public ::testing::Test {
 protected:
  StoppingDaemon() : manager_(place_.scratch().path() + "/notify") {}

  [[nodiscard]] ChildOptions options(const std::string& drain_timeout_ms) const {
    ChildOptions options = place_.options({"--drain-timeout-ms", drain_timeout_ms});
    options.environment["NOTIFY_SOCKET"] = manager_.path();
    return options;
  }
  [[nodiscard]] int status_of_namespace(const std::string& name) const {
    return place_.connect().head("/v1/namespaces/" + name).status;
  }

  InstancePlace place_;
  NotifySocket manager_;
};

TEST_F(StoppingDaemon, AnswersTheRequestThatHadBegunAndTakesNoOther) {
  ChildDaemon child(options("60000"));
  ASSERT_TRUE(child.read_line().has_value());
  auto begun = place_.connect();
  const std::string request = create_namespace("late");
  ASSERT_TRUE(begun.send(request.substr(0, request.size() - 3)));
  EXPECT_EQ(place_.connect().get("/healthz").status, 200);  // what came before has been read
  child.signal(SIGTERM);
  ASSERT_TRUE(manager_.wait_for("STOPPING=1"));
  ASSERT_TRUE(manager_.wait_for("EXTEND_TIMEOUT_USEC="));  // the writer is there
  ASSERT_TRUE(begun.send(request.substr(request.size() - 3)));
  const auto answer = begun.receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_THAT(child.errors(), HasSubstr("stopped generation="));
  ChildDaemon next(options("5000"));
  ASSERT_TRUE(next.read_line().has_value());
  EXPECT_EQ(status_of_namespace("late"), 204);
}

TEST_F(StoppingDaemon, CutsOffWhatDoesNotEndInTimeAndSaysSo) {
  ChildDaemon child(options("300"));
  ASSERT_TRUE(child.read_line().has_value());
  auto begun = place_.connect();
  ASSERT_TRUE(begun.send("POST /v1/namespaces HTTP/1.1\r\nHost: x\r\n"));
  EXPECT_EQ(place_.connect().get("/healthz").status, 200);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_THAT(child.errors(), HasSubstr("connections_cut_off=1"));
}

TEST_F(StoppingDaemon, AnswersWhoHadConnectedAndNotYetAsked) {
  ChildDaemon child(options("5000"));
  ASSERT_TRUE(child.read_line().has_value());
  auto asking = place_.connect();
  EXPECT_EQ(asking.get("/healthz").status, 200);  // so the one before it is taken, too
  auto silent = place_.connect();
  auto connected = place_.connect();
  EXPECT_EQ(place_.connect().get("/healthz").status, 200);
  child.signal(SIGTERM);
  ASSERT_TRUE(manager_.wait_for("STOPPING=1"));
  const auto answer = connected.post("/v1/namespaces", R"({"namespace":["late"]})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(silent.sees_end());
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(StoppingDaemon, EndsAtOnceOnASecondSignal) {
  constexpr int kMuchLonger = 100'000;
  ChildDaemon child(options(std::to_string(kMuchLonger)));
  ASSERT_TRUE(child.read_line().has_value());
  auto begun = place_.connect();
  ASSERT_TRUE(begun.send("POST /v1/namespaces HTTP/1.1\r\nHost: x\r\n"));
  EXPECT_EQ(place_.connect().get("/healthz").status, 200);
  const auto begun_at = steady_clock::now();
  child.signal(SIGTERM);
  ASSERT_TRUE(manager_.wait_for("STOPPING=1"));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_LT(steady_clock::now() - begun_at, std::chrono::milliseconds(kMuchLonger / 2));
  EXPECT_THAT(child.errors(), HasSubstr("stopping at once"));
}

// Commits whose preparation takes longer than there is time: each is done and durable, or refused,
// none is left without an answer, and the daemon does not wait for their threads.
TEST_F(StoppingDaemon, EndsInTimeUnderVeryLargeCommits) {
  constexpr auto kDrainTimeout = std::chrono::milliseconds(1200);
  constexpr int kCommits = 12;
  int done_count = 0;
  {
    ChildDaemon child(options(std::to_string(kDrainTimeout.count())));
    ASSERT_TRUE(child.read_line().has_value());
    auto client = place_.connect();
    ASSERT_EQ(client.post("/v1/namespaces", R"({"namespace":["ns"]})").status, 200);
    std::vector<HttpClient> clients;
    for (int i = 0; i < kCommits; ++i) {
      const std::string name = "t" + std::to_string(i);
      ASSERT_EQ(
          client.post("/v1/namespaces/ns/tables", table_creation(name, many_properties())).status,
          200);
    }
    for (int i = 0; i < kCommits; ++i) {
      clients.push_back(place_.connect());
      const std::string body = commit(set_property("after", "yes"));
      // The daemon says that it has begun to read each of them.
      ASSERT_TRUE(clients.back().send("POST /v1/namespaces/ns/tables/t" + std::to_string(i) +
                                      " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                      "Expect: 100-continue\r\nContent-Length: " +
                                      std::to_string(body.size()) + "\r\n\r\n"));
      ASSERT_TRUE(clients.back().receive_continue());
      ASSERT_TRUE(clients.back().send(body));
    }
    const auto begun_at = steady_clock::now();
    child.signal(SIGTERM);
    for (HttpClient& waiting : clients) {
      const auto answer = waiting.receive();
      ASSERT_TRUE(answer.has_value());
      if (answer->status == 200) {
        ++done_count;
      } else {
        EXPECT_EQ(answer->status, 429);
        EXPECT_THAT(answer->error_message(), HasSubstr("stopping"));
      }
    }
    EXPECT_EQ(child.wait(), 0);
    // Beside it, what a busy machine adds.
    EXPECT_LT(steady_clock::now() - begun_at, kDrainTimeout + std::chrono::seconds(4));
  }
  ChildDaemon next(options("5000"));
  ASSERT_TRUE(next.read_line().has_value());
  int found_count = 0;
  for (int i = 0; i < kCommits; ++i) {
    const auto table = place_.connect().get("/v1/namespaces/ns/tables/t" + std::to_string(i));
    ASSERT_EQ(table.status, 200);
    if (table.body.find(R"("after":"yes")") != std::string::npos) ++found_count;
  }
  EXPECT_EQ(found_count, done_count);
}

}  // namespace
}  // namespace iceblink::test
