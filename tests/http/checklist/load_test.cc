// Many connections, slow ones among them, and readers that stall: the others are answered.
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

constexpr int kConnections = 1000;
constexpr std::chrono::seconds kWatchdog{20};

/// Both ends of every connection are in this process.
bool allow_open_files(rlim_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < count) return false;
  limit.rlim_cur = std::max(limit.rlim_cur, count);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

class Load : public ChecklistTest {
 protected:
  void SetUp() override {
    auto many = settings();
    many.connections_max = 2 * kConnections;
    many.answer_bytes_max = std::uint64_t{8} << 20;
    start(many);
    create_namespace(R"(["ns"])");
    create_rich_table("t");
  }
  /// A table whose answer is more than any socket holds.
  void register_large_table(const std::string& name) {
    std::string metadata = table_metadata('5');
    const auto at = metadata.find(R"("properties": {})");
    ASSERT_NE(at, std::string::npos);
    metadata.replace(at, 16, R"("properties": {"x": ")" + std::string(6 << 20, 'x') + "\"}");
    register_table("ns", name, write_metadata(name + ".json", metadata));
  }
  static std::string load_of(const std::string& name) {
    return HttpClient::text_of({.target = "/v1/namespaces/ns/tables/" + name});
  }
};

TEST_F(Load, AnswersOthersWhileAThirdOfAThousandConnectionsAreSlow) {
  if (!allow_open_files(2 * kConnections + 500)) GTEST_SKIP() << "too few files may be open";
  std::vector<HttpClient> clients;
  clients.reserve(kConnections);
  for (int i = 0; i < kConnections; ++i) clients.push_back(connect());
  const std::string load = load_of("t");
  const auto cut_of = [&](int i) { return 1 + static_cast<std::size_t>(i) % (load.size() - 1); };
  for (int i = 0; i < kConnections; i += 3) {
    ASSERT_TRUE(clients[i].send(load.substr(0, cut_of(i))));
  }
  const auto expected = get(table("t")).body;
  // All at once, then each answer.
  for (int i = 0; i < kConnections; ++i) {
    if (i % 3 == 0) continue;
    ASSERT_TRUE(clients[i].send(load)) << i;
  }
  for (int i = 0; i < kConnections; ++i) {
    if (i % 3 == 0) continue;
    const auto answer = clients[i].receive();
    ASSERT_TRUE(answer.has_value()) << i;
    ASSERT_THAT(*answer, HasStatus(200)) << i;
    ASSERT_EQ(answer->body, expected) << i;
  }
  for (int i = 0; i < kConnections; i += 3) {
    ASSERT_TRUE(clients[i].send(load.substr(cut_of(i)))) << i;
    const auto answer = clients[i].receive();
    ASSERT_TRUE(answer.has_value()) << i;
    ASSERT_THAT(*answer, HasStatus(200)) << i;
  }
}

TEST_F(Load, CommitsWhileBodiesAreStillOnTheirWay) {
  const std::string commit =
      R"({"requirements":[],"updates":[{"action":"set-properties","updates":{"p":"slow"}}]})";
  const std::string text =
      HttpClient::text_of({.verb = "POST", .target = "/v1/namespaces/ns/tables/t", .body = commit});
  std::vector<HttpClient> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(connect());
    ASSERT_TRUE(slow.back().send(text.substr(0, text.size() - 1)));
  }
  EXPECT_THAT(update(table("t"), R"({"action":"set-properties","updates":{"p":"quick"}})"),
              HasStatus(200));
  EXPECT_EQ(property(load("t"), "p"), "quick");
  ASSERT_TRUE(slow.front().send(text.substr(text.size() - 1)));
  const auto answer = slow.front().receive("POST");
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(*answer, HasStatus(200));
  EXPECT_EQ(property(load("t"), "p"), "slow");
  // The file that only the slow client was told of.
  EXPECT_THAT(update(table("t"), R"({"action":"set-properties","updates":{"p":"last"}})"),
              HasStatus(200));
}

TEST_F(Load, AnswersOthersWhileALargeAnswerIsNotRead) {
  register_large_table("large");
  auto stalled = connect();
  ASSERT_TRUE(stalled.send(load_of("large")));
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(get(table("t")), HasStatus(200));
    EXPECT_THAT(update(table("t"), R"({"action":"set-properties","updates":{"p":")" +
                                       std::to_string(i) + "\"}}"),
                HasStatus(200));
  }
  const auto answer = stalled.receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(*answer, HasStatus(200));
  EXPECT_GT(answer->body.size(), std::size_t{6} << 20);
}

/// Large answers that nobody takes, as many as the daemon makes at a time.
class LargeAnswers : public Load {
 protected:
  void SetUp() override {
    Load::SetUp();
    register_large_table("large");
    for (int i = 0; i < 2; ++i) {
      stalled_.push_back(connect());
      ASSERT_TRUE(stalled_.back().send(load_of("large")));
      // It has begun, and has its share before the next one comes.
      ASSERT_EQ(stalled_.back().next_status(), 200) << i;
    }
  }
  void let_go() {
    stalled_.clear();
    const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
    while (load_refs().status != 200 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_THAT(load_refs(), HasStatus(200));
  }
  HttpResponse load_refs() { return get(table("t") + "?snapshots=refs"); }

 private:
  std::vector<HttpClient> stalled_;
};

// What is read for a client that does not take it would fill memory.
TEST_F(LargeAnswers, KeepOthersAwayWhileTooManyAreNotRead) {
  const auto refused = load_refs();
  EXPECT_THAT(refused, IsError(429, "SlowDownException", HasSubstr("large answers")));
  EXPECT_NE(refused.header("retry-after"), "");
  expect_error_body(refused);
  EXPECT_THAT(get(""), HasStatus(200));
  let_go();
}

// Whose answers are not taken keeps others from large answers alone.
TEST_F(LargeAnswers, HoldUpNoCommit) {
  ASSERT_THAT(connect().get("/v1/namespaces/ns/tables/large"), HasStatus(429));
  const std::string padding = R"("x":")" + std::string(100'000, ' ') + "\",";
  EXPECT_THAT(send({.verb = "POST",
                    .target = "/v1/namespaces/ns/tables/t",
                    .body = "{" + padding + R"("requirements":[],"updates":[]})"}),
              HasStatus(200));
  let_go();
}

}  // namespace
}  // namespace iceblink::test
