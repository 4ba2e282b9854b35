// Requests that are sent again under one Idempotency-Key, since their answer got lost.
#include <boost/json/serialize.hpp>
#include <chrono>
#include <thread>

#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kKey[] = "017f22e2-79b0-7cc3-98c4-dc0c0c073901";
constexpr char kOtherKey[] = "017f22e2-79b0-7cc3-98c4-dc0c0c073902";

class RepeatedRequests : public RestTest {
 protected:
  HttpResponse del_once(const std::string& key, const std::string& target) {
    return send({.verb = "DELETE",
                 .target = "/v1/namespaces" + target,
                 .headers = {"Idempotency-Key: " + key}});
  }
  /// Runs `step` until `is_done`; fails the test when that takes too long.
  template <typename Done, typename Step>
  void repeat_until(const Done& is_done, const Step& step) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!is_done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      step();
    }
  }
};

TEST_F(RepeatedRequests, ArePromisedInTheConfig) {
  const auto config = connect().get("/v1/config").json();
  EXPECT_THAT(text_of(config.at("idempotency-key-lifetime")), StartsWith("PT"));
}

TEST_F(RepeatedRequests, OfACreationGiveTheSameTable) {
  const auto first = post_once(kKey, "/ns/tables", named("tbl"));
  ASSERT_THAT(first, HasStatus(200));
  const auto again = post_once(kKey, "/ns/tables", named("tbl"));
  EXPECT_THAT(again, HasStatus(200));
  EXPECT_EQ(again.json(), first.json());
  EXPECT_EQ(files().size(), 1u);
  EXPECT_THAT(post_once(kOtherKey, "/ns/tables", named("tbl")),
              IsError(409, "AlreadyExistsException", "Table already exists: ns.tbl"));
}

TEST_F(RepeatedRequests, UnderAKeyThatHasExpiredAreNew) {
  auto changed = settings();
  changed.idempotency_lifetime = std::chrono::milliseconds(20);
  start(changed);
  const auto first = post_once(kKey, "/ns/tables", named("tbl"));
  ASSERT_THAT(first, HasStatus(200));
  ASSERT_THAT(del(table("tbl")), HasStatus(204));
  repeat_until([&] { return head(table("tbl")).status == 204; },
               [&] { post_once(kKey, "/ns/tables", named("tbl")); });
  EXPECT_NE(load("tbl").at("table-uuid"), first.json().at("metadata").at("table-uuid"));
}

TEST_F(RepeatedRequests, OfADropDoNothing) {
  create_table("tbl");
  EXPECT_THAT(del_once(kKey, table("tbl")), HasStatus(204));
  create_table("tbl");
  EXPECT_THAT(del_once(kKey, table("tbl")), HasStatus(204));
  EXPECT_THAT(head(table("tbl")), HasStatus(204));
  EXPECT_THAT(del_once(kOtherKey, table("tbl")), HasStatus(204));
  EXPECT_THAT(head(table("tbl")), HasStatus(404));
}

TEST_F(RepeatedRequests, OfACommitWhoseAnswerGotLostFindItDone) {
  const auto base = create_table("tbl");
  const HttpRequest request{.verb = "POST",
                            .target = "/v1/namespaces" + table("tbl"),
                            .body = boost::json::serialize(append(base, 7).body()),
                            .headers = {std::string("Idempotency-Key: ") + kKey}};
  auto lost = connect();
  ASSERT_TRUE(lost.send(HttpClient::text_of(request)));
  repeat_until([&] { return !ref_snapshot(load("tbl"), kMain).is_null(); },
               [] { std::this_thread::yield(); });
  lost.close();
  const auto again = send(request);
  ASSERT_THAT(again, HasStatus(200));
  EXPECT_THAT(ids_of(again.json().at("metadata").at("snapshots"), "snapshot-id"), ElementsAre(7));
  EXPECT_THAT(ids_of(load("tbl").at("snapshots"), "snapshot-id"), ElementsAre(7));
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(RepeatedRequests, WithoutAKeyTellWhatBecameOfALostAnswer) {
  const auto base = create_table("tbl");
  auto lost = connect();
  ASSERT_TRUE(
      lost.send(HttpClient::text_of({.verb = "POST",
                                     .target = "/v1/namespaces" + table("tbl"),
                                     .body = boost::json::serialize(append(base, 7).body())})));
  repeat_until([&] { return !ref_snapshot(load("tbl"), kMain).is_null(); },
               [] { std::this_thread::yield(); });
  lost.close();
  EXPECT_THAT(commit("tbl", append(base, 7)),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: branch main was created concurrently")));
  EXPECT_THAT(ids_of(load("tbl").at("snapshots"), "snapshot-id"), ElementsAre(7));
}

TEST_F(RepeatedRequests, OfARefusedCommitAreRefusedAgain) {
  const auto base = create_table("tbl");
  commit_to("tbl", append(base, 1));
  const auto refused = post_once(kKey, table("tbl"), append(base, 2).body());
  EXPECT_THAT(refused, HasStatus(409));
  const auto again = post_once(kKey, table("tbl"), append(base, 2).body());
  EXPECT_THAT(again, HasStatus(409));
  EXPECT_EQ(again.body, refused.body);
}

TEST_F(RepeatedRequests, OfATransactionAreDoneOnce) {
  const auto base = create_table("tbl");
  Object body;
  body["table-changes"] = Array{append(base, 1).body_for("ns", "tbl")};
  const HttpRequest request{.verb = "POST",
                            .target = "/v1/transactions/commit",
                            .body = boost::json::serialize(body),
                            .headers = {std::string("Idempotency-Key: ") + kKey}};
  EXPECT_THAT(send(request), HasStatus(204));
  EXPECT_THAT(send(request), HasStatus(204));
  EXPECT_THAT(ids_of(load("tbl").at("snapshots"), "snapshot-id"), ElementsAre(1));
}

TEST_F(RepeatedRequests, AtOnceAreDoneOnce) {
  std::vector<std::thread> clients;
  std::vector<HttpResponse> answers(8);
  for (auto& answer : answers) {
    clients.emplace_back([&] { answer = post_once(kKey, "/ns/tables", named("tbl")); });
  }
  for (auto& client : clients) client.join();
  for (const auto& answer : answers) {
    EXPECT_THAT(answer, HasStatus(200));
    EXPECT_EQ(answer.body, answers.front().body);
  }
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(RepeatedRequests, AreKnownBeyondARestart) {
  const auto first = post_once(kKey, "/ns/tables", named("tbl"));
  ASSERT_THAT(first, HasStatus(200));
  const auto commit = append(load("tbl"), 1).body();
  ASSERT_THAT(post_once(kOtherKey, table("tbl"), commit), HasStatus(200));
  const auto before = get(table("tbl")).body;
  start(settings());
  EXPECT_EQ(get(table("tbl")).body, before);
  EXPECT_EQ(post_once(kKey, "/ns/tables", named("tbl")).json(), first.json());
  EXPECT_THAT(post_once(kOtherKey, table("tbl"), commit), HasStatus(200));
  EXPECT_EQ(get(table("tbl")).body, before);
}

TEST_F(RepeatedRequests, OfAViewAreDoneOnce) {
  const auto body = view_creation("view", Array{sql_of("spark", "select 1")});
  const auto first = post_once(kKey, "/ns/views", body);
  ASSERT_THAT(first, HasStatus(200));
  EXPECT_EQ(post_once(kKey, "/ns/views", body).json(), first.json());
  const auto base = load_view("view");
  const auto wanted =
      view_replacement(base, view_version(Array{sql_of("spark", "select 2")}, 2)).body();
  ASSERT_THAT(post_once(kOtherKey, view("view"), wanted), HasStatus(200));
  ASSERT_THAT(post_once(kOtherKey, view("view"), wanted), HasStatus(200));
  EXPECT_THAT(ids_of(load_view("view").at("version-log"), "version-id"), ElementsAre(1, 2));
}

}  // namespace
}  // namespace iceblink::test
