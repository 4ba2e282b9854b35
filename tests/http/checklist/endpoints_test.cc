// GET /v1/config, and that what it says is served is served (specification, "getConfig").
#include <chrono>
#include <set>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// What clients assume of a server that lists none, the probes that they fall back from, and what
/// they only use when it is listed.
const std::vector<std::string> kExpected = {
    "GET /v1/{prefix}/namespaces",
    "POST /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "DELETE /v1/{prefix}/namespaces/{namespace}",
    "POST /v1/{prefix}/namespaces/{namespace}/properties",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "POST /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/register",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics",
    "POST /v1/{prefix}/tables/rename",
    "POST /v1/{prefix}/transactions/commit",
    "GET /v1/{prefix}/namespaces/{namespace}/views",
    "POST /v1/{prefix}/namespaces/{namespace}/views",
    "GET /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "POST /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "POST /v1/{prefix}/views/rename",
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

class Endpoints : public ChecklistTest {
 protected:
  HttpResponse config(const std::string& query = "") {
    return send({.target = "/v1/config" + query});
  }
  std::vector<std::string> endpoints() {
    const auto body = config().json();
    std::vector<std::string> listed;
    for (const auto& endpoint : body.at("endpoints").as_array()) {
      listed.push_back(text_of(endpoint));
    }
    return listed;
  }
  /// The verb and the path, of a table or view that is not there.
  static HttpRequest request_of(const std::string& endpoint) {
    const auto space = endpoint.find(' ');
    HttpRequest request{.verb = endpoint.substr(0, space)};
    request.target = replaced(endpoint.substr(space + 1), "/{prefix}", "");
    request.target = replaced(request.target, "{namespace}", "nowhere");
    request.target = replaced(request.target, "{table}", "none");
    request.target = replaced(request.target, "{view}", "none");
    if (request.verb == "POST") request.body = "{}";
    return request;
  }
};

TEST_F(Endpoints, AreAllThatClientsNeedListedOnceEach) {
  const auto listed = endpoints();
  EXPECT_THAT(listed, IsSupersetOf(kExpected));
  EXPECT_EQ(std::set(listed.begin(), listed.end()).size(), listed.size());
}

TEST_F(Endpoints, ThatAreListedAreServed) {
  for (const auto& endpoint : endpoints()) {
    const auto request = request_of(endpoint);
    ASSERT_THAT(request.target, Not(HasSubstr("{"))) << endpoint;
    const auto answer = send(request);
    EXPECT_NE(answer.status, 405) << endpoint;
    EXPECT_LT(answer.status, 500) << endpoint;
    if (request.verb == "HEAD" || answer.status < 400) continue;
    expect_error_body(answer);
    EXPECT_NE(answer.error_type(), "NoSuchEndpointException") << endpoint;
  }
}

TEST_F(Endpoints, ThatAreNotServedAreNotListedAndHaveNoRoute) {
  const auto listed = endpoints();
  for (const auto& word : {"plan", "tasks", "credentials", "sign", "oauth", "functions"}) {
    EXPECT_THAT(listed, Not(Contains(HasSubstr(word))));
  }
  EXPECT_THAT(listed, Not(Contains(HasSubstr("/v1/config"))));
  create_table("t");
  for (const auto& request :
       {HttpRequest{.verb = "POST", .target = "/v1/namespaces/ns/tables/t/plan", .body = "{}"},
        HttpRequest{.verb = "POST", .target = "/v1/namespaces/ns/tables/t/tasks", .body = "{}"},
        HttpRequest{.verb = "GET", .target = "/v1/namespaces/ns/tables/t/credentials"},
        HttpRequest{.verb = "POST", .target = "/v1/namespaces/ns/tables/t/sign", .body = "{}"},
        HttpRequest{.verb = "GET", .target = "/v1/namespaces/ns/functions"},
        HttpRequest{.verb = "POST", .target = "/v1/oauth/tokens", .body = "a=b"}}) {
    const auto answer = send(request);
    EXPECT_THAT(answer, HasStatus(404)) << request.target;
    expect_error_body(answer);
  }
}

TEST_F(Endpoints, HaveNoEmptySegmentForAPrefixThatIsNotSet) {
  EXPECT_THAT(send({.target = "/v1//namespaces"}), HasStatus(404));
  EXPECT_THAT(send({.target = "/v1/namespaces"}), HasStatus(200));
  const auto body = config().json();
  EXPECT_FALSE(body.at("overrides").as_object().contains("prefix"));
  EXPECT_FALSE(body.at("defaults").as_object().contains("prefix"));
}

TEST_F(Endpoints, ComeWithWhatClientsMustKnow) {
  const auto body = config().json();
  EXPECT_TRUE(body.at("defaults").is_object());
  EXPECT_EQ(body.at("overrides").at("namespace-separator"), "%1F");
  EXPECT_EQ(body.at("idempotency-key-lifetime"), "PT30M");
  for (const auto& part : {"defaults", "overrides"}) {
    for (const auto& [key, value] : body.at(part).as_object())
      EXPECT_TRUE(value.is_string()) << key;
  }
}

TEST_F(Endpoints, ComeWithTheLifetimeOfKeysThatIsSet) {
  using std::chrono::milliseconds;
  for (const auto& [lifetime, text] : {std::pair(milliseconds(1000), "PT1S"),
                                       {milliseconds(90 * 60'000), "PT90M"},
                                       {milliseconds(1500), "PT1.500S"}}) {
    auto other = settings();
    other.idempotency_lifetime = lifetime;
    start(other);
    EXPECT_EQ(text_of(config().json().at("idempotency-key-lifetime")), text);
  }
}

TEST_F(Endpoints, AreOfOneWarehouse) {
  EXPECT_THAT(config("?warehouse="), HasStatus(200));
  EXPECT_THAT(config("?warehouse=main"), HasStatus(200));
  EXPECT_THAT(config("?warehouse=" + warehouse()), HasStatus(200));
  EXPECT_THAT(config("?warehouse=another%20one"),
              IsError(404, "NoSuchWarehouseException", HasSubstr("another one")));
}

TEST_F(Endpoints, AreTheSameWithAHead) {
  const auto answer = send({.verb = "HEAD", .target = "/v1/config"});
  EXPECT_THAT(answer, HasStatus(200));
  EXPECT_THAT(answer.body, IsEmpty());
}

}  // namespace
}  // namespace iceblink::test
