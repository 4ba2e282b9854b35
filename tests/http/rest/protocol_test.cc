// What holds of all requests: what the config lists, and that what is not understood is refused
// and changes nothing.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RestProtocol : public RestTest {};

TEST_F(RestProtocol, ListsTheEndpointsThatClientsChooseBy) {
  const auto config = connect().get("/v1/config").json();
  std::vector<std::string> endpoints;
  for (const auto& endpoint : config.at("endpoints").as_array()) {
    endpoints.push_back(text_of(endpoint));
  }
  for (const std::string path :
       {"/v1/{prefix}/namespaces/{namespace}", "/v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "/v1/{prefix}/namespaces/{namespace}/views/{view}"}) {
    for (const char* verb : {"GET ", "HEAD ", "DELETE "}) {
      EXPECT_THAT(endpoints, Contains(verb + path));
    }
  }
  for (const char* endpoint :
       {"GET /v1/{prefix}/namespaces", "POST /v1/{prefix}/namespaces",
        "POST /v1/{prefix}/namespaces/{namespace}/properties",
        "GET /v1/{prefix}/namespaces/{namespace}/tables",
        "POST /v1/{prefix}/namespaces/{namespace}/tables",
        "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics",
        "POST /v1/{prefix}/namespaces/{namespace}/register", "POST /v1/{prefix}/tables/rename",
        "POST /v1/{prefix}/transactions/commit", "GET /v1/{prefix}/namespaces/{namespace}/views",
        "POST /v1/{prefix}/namespaces/{namespace}/views",
        "POST /v1/{prefix}/namespaces/{namespace}/views/{view}", "POST /v1/{prefix}/views/rename",
        "POST /v1/{prefix}/namespaces/{namespace}/register-view"}) {
    EXPECT_THAT(endpoints, Contains(endpoint));
  }
  for (const auto& endpoint : endpoints) {
    EXPECT_THAT(endpoint, Not(HasSubstr("/plan")));
    EXPECT_THAT(endpoint, Not(HasSubstr("oauth")));
  }
}

TEST_F(RestProtocol, RefusesUpdatesAndRequirementsItDoesNotKnow) {
  const auto base = create_table("tbl");
  const auto view_base = create_sql_view("view");
  const Commit update{{}, {set_properties({{"a", "1"}}), Object{{"action", "frobnicate"}}}};
  const Commit requirement{{Object{{"type", "assert-moon"}}}, {set_properties({{"a", "1"}})}};
  for (const auto& [wanted, word] :
       {std::pair(update, "frobnicate"), std::pair(requirement, "assert-moon")}) {
    for (const auto& refused : {commit("tbl", wanted), commit_view("view", wanted),
                                transact({wanted.body_for("ns", "tbl")})}) {
      EXPECT_THAT(refused, IsError(400, "IllegalArgumentException", HasSubstr(word)));
    }
  }
  EXPECT_EQ(load("tbl"), base);
  EXPECT_EQ(load_view("view"), view_base);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(RestProtocol, IgnoresMembersItDoesNotKnow) {
  const auto base = create_table("tbl");
  Object body = properties_change(base, {{"a", "1"}}).body();
  body["unknown"] = Array{1, 2};
  body["requirements"].as_array().at(0).as_object()["more"] = true;
  body["updates"].as_array().at(0).as_object()["more"] = nullptr;
  EXPECT_THAT(post(table("tbl"), body), HasStatus(200));
  EXPECT_EQ(property(load("tbl"), "a"), "1");
}

TEST_F(RestProtocol, RefusesABodyForAnotherTable) {
  const auto base = create_table("tbl");
  create_table("other");
  EXPECT_THAT(post(table("tbl"), properties_change(base, {{"a", "1"}}).body_for("ns", "other")),
              IsError(400, "IllegalArgumentException", Not(IsEmpty())));
  EXPECT_THAT(post(table("tbl"), properties_change(base, {{"a", "1"}}).body_for("ns", "tbl")),
              HasStatus(200));
}

TEST_F(RestProtocol, ComparesUuidsWithoutRegardToCase) {
  const auto base = create_table("tbl");
  std::string uuid = text_of(base.at("table-uuid"));
  for (char& c : uuid) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const Commit wanted{{assert_table_uuid(Value(uuid))}, {set_properties({{"a", "1"}})}};
  EXPECT_THAT(commit("tbl", wanted), HasStatus(200));
}

TEST_F(RestProtocol, AppliesNothingWhereTheLastUpdateIsWrong) {
  const auto base = create_table("tbl");
  const Commit wanted{
      {},
      {set_properties({{"a", "1"}}), set_location(warehouse() + "/moved"), set_default_spec(5)}};
  EXPECT_THAT(commit("tbl", wanted), IsError(400, "IllegalArgumentException", Not(IsEmpty())));
  EXPECT_EQ(load("tbl"), base);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(RestProtocol, WritesNothingOutsideOfTheWriteRoots) {
  const auto base = create_table("tbl");
  for (const char* location : {"/proc/elsewhere", "/tmp/../proc/elsewhere"}) {
    EXPECT_THAT(commit("tbl", {{}, {set_location(location)}}),
                IsError(403, "ForbiddenException", Not(IsEmpty())))
        << location;
  }
  EXPECT_EQ(load("tbl"), base);
}

TEST_F(RestProtocol, DoesNotSayWhatItDoesNotServe) {
  create_table("tbl");
  for (const char* path : {"/plan", "/credentials", "/sign"}) {
    EXPECT_THAT(post(table("tbl") + path, Object{}).error_type(), HasSubstr("Exception")) << path;
    EXPECT_GE(post(table("tbl") + path, Object{}).status, 404) << path;
  }
}

}  // namespace
}  // namespace iceblink::test
