#include <gmock/gmock.h>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

class BadInput : public DaemonTest {
 protected:
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.body_bytes_max = 1 << 20;
    start(settings);
  }
  void expect_served() { EXPECT_EQ(connect().get("/healthz").status, 200); }
};

TEST_F(BadInput, ThatIsNotJsonIs400) {
  auto client = connect();
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("{\"namespace\":[\"a\"]"),
        std::string("{\"namespace\":[\"a\"]} x"), std::string("namespace=a"), std::string("[1,2]"),
        std::string("\"a\""), std::string("{'namespace':['a']}"), std::string("{\"a\":\x01}"),
        std::string("{\"namespace\":[\"\xff\"]}"),
        std::string("{\"namespace\":[\"\xed\xa0\x80\"]}"), std::string("\0\0\0", 3)}) {
    const auto refused = client.post("/v1/namespaces", body);
    EXPECT_EQ(refused.status, 400) << body;
    EXPECT_EQ(refused.error_type(), "IllegalArgumentException");
  }
  EXPECT_EQ(client.get("/v1/namespaces").body, R"({"namespaces":[],"next-page-token":null})");
}

TEST_F(BadInput, ThatIsNestedTooDeeplyIs400) {
  auto client = connect();
  for (const std::size_t depth : {40u, 100'000u}) {
    const auto refused =
        client.post("/v1/namespaces", R"({"namespace":["a"],"x":)" + std::string(depth, '[') + "1" +
                                          std::string(depth, ']') + "}");
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.error_message(), HasSubstr("nested"));
  }
  const auto taken =
      client.post("/v1/namespaces",
                  R"({"namespace":["a"],"x":)" + std::string(20, '[') + std::string(20, ']') + "}");
  EXPECT_EQ(taken.status, 200);
}

TEST_F(BadInput, WithAKeyTwiceInOneObjectIs400) {
  auto client = connect();
  const std::string twice[] = {
      R"({"namespace":["a"],"namespace":["b"]})",
      R"({"namespace":["a"],"properties":{"namespace":"1","namespace":"2"}})",
      R"({"namespace":["a"],"n\u0061mespace":["b"]})"};
  for (const std::string& body : twice) {
    const auto refused = client.post("/v1/namespaces", body);
    EXPECT_EQ(refused.status, 400) << body;
    EXPECT_THAT(refused.error_message(), HasSubstr("'namespace' stands twice"));
  }
  const auto taken = client.post(
      "/v1/namespaces", R"({"namespace":["a"],"properties":{"namespace":"1","properties":"2"}})");
  EXPECT_EQ(taken.status, 200);
}

TEST_F(BadInput, OfAMethodThatIsNotServedIsNamed) {
  auto client = connect();
  const auto refused = client.request({.verb = "PATCH", .target = "/v1/namespaces"});
  EXPECT_EQ(refused.status, 405);
  EXPECT_THAT(refused.error_message(), HasSubstr("PATCH /v1/namespaces"));
}

TEST_F(BadInput, ThatIsTooLargeIs413BeforeItIsRead) {
  auto client = connect();
  client.send("POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n");
  const auto refused = client.receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 413);
  EXPECT_EQ(refused->error_type(), "ContentTooLargeException");
  EXPECT_EQ(refused->header("connection"), "close");
  client.send(std::string(1 << 20, 'x'));
  expect_served();
}

TEST_F(BadInput, ThatGrowsTooLargeInChunksIs413) {
  auto client = connect();
  client.send("POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  for (int i = 0; i < 17; ++i) client.send(chunk);
  const auto refused = client.receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 413);
}

TEST_F(BadInput, OfExactlyTheLimitIsTaken) {
  std::string body = R"({"namespace":["a"]})";
  body.insert(1, std::string((1 << 20) - body.size(), ' '));
  EXPECT_EQ(connect().post("/v1/namespaces", body).status, 200);
}

TEST_F(BadInput, InChunksIsReadLikeAnyOther) {
  auto client = connect();
  client.send(
      "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\n{\"nam\r\ne\r\nespace\":[\"a\"]}\r\n0\r\n\r\n");
  const auto created = client.receive();
  ASSERT_TRUE(created.has_value());
  EXPECT_EQ(created->status, 200) << created->body;
}

TEST_F(BadInput, WithAHugeHeaderIs431) {
  auto client = connect();
  client.send("GET /healthz HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  const auto refused = client.receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 431);
}

TEST_F(BadInput, ThatIsNotHttpIs400AndTheEndOfTheConnection) {
  for (const std::string& bytes :
       {std::string("hello\r\n\r\n"), std::string("GET\r\n\r\n"),
        std::string("GET /healthz HTTP/9.9\r\n\r\n"),
        std::string("\x16\x03\x01\x02\x00\r\n\r\n", 9), std::string("GET /a\x1f HTTP/1.1\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nno colon\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")}) {
    auto client = connect();
    client.send(bytes);
    const auto refused = client.receive();
    ASSERT_TRUE(refused.has_value()) << bytes;
    EXPECT_EQ(refused->status, 400) << bytes;
    EXPECT_EQ(refused->error_type(), "BadRequestException");
    EXPECT_TRUE(client.sees_end());
  }
  expect_served();
}

TEST_F(BadInput, IsNoMatterWhenItsClientHangsUpInTheMiddle) {
  const std::string whole = HttpClient::text_of(
      {.verb = "POST", .target = "/v1/namespaces", .body = R"({"namespace":["a"]})"});
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 3) {
    auto client = connect();
    client.send(std::string_view(whole).substr(0, bytes));
    client.close();
  }
  expect_served();
  EXPECT_EQ(connect().head("/v1/namespaces/a").status, 404);
}

TEST_F(BadInput, MayAskForLargeAnswersAndNotReadThem) {
  create_namespace(R"(["a"])");
  std::string large = table_metadata();
  large.insert(1, std::string(8 << 20, ' '));
  register_table("a", "t", write_metadata("large.json", large));
  for (int i = 0; i < 8; ++i) {
    auto client = connect();
    client.send(HttpClient::text_of({.target = "/v1/namespaces/a/tables/t"}));
    if (i % 2 == 0) client.receive("HEAD");  // the head only, then away
  }
  expect_served();
  EXPECT_EQ(
      connect().get("/v1/namespaces/a/tables/t").json().at("metadata").at("location").as_string(),
      "file:///w/t");
}

}  // namespace
}  // namespace iceblink::test
