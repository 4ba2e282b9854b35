// What the program writes to standard error, line by line.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <sstream>

#include "tests/http/child_instance.h"
#include "tests/http/request_bodies.h"

namespace iceblink::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class LogLines : public ::testing::Test {
 protected:
  void start(std::vector<std::string> more = {}) {
    child_ = std::make_unique<ChildDaemon>(place_.options(std::move(more)));
    ASSERT_TRUE(child_->read_line().has_value());
  }
  /// Ends the daemon: what it has written.
  std::vector<std::string> lines() {
    child_->signal(SIGTERM);
    EXPECT_EQ(child_->wait(), 0);
    std::istringstream text(child_->errors());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  HttpClient connect() { return place_.connect(); }

  InstancePlace place_;
  std::unique_ptr<ChildDaemon> child_;
};

TEST_F(LogLines, TellOfEachChangeOnce) {
  start();
  auto client = connect();
  client.request({.verb = "POST",
                  .target = "/v1/namespaces",
                  .body = R"({"namespace":["a"]})",
                  .headers = {"X-Request-ID: ours-1"}});
  client.post("/v1/namespaces/a/tables", table_creation("t"));
  client.post("/v1/namespaces/a/tables/t", commit(set_property("k", "v")));
  client.post("/iceblink/v1/batch",
              "{\"op\":\"create-namespace\",\"namespace\":[\"b\"]}\n"
              "{\"op\":\"create-namespace\",\"namespace\":[\"c\"]}\n");
  client.head("/v1/namespaces/a");
  const auto all = lines();
  const std::string ms = "duration_ms=[0-9]+\\.[0-9]{3} ";
  EXPECT_THAT(all, Contains(MatchesRegex(".*\\[info\\] catalog changed id=ours-1 peer=.*"
                                         " operation=create kind=namespace name=a operations=1"
                                         " generation=2 " +
                                         ms + "retries=0")));
  EXPECT_THAT(all, Contains(HasSubstr("operation=create kind=table name=a.t ")));
  EXPECT_THAT(all, Contains(HasSubstr("operation=commit kind=table name=a.t ")));
  EXPECT_THAT(all, Contains(HasSubstr("operation=batch kind=namespace name=b operations=2 ")));
  EXPECT_EQ(std::ranges::count_if(
                all, [](const auto& line) { return line.find("catalog changed") != line.npos; }),
            4);
  EXPECT_THAT(all, Each(Not(HasSubstr("HEAD"))));
}

TEST_F(LogLines, HaveNoQueries) {
  start({"--log-level", "trace"});
  auto client = connect();
  for (const char* verb : {"GET", "POST", "DELETE"}) {
    for (const char* target : {"/nowhere?word=unspeakable", "/healthz?word=unspeakable",
                               "/v1/namespaces/none?word=unspeakable"}) {
      client.request({.verb = verb, .target = target});
    }
  }
  const auto all = lines();
  EXPECT_THAT(all, Contains(HasSubstr("method=POST path=/nowhere status=404")));
  EXPECT_THAT(all, Each(Not(HasSubstr("unspeakable"))));
}

TEST_F(LogLines, TellOfStartAndStop) {
  start();
  const auto all = lines();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[0], AllOf(HasSubstr("] started version="), HasSubstr(" generation=1 tables=0 "),
                            HasSubstr(place_.data_dir())));
  EXPECT_THAT(all[1], HasSubstr("] stopping signal=15"));
  EXPECT_THAT(all[2], HasSubstr("] stopped generation=1 commits=0 "));
}

TEST_F(LogLines, TellWhyAWriteWasRefused) {
  start();
  auto client = connect();
  client.post("/v1/namespaces", R"({"namespace":["a"]})");
  client.post("/v1/namespaces", R"({"namespace":["a"]})");
  client.get("/v1/namespaces/nobody");
  const auto all = lines();
  EXPECT_THAT(all, Contains(AllOf(HasSubstr("[info] commit refused id="),
                                  HasSubstr("method=POST path=/v1/namespaces status=409"
                                            " type=AlreadyExistsException"))));
  EXPECT_THAT(all, Each(Not(HasSubstr("nobody"))));
}

TEST_F(LogLines, TellOfEveryRequestWhenAskedTo) {
  start({"--log-level", "debug"});
  auto client = connect();
  client.request(
      {.verb = "HEAD", .target = "/v1/namespaces/nobody", .headers = {"X-Request-ID: q7"}});
  EXPECT_THAT(lines(), Contains(MatchesRegex(".*\\[debug\\] request id=q7 peer=.* method=HEAD"
                                             " path=/v1/namespaces/nobody status=404 bytes=[0-9]+"
                                             " duration_ms=[0-9.]+")));
}

TEST_F(LogLines, TellOfArenasAndOfTheStoresMap) {
  ChildOptions options = place_.options({"--headroom-bytes", "4096"});
  options.arguments[5] = "1048576";  // --map-bytes
  child_ = std::make_unique<ChildDaemon>(options);
  ASSERT_TRUE(child_->read_line().has_value());
  auto client = connect();
  client.post("/v1/namespaces", R"({"namespace":["a"]})");
  std::string batch;
  for (int i = 0; i < 2000; ++i) {
    batch += R"({"op":"register","namespace":["a"],"unverified":true,"name":"t)" +
             std::to_string(i) + R"(","metadata-location":"/)" + std::string(500, 'x') + "\"}\n";
  }
  ASSERT_EQ(client.post("/iceblink/v1/batch", batch).status, 200);
  const auto all = lines();
  EXPECT_THAT(all, Contains(MatchesRegex(".*\\[info\\] store map grown map_bytes=2097152")));
  EXPECT_THAT(all, Contains(MatchesRegex(".*\\[info\\] arena flipped epoch=[0-9]+ bytes=[0-9]+"
                                         " garbage_bytes_before=[0-9]+ tables=[0-9]+"
                                         " duration_ms=[0-9]+")));
}

TEST_F(LogLines, HoldNoSecrets) {
  start({"--log-level", "trace"});
  auto client = connect();
  const std::vector<std::string> headers{"Authorization: Bearer s3cr3t-token"};
  for (const char* const body :
       {R"({"namespace":["a"],"properties":{"password":"s3cr3t-value"}})",
        R"({"namespace":["a"],"properties":{"password":"s3cr3t-value"}})",
        R"({"namespace":["b"],"properties":{"password":["s3cr3t-value"]}})",
        R"({"namespace":["b"],"properties":{"password":"s3cr3t-value)"}) {
    client.request({.verb = "POST", .target = "/v1/namespaces", .body = body, .headers = headers});
  }
  client.post("/v1/namespaces/a/tables",
              table_creation("t", R"(,"properties":{"secret.key":"s3cr3t-value"})"));
  client.post("/v1/namespaces/a/tables/t", commit(set_property("secret.key", "s3cr3t-value")));
  client.post("/v1/namespaces/a/properties", R"({"updates":{"password":"s3cr3t-value"}})");
  client.post("/v1/namespaces/a/properties",
              R"({"updates":{"password":"s3cr3t-value"},"removals":["password"]})");
  EXPECT_THAT(client.get("/metrics").body, Not(HasSubstr("s3cr3t")));
  const auto all = lines();
  EXPECT_GT(all.size(), 8u);
  EXPECT_THAT(all, Each(Not(HasSubstr("s3cr3t"))));
}

TEST_F(LogLines, DoNotGrowWithAFloodOfRefusals) {
  // One connection too many, many times.
  start({"--connections-max", "1"});
  auto holder = connect();
  ASSERT_EQ(holder.get("/healthz").status, 200);
  // In a request: an idle one would give way.
  ASSERT_TRUE(
      holder.send("GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                  "Content-Length: 1\r\n\r\n"));
  ASSERT_TRUE(holder.receive_continue());
  for (int i = 0; i < 200; ++i) {
    auto refused = connect();
    const auto answer = refused.receive();
    EXPECT_TRUE(!answer || answer->status == 429);
  }
  const auto all = lines();
  const auto count = std::ranges::count_if(
      all, [](const auto& line) { return line.find("connection refused") != line.npos; });
  EXPECT_GE(count, 1);
  EXPECT_LE(count, 100);  // ten a second, and this takes no ten seconds
}

TEST_F(LogLines, BeginWithTheirPriorityInTheJournal) {
  ChildOptions options = place_.options();
  options.errors_are_journal = true;
  child_ = std::make_unique<ChildDaemon>(options);
  ASSERT_TRUE(child_->read_line().has_value());
  connect().post("/v1/namespaces", R"({"namespace":["a"]})");
  const auto all = lines();
  ASSERT_GE(all.size(), 3u);
  EXPECT_THAT(all[0], MatchesRegex("<6>started version=.*"));
  EXPECT_THAT(all[1], MatchesRegex("<6>catalog changed id=.*"));
}

TEST_F(LogLines, KeepTheirTimeWhereTheJournalIsAnother) {
  ChildOptions options = place_.options();
  options.environment["JOURNAL_STREAM"] = "1:1";
  child_ = std::make_unique<ChildDaemon>(options);
  ASSERT_TRUE(child_->read_line().has_value());
  EXPECT_THAT(lines()[0], MatchesRegex("\\[20.*\\] \\[iceblinkd\\] \\[info\\] started .*"));
}

TEST_F(LogLines, NameTheRequestThatItsAnswerNames) {
  start();
  auto client = connect();
  const auto named = client.request({.target = "/healthz", .headers = {"X-Request-ID: 3f2a:b/c"}});
  EXPECT_EQ(named.header("x-request-id"), "3f2a:b/c");
  for (const std::string& sent : {std::string("two words"), std::string(129, 'x'), std::string()}) {
    const auto made = client.request({.target = "/healthz", .headers = {"X-Request-ID: " + sent}});
    EXPECT_NE(made.header("x-request-id"), sent);
    EXPECT_THAT(made.header("x-request-id"), MatchesRegex("[0-9a-z]+-[0-9a-z]+"));
  }
  const auto first = client.post("/v1/namespaces", R"({"namespace":["a"]})");
  const auto second = client.get("/healthz");
  EXPECT_NE(first.header("x-request-id"), second.header("x-request-id"));
  EXPECT_THAT(lines(), Contains(HasSubstr("id=" + first.header("x-request-id"))));
}

}  // namespace
}  // namespace iceblink::test
