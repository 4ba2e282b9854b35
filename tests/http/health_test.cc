#include <gmock/gmock.h>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Server : public DaemonTest {};

TEST_F(Server, SaysThatItIsAliveAndReady) {
  auto client = connect();
  EXPECT_EQ(client.get("/healthz").body, R"({"status":"ok"})");
  const auto ready = client.get("/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(ready.json().at("generation").to_number<std::uint64_t>(), daemon().generation());
}

TEST_F(Server, CountsWhatItDoes) {
  create_namespace(R"(["a"])");
  connect().post("/v1/namespaces", R"({"namespace":["a"]})");
  const auto metrics = connect().get("/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_THAT(metrics.header("content-type"), HasSubstr("text/plain"));
  EXPECT_THAT(metrics.body, HasSubstr("\niceblink_commits_total 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("\niceblink_refused_total 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("\niceblink_namespaces 1\n"));
  EXPECT_THAT(metrics.body,
              HasSubstr("\niceblink_generation " + std::to_string(daemon().generation()) + "\n"));
  EXPECT_THAT(metrics.body, HasSubstr("\niceblink_http_answers_total{class=\"4xx\"} 1\n"));
}

TEST_F(Server, ListsExactlyWhatItServes) {
  const auto config = connect().get("/v1/config").json();
  EXPECT_TRUE(config.at("defaults").is_object());
  EXPECT_EQ(config.at("overrides").at("namespace-separator").as_string(), "%1F");
  EXPECT_EQ(config.at("idempotency-key-lifetime").as_string(), "PT30M");
  std::vector<std::string> endpoints;
  for (const auto& endpoint : config.at("endpoints").as_array()) {
    endpoints.emplace_back(endpoint.as_string());
  }
  EXPECT_THAT(
      endpoints,
      ::testing::UnorderedElementsAre(
          "GET /v1/{prefix}/namespaces", "POST /v1/{prefix}/namespaces",
          "GET /v1/{prefix}/namespaces/{namespace}", "HEAD /v1/{prefix}/namespaces/{namespace}",
          "DELETE /v1/{prefix}/namespaces/{namespace}",
          "POST /v1/{prefix}/namespaces/{namespace}/properties",
          "GET /v1/{prefix}/namespaces/{namespace}/tables",
          "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
          "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
          "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}",
          "POST /v1/{prefix}/namespaces/{namespace}/tables",
          "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",
          "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics",
          "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/unregister",
          "POST /v1/{prefix}/namespaces/{namespace}/register", "POST /v1/{prefix}/tables/rename",
          "POST /v1/{prefix}/transactions/commit", "GET /v1/{prefix}/namespaces/{namespace}/views",
          "POST /v1/{prefix}/namespaces/{namespace}/views",
          "GET /v1/{prefix}/namespaces/{namespace}/views/{view}",
          "HEAD /v1/{prefix}/namespaces/{namespace}/views/{view}",
          "POST /v1/{prefix}/namespaces/{namespace}/views/{view}",
          "DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}",
          "POST /v1/{prefix}/namespaces/{namespace}/register-view",
          "POST /v1/{prefix}/views/rename"));
}

TEST_F(Server, KnowsItsWarehouseByNameAndByUri) {
  auto client = connect();
  const std::string path = scratch().path() + "/warehouse";
  for (const std::string& query :
       {std::string(), std::string("?warehouse="), std::string("?warehouse=main"),
        "?warehouse=file://" + path, "?warehouse=file%3A%2F%2F" + path + "%2F",
        std::string("?other=1")}) {
    EXPECT_EQ(client.get("/v1/config" + query).status, 200) << query;
  }
  const auto other = client.get("/v1/config?warehouse=other");
  EXPECT_EQ(other.status, 404);
  EXPECT_EQ(other.error_type(), "NoSuchWarehouseException");
}

TEST_F(Server, AnswersUnknownPathsWithAnErrorBody) {
  auto client = connect();
  for (const char* path : {"/", "/v1", "/v1/namespaces/a/functions", "/v1/x", "/v2/config",
                           "/v1/namespaces/a/tables/t/u", "//"}) {
    const auto missing = client.get(path);
    EXPECT_EQ(missing.status, 404) << path;
    EXPECT_EQ(missing.error_type(), "NoSuchEndpointException");
  }
}

TEST_F(Server, SaysWhichVerbsAPathAllows) {
  auto client = connect();
  const auto put = client.request({.verb = "PUT", .target = "/v1/namespaces/a"});
  EXPECT_EQ(put.status, 405);
  EXPECT_EQ(put.header("allow"), "GET, HEAD, DELETE");
  EXPECT_EQ(put.error_type(), "MethodNotAllowedException");
  EXPECT_EQ(client.post("/v1/config", "{}").header("allow"), "GET, HEAD");
  EXPECT_EQ(client.get("/v1/tables/rename").header("allow"), "POST");
  EXPECT_EQ(client.request({.verb = "PROPFIND", .target = "/healthz"}).status, 405);
}

TEST_F(Server, AnswersHeadWhereverItAnswersGet) {
  auto client = connect();
  const auto head = client.head("/v1/config");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), std::to_string(client.get("/v1/config").body.size()));
}

class TcpServer : public DaemonTest {
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.listen = "127.0.0.1:0";
    start(settings);
  }
};

TEST_F(TcpServer, ServesLoopbackBesideTheUnixSocket) {
  auto client = HttpClient::to_loopback(daemon().tcp_port());
  ASSERT_TRUE(client.is_connected());
  EXPECT_EQ(client.post("/v1/namespaces", R"({"namespace":["a"]})").status, 200);
  EXPECT_EQ(connect().head("/v1/namespaces/a").status, 204);
}

}  // namespace
}  // namespace iceblink::test
