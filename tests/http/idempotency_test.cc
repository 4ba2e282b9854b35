#include "daemon/http/idempotency.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

constexpr char kTables[] = "/v1/namespaces/ns/tables";
constexpr char kTable[] = "/v1/namespaces/ns/tables/t";

TEST(IdempotencyKeys, AreUuidsOfVersion7) {
  EXPECT_TRUE(daemon::http::idempotency_key_of("017F22E2-79B0-7CC3-98C4-DC0C0C07398F").ok());
  EXPECT_EQ(daemon::http::idempotency_key_of("017F22E2-79B0-7CC3-98C4-DC0C0C07398F").value(),
            daemon::http::idempotency_key_of("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").value());
  for (const char* text :
       {"", "x", "017f22e2-79b0-4cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-18c4-dc0c0c07398f",
        "017f22e279b07cc398c4dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c07398g"}) {
    const auto key = daemon::http::idempotency_key_of(text);
    ASSERT_FALSE(key.ok()) << text;
    EXPECT_THAT(std::string(key.error().message()), HasSubstr("Idempotency-Key"));
  }
}

TEST(IdempotencyKeys, LiveAsLongAsTheConfigSays) {
  using std::chrono::milliseconds;
  EXPECT_EQ(daemon::http::duration_text(milliseconds(30 * 60'000)), "PT30M");
  EXPECT_EQ(daemon::http::duration_text(milliseconds(90'000)), "PT90S");
  EXPECT_EQ(daemon::http::duration_text(milliseconds(1050)), "PT1.050S");
}

class Idempotency : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
  }
  HttpResponse post(const std::string& target, const std::string& body, unsigned key) {
    return connect().request(
        {.verb = "POST", .target = target, .body = body, .headers = {idempotency_key(key)}});
  }
  HttpResponse del(const std::string& target, unsigned key) {
    return connect().request(
        {.verb = "DELETE", .target = target, .headers = {idempotency_key(key)}});
  }
  std::string metric(const std::string& name) {
    const std::string body = connect().get("/metrics").body;
    const auto at = body.find("\n" + name + " ");
    const auto from = at + name.size() + 2;
    return at == std::string::npos ? "" : body.substr(from, body.find('\n', from) - from);
  }
};

TEST_F(Idempotency, AnswersACreationAgain) {
  const auto first = post(kTables, table_creation("t"), 1);
  ASSERT_EQ(first.status, 200) << first.body;
  const auto generation = daemon().generation();
  const auto again = post(kTables, table_creation("t"), 1);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("etag"), first.header("etag"));
  EXPECT_EQ(daemon().generation(), generation);
  EXPECT_EQ(metric("iceblink_replayed_answers_total"), "1");
  EXPECT_EQ(post(kTables, table_creation("t"), 2).status, 409);
}

TEST_F(Idempotency, AnswersCommitsAsTheyWere) {
  ASSERT_EQ(connect().post(kTables, table_creation("t")).status, 200);
  const auto first = post(kTable, commit(set_property("k", "1")), 1);
  ASSERT_EQ(first.status, 200) << first.body;
  const auto second = post(kTable, commit(set_property("k", "2")), 2);
  ASSERT_EQ(second.status, 200) << second.body;
  EXPECT_EQ(post(kTable, commit(set_property("k", "1")), 1).body, first.body);
  EXPECT_EQ(connect().get(kTable).json().at("metadata").at("properties").at("k").as_string(), "2");
}

TEST_F(Idempotency, AnswersWhatANameStandsForWhenTheOldFileIsGone) {
  const auto first = post(kTables, table_creation("t"), 1);
  ASSERT_EQ(first.status, 200);
  const auto now = connect().post(kTable, commit(set_property("k", "v")));
  ASSERT_EQ(now.status, 200);
  const std::string old(first.json().at("metadata-location").as_string());
  std::filesystem::remove(old.substr(7));
  const auto again = post(kTables, table_creation("t"), 1);
  ASSERT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(again.json().at("metadata-location"), now.json().at("metadata-location"));
  EXPECT_EQ(again.header("etag"), now.header("etag"));
  ASSERT_EQ(connect().del(std::string(kTable) + "?purgeRequested=true").status, 204);
  const auto gone = post(kTables, table_creation("t"), 1);
  EXPECT_EQ(gone.status, 500);
  EXPECT_EQ(gone.error_type(), "CommitStateUnknownException");
  EXPECT_THAT(gone.error_message(), HasSubstr("This was done"));
}

TEST_F(Idempotency, AnswersAStagedTableWordForWord) {
  const std::string body = table_creation("t", R"(,"stage-create":true)");
  const auto first = post(kTables, body, 1);
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(post(kTables, body, 1).body, first.body);
  EXPECT_NE(post(kTables, body, 2).body, first.body);
}

TEST_F(Idempotency, AnswersDropsAndRefusalsAgain) {
  const auto missing = del(kTable, 1);
  EXPECT_EQ(missing.status, 404);
  ASSERT_EQ(connect().post(kTables, table_creation("t")).status, 200);
  const auto same = del(kTable, 1);
  EXPECT_EQ(same.status, 404);
  EXPECT_EQ(same.body, missing.body);
  EXPECT_EQ(connect().head(kTable).status, 204);
  EXPECT_EQ(del(kTable, 2).status, 204);
  EXPECT_EQ(connect().head(kTable).status, 404);
  EXPECT_EQ(del(kTable, 2).status, 204);
}

TEST_F(Idempotency, AnswersNamespacesAndTheirPropertiesAgain) {
  const std::string body = R"({"namespace":["new"],"properties":{"a":"1"}})";
  const auto made = post("/v1/namespaces", body, 1);
  ASSERT_EQ(made.status, 200);
  EXPECT_EQ(post("/v1/namespaces", body, 1).body, made.body);
  const std::string update = R"({"removals":["a"],"updates":{"b":"2"}})";
  const auto updated = post("/v1/namespaces/new/properties", update, 2);
  ASSERT_EQ(updated.status, 200);
  EXPECT_EQ(post("/v1/namespaces/new/properties", update, 2).body, updated.body);
  EXPECT_THAT(updated.body, HasSubstr(R"("removed":["a"])"));
}

TEST_F(Idempotency, AnswersAnUnregisteredTableAgain) {
  ASSERT_EQ(connect().post(kTables, table_creation("t")).status, 200);
  const std::string target = std::string(kTable) + "/unregister";
  const auto gone = post(target, "", 1);
  ASSERT_EQ(gone.status, 200) << gone.body;
  EXPECT_EQ(post(target, "", 1).body, gone.body);
  EXPECT_EQ(post(target, "", 2).status, 404);
}

TEST_F(Idempotency, AnswersARegistrationAgain) {
  const std::string body = R"({"name":"t","metadata-location":")" + write_table("t.json") + R"("})";
  const auto first = post("/v1/namespaces/ns/register", body, 1);
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(post("/v1/namespaces/ns/register", body, 1).body, first.body);
}

TEST_F(Idempotency, RefusesAKeyThatWasUsedForAnotherRequest) {
  ASSERT_EQ(post(kTables, table_creation("t"), 1).status, 200);
  const auto refused = post(kTables, table_creation("u"), 1);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.error_type(), "UnprocessableEntityException");
  EXPECT_THAT(refused.error_message(), HasSubstr("was used for another request"));
  EXPECT_EQ(connect().head("/v1/namespaces/ns/tables/u").status, 404);
}

TEST_F(Idempotency, RefusesAKeyThatIsNone) {
  const auto refused = connect().request(
      {.verb = "DELETE", .target = "/v1/namespaces/ns", .headers = {"Idempotency-Key: 1"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.error_message(), HasSubstr("Idempotency-Key '1'"));
  EXPECT_EQ(connect().head("/v1/namespaces/ns").status, 204);
}

TEST_F(Idempotency, CarriesOutOneOfManyRequestsThatComeTogether) {
  constexpr int kRequests = 16;
  std::vector<HttpResponse> answers(kRequests);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kRequests; ++i) {
      threads.emplace_back([&, i] { answers[i] = post(kTables, table_creation("t"), 1); });
    }
  }
  for (const auto& answer : answers) {
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, answers.front().body);
  }
  EXPECT_EQ(metric("iceblink_replayed_answers_total"), std::to_string(kRequests - 1));
}

}  // namespace
}  // namespace iceblink::test
