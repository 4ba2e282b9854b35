// Idempotency-Key (specification, "Idempotency-Key"): a request is carried out once a key, and what
// it was answered is answered again.
#include <filesystem>
#include <thread>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

/// Version 7, variant 2; the others differ in the last digits.
std::string key_number(int number) {
  const std::string digits = std::to_string(number);
  return "017f22e2-79b0-7cc3-98c4-" + std::string(12 - digits.size(), '0') + digits;
}

class IdempotencyRules : public ChecklistTest {
 protected:
  HttpResponse send_under(const std::string& key, HttpRequest request) {
    request.headers.push_back("Idempotency-Key: " + key);
    return send(request);
  }
  static HttpRequest posted(const std::string& target, const std::string& body) {
    return {.verb = "POST", .target = "/v1" + target, .body = body};
  }
  static HttpRequest dropped(const std::string& target) {
    return {.verb = "DELETE", .target = "/v1/namespaces" + target};
  }
  static std::string some_table(const std::string& name) {
    return R"({"name":")" + name +
           R"(","schema":{"type":"struct","fields":[
             {"id":1,"name":"id","required":true,"type":"long"}]}})";
  }
  static std::string some_change(const std::string& value) {
    return R"({"requirements":[],"updates":[{"action":"set-properties","updates":{"p":")" + value +
           R"("}}]})";
  }
  /// Sends it twice, and expects the second to be answered as the first without any effect.
  HttpResponse send_twice(int key, const HttpRequest& request) {
    const auto first = send_under(key_number(key), request);
    const auto after = state();
    const auto second = send_under(key_number(key), request);
    EXPECT_EQ(second.status, first.status) << request.target;
    EXPECT_EQ(second.body, first.body) << request.target;
    EXPECT_EQ(second.header("etag"), first.header("etag")) << request.target;
    EXPECT_EQ(second.header("content-type"), first.header("content-type")) << request.target;
    EXPECT_EQ(state(), after) << request.target;
    return first;
  }
};

TEST_F(IdempotencyRules, OfferKeysOfVersion7) {
  for (const std::string& bad : std::vector<std::string>{
           "x", "017f22e2-79b0-4cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-18c4-dc0c0c07398f",
           "017f22e279b07cc398c4dc0c0c07398f", "{17f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
           "017f22e2-79b0-7cc3-98c4-dc0c0c07398g", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
           "00000000-0000-0000-0000-000000000000"}) {
    const auto refused = send_under(bad, posted("/namespaces/ns/tables", some_table("t")));
    EXPECT_THAT(refused, HasStatus(400)) << bad;
    expect_error_body(refused);
    EXPECT_THAT(refused.error_message(), HasSubstr("Idempotency-Key"));
  }
  EXPECT_THAT(head(table("t")), HasStatus(404));
}

TEST_F(IdempotencyRules, TakeAKeyInAnyCase) {
  const std::string lower = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
  const std::string upper = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F";
  const auto request = posted("/namespaces/ns/tables", some_table("t"));
  const auto first = send_under(lower, request);
  ASSERT_THAT(first, HasStatus(200));
  EXPECT_EQ(send_under(upper, request).body, first.body);
}

TEST_F(IdempotencyRules, HoldForEveryRouteThatChangesSomething) {
  const std::string file = write_metadata("r.json", table_metadata('3'));
  const std::string view_file = write_metadata("rv.json", view_metadata());
  const std::string ident = R"({"namespace":["ns"],"name":)";
  const std::string view_body =
      R"({"name":"v","schema":{"type":"struct","schema-id":0,"fields":[]},"properties":{},
      "view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},
      "default-namespace":["ns"],"representations":[
        {"type":"sql","sql":"SELECT 1","dialect":"spark"}]}})";
  const std::vector<std::pair<int, HttpRequest>> requests = {
      {200, posted("/namespaces", R"({"namespace":["n"],"properties":{"a":"b"}})")},
      {200, posted("/namespaces/n/properties", R"({"updates":{"c":"d"},"removals":["a","x"]})")},
      {204, dropped("/n")},
      {200, posted("/namespaces/ns/tables", some_table("t"))},
      {200, posted("/namespaces/ns/tables/t", some_change("1"))},
      {204, posted("/transactions/commit", R"({"table-changes":[{"identifier":)" + ident +
                                               R"("t"},)" + some_change("2").substr(1) + "]}")},
      {200, posted("/namespaces/ns/tables/t", some_change("3"))},
      {204, posted("/tables/rename",
                   R"({"source":)" + ident + R"("t"},"destination":)" + ident + R"("u"}})")},
      {200,
       posted("/namespaces/ns/register", R"({"name":"r","metadata-location":")" + file + "\"}")},
      {200, posted("/namespaces/ns/tables/r/unregister", "")},
      {204, dropped("/ns/tables/u")},
      {200, posted("/namespaces/ns/views", view_body)},
      {200, posted("/namespaces/ns/views/v", some_change("1"))},
      {204, posted("/views/rename",
                   R"({"source":)" + ident + R"("v"},"destination":)" + ident + R"("w"}})")},
      {204, dropped("/ns/views/w")},
      {200, posted("/namespaces/ns/register-view",
                   R"({"name":"rv","metadata-location":")" + view_file + "\"}")},
  };
  int key = 0;
  for (const auto& [status, request] : requests) {
    EXPECT_THAT(send_twice(++key, request), HasStatus(status)) << request.target;
  }
  EXPECT_THAT(del("/ns/views/rv"), HasStatus(204));
}

TEST_F(IdempotencyRules, PurgeOnce) {
  create_table("t");
  const auto request = dropped("/ns/tables/t?purgeRequested=true");
  EXPECT_THAT(send_under(key_number(1), request), HasStatus(204));
  create_table("t");
  const auto after = state();
  EXPECT_THAT(send_under(key_number(1), request), HasStatus(204));
  EXPECT_EQ(state(), after);
  EXPECT_THAT(head(table("t")), HasStatus(204));
}

TEST_F(IdempotencyRules, AnswerRefusalsAgainEvenWhereTheyNoLongerHold) {
  const auto create_request = posted("/namespaces/ns/tables", some_table("t"));
  const auto commit_request = posted("/namespaces/ns/tables/t", some_change("1"));
  EXPECT_THAT(send_twice(1, commit_request), HasStatus(404));
  EXPECT_THAT(send_under(key_number(2), create_request), HasStatus(200));
  EXPECT_THAT(send_twice(3, create_request), HasStatus(409));
  EXPECT_THAT(send_twice(1, commit_request), HasStatus(404));
  EXPECT_THAT(send_under(key_number(4), commit_request), HasStatus(200));
  EXPECT_THAT(del(table("t")), HasStatus(204));
  EXPECT_THAT(send_twice(3, create_request), HasStatus(409));
  EXPECT_THAT(head(table("t")), HasStatus(404));
}

TEST_F(IdempotencyRules, DoNotCreateAgainWhatWasDroppedMeanwhile) {
  const auto request = posted("/namespaces/ns/tables", some_table("t"));
  const auto first = send_under(key_number(1), request);
  ASSERT_THAT(first, HasStatus(200));
  EXPECT_THAT(del(table("t")), HasStatus(204));
  create_table("t");
  const auto again = send_under(key_number(1), request);
  EXPECT_THAT(again, HasStatus(200));
  EXPECT_EQ(again.json().at("metadata").at("table-uuid"),
            first.json().at("metadata").at("table-uuid"));
  EXPECT_NE(load("t").at("table-uuid"), first.json().at("metadata").at("table-uuid"));
}

TEST_F(IdempotencyRules, RefuseAnotherRequestUnderTheSameKey) {
  EXPECT_THAT(send_under(key_number(1), posted("/namespaces/ns/tables", some_table("t"))),
              HasStatus(200));
  const auto before = state();
  for (const auto& other :
       {posted("/namespaces/ns/tables", some_table("u")),
        posted("/namespaces/ns/tables", some_table("t") + " "),
        posted("/namespaces/ns/tables/t", some_change("1")),
        posted("/namespaces", R"({"namespace":["n"]})"), dropped("/ns/tables/t")}) {
    const auto refused = send_under(key_number(1), other);
    EXPECT_THAT(refused, HasStatus(422)) << other.target;
    expect_error_body(refused);
  }
  EXPECT_EQ(state(), before);
  EXPECT_THAT(send_under(key_number(1), posted("/namespaces/ns/tables", some_table("t"))),
              HasStatus(200));
}

TEST_F(IdempotencyRules, CarryOutRequestsAtTheSameTimeOnce) {
  constexpr int kThreads = 12;
  create_table("t");
  const auto before = state();
  std::vector<HttpResponse> answers(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        answers[i] = send_under(key_number(1), posted("/namespaces/ns/tables/t", some_change("x")));
      });
    }
  }
  for (const auto& answer : answers) {
    EXPECT_THAT(answer, HasStatus(200));
    EXPECT_EQ(answer.body, answers[0].body);
  }
  EXPECT_EQ(state().generation, before.generation + 1);
  EXPECT_EQ(state().files.size(), before.files.size() + 1);
}

TEST_F(IdempotencyRules, OutliveTheDaemon) {
  const auto request = posted("/namespaces/ns/tables", some_table("t"));
  const auto refused_request = dropped("/ns/tables/none");
  const auto first = send_under(key_number(1), request);
  ASSERT_THAT(first, HasStatus(200));
  EXPECT_THAT(send_under(key_number(2), refused_request), HasStatus(404));
  start(settings());
  const auto before = state();
  const auto again = send_under(key_number(1), request);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("etag"), first.header("etag"));
  EXPECT_THAT(send_under(key_number(2), refused_request), HasStatus(404));
  EXPECT_THAT(send_under(key_number(1), dropped("/ns/tables/t")), HasStatus(422));
  EXPECT_EQ(state(), before);
}

TEST_F(IdempotencyRules, SayNothingToReads) {
  create_table("t");
  const auto loaded = send_under(key_number(1), {.target = "/v1/namespaces/ns/tables/t"});
  EXPECT_THAT(loaded, HasStatus(200));
  EXPECT_THAT(send_under(key_number(1), posted("/namespaces/ns/tables/t", some_change("1"))),
              HasStatus(200));
}

TEST_F(IdempotencyRules, StageTheSameTableAgain) {
  const auto request =
      posted("/namespaces/ns/tables", R"({"stage-create":true,)" + some_table("t").substr(1));
  EXPECT_THAT(send_twice(1, request), HasStatus(200));
}

// That a file cannot be found is no refusal: it may be there the next time.
TEST_F(IdempotencyRules, DoNotKeepThatAFileIsNotThere) {
  create_table("t");
  const auto path = metadata_location(table("t"));
  const auto request = posted("/namespaces/ns/tables/t", some_change("1"));
  std::filesystem::rename(path, path + ".away");
  EXPECT_THAT(send_under(key_number(1), request),
              IsError(404, "NotFoundException", HasSubstr(path)));
  std::filesystem::rename(path + ".away", path);
  EXPECT_THAT(send_under(key_number(1), request), HasStatus(200));
}

TEST_F(IdempotencyRules, DoNotKeepWhatIsOnlySoForNow) {
  auto busy = settings();
  busy.body_bytes_max = 2048;
  start(busy);
  create_namespace(R"(["ns2"])");
  const std::string large = some_table("t").insert(1, R"("x":")" + std::string(4096, ' ') + "\",");
  EXPECT_THAT(send_under(key_number(1), posted("/namespaces/ns2/tables", large)), HasStatus(413));
  start(settings());
  EXPECT_THAT(send_under(key_number(1), posted("/namespaces/ns2/tables", large)), HasStatus(200));
}

}  // namespace
}  // namespace iceblink::test
