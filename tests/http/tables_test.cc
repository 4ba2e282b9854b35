#include <gmock/gmock.h>

#include <filesystem>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

class Tables : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
  }
};

TEST_F(Tables, ExistAfterTheirRegistrationOnly) {
  auto client = connect();
  EXPECT_EQ(client.head("/v1/namespaces/ns/tables/t").status, 404);
  register_table("ns", "t", write_table("t.json"));
  const auto exists = client.head("/v1/namespaces/ns/tables/t");
  EXPECT_EQ(exists.status, 204);
  EXPECT_EQ(exists.body, "");
  EXPECT_EQ(exists.header("iceblink-generation"), std::to_string(daemon().generation()));
}

TEST_F(Tables, ThatDoNotExistAre404InTheReferencesWords) {
  auto client = connect();
  for (const auto& response :
       {client.get("/v1/namespaces/ns/tables/tbl"), client.del("/v1/namespaces/ns/tables/tbl")}) {
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.error_type(), "NoSuchTableException");
    EXPECT_EQ(response.error_message(), "Table does not exist: ns.tbl");
  }
  const auto no_namespace = client.get("/v1/namespaces/non-existing/tables/tbl");
  EXPECT_EQ(no_namespace.error_type(), "NoSuchTableException");
  EXPECT_EQ(no_namespace.error_message(), "Table does not exist: non-existing.tbl");
  const auto probe = client.get("/v1/namespaces/ns%1Ftbl/tables/files");
  EXPECT_EQ(probe.status, 404);
  EXPECT_EQ(probe.error_type(), "NoSuchTableException");
}

TEST_F(Tables, AreListedPerNamespaceAndPaged) {
  auto client = connect();
  create_namespace(R"(["other"])");
  const auto location = write_table("t.json");
  for (const char* name : {"t2", "t1", "t3"}) register_table("ns", name, location);
  register_table("other", "x", location);
  const auto all = client.get("/v1/namespaces/ns/tables");
  EXPECT_EQ(all.body,
            R"({"identifiers":[{"namespace":["ns"],"name":"t1"},{"namespace":["ns"],"name":"t2"},)"
            R"({"namespace":["ns"],"name":"t3"}],"next-page-token":null})");
  const auto first = client.get("/v1/namespaces/ns/tables?pageToken=&pageSize=2").json();
  EXPECT_EQ(first.at("identifiers").as_array().size(), 2u);
  const std::string token(first.at("next-page-token").as_string());
  const auto second = client.get("/v1/namespaces/ns/tables?pageSize=2&pageToken=" + token).json();
  EXPECT_EQ(second.at("identifiers").as_array().size(), 1u);
  EXPECT_EQ(second.at("identifiers").at(0).at("name").as_string(), "t3");
  EXPECT_TRUE(second.at("next-page-token").is_null());
  EXPECT_EQ(client.get("/v1/namespaces/other/tables?pageToken=" + token).status, 400);
}

TEST_F(Tables, InANamespaceThatDoesNotExistCannotBeListed) {
  const auto refused = connect().get("/v1/namespaces/non-existing/tables");
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(refused.error_message(), "Namespace does not exist: non-existing");
}

TEST_F(Tables, AreDroppedWithoutTheirFiles) {
  auto client = connect();
  const auto location = write_table("t.json");
  register_table("ns", "t", location);
  EXPECT_EQ(client.del("/v1/namespaces/ns/tables/t?purgeRequested=false").status, 204);
  EXPECT_EQ(client.head("/v1/namespaces/ns/tables/t").status, 404);
  EXPECT_TRUE(std::filesystem::exists(location));
}

TEST_F(Tables, AreNotDroppedWhenThePurgeThatWasAskedForIsNeitherTrueNorFalse) {
  auto client = connect();
  register_table("ns", "t", write_table("t.json"));
  const auto refused = client.del("/v1/namespaces/ns/tables/t?purgeRequested=maybe");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.error_message(), HasSubstr("purgeRequested 'maybe'"));
  EXPECT_EQ(client.head("/v1/namespaces/ns/tables/t").status, 204);
}

std::string rename_body(const std::string& from, const std::string& to,
                        const std::string& to_namespace = "ns") {
  return R"({"source":{"namespace":["ns"],"name":")" + from +
         R"("},"destination":{"namespace":[")" + to_namespace + R"("],"name":")" + to + R"("}})";
}

TEST_F(Tables, AreRenamedInAndAcrossNamespaces) {
  auto client = connect();
  create_namespace(R"(["other"])");
  register_table("ns", "a", write_table("a.json"));
  EXPECT_EQ(client.post("/v1/tables/rename", rename_body("a", "b")).status, 204);
  EXPECT_EQ(client.head("/v1/namespaces/ns/tables/a").status, 404);
  EXPECT_EQ(client.head("/v1/namespaces/ns/tables/b").status, 204);
  EXPECT_EQ(client.post("/v1/tables/rename", rename_body("b", "b", "other")).status, 204);
  EXPECT_EQ(client.head("/v1/namespaces/other/tables/b").status, 204);
}

TEST_F(Tables, KeepTheirNamesWhenARenameFails) {
  auto client = connect();
  register_table("ns", "a", write_table("a.json", 'a'));
  register_table("ns", "b", write_table("b.json", 'b'));
  const auto before = client.get("/v1/namespaces/ns/tables/b").body;
  const auto taken = client.post("/v1/tables/rename", rename_body("a", "b"));
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(taken.error_type(), "AlreadyExistsException");
  EXPECT_THAT(taken.error_message(), HasSubstr("Table already exists"));
  const auto no_source = client.post("/v1/tables/rename", rename_body("nope", "c"));
  EXPECT_EQ(no_source.status, 404);
  EXPECT_EQ(no_source.error_type(), "NoSuchTableException");
  const auto no_target = client.post("/v1/tables/rename", rename_body("a", "a", "non_existing"));
  EXPECT_EQ(no_target.status, 404);
  EXPECT_EQ(no_target.error_type(), "NoSuchNamespaceException");
  EXPECT_EQ(no_target.error_message(), "Namespace does not exist: non_existing");
  EXPECT_EQ(client.head("/v1/namespaces/ns/tables/a").status, 204);
  EXPECT_EQ(client.get("/v1/namespaces/ns/tables/b").body, before);
}

TEST_F(Tables, RefuseARenameThatNamesNoTable) {
  auto client = connect();
  for (const char* body : {"{}", R"({"source":{"namespace":["ns"],"name":"a"}})",
                           R"({"source":"ns.a","destination":"ns.b"})",
                           R"({"source":{"namespace":["ns"],"name":""},)"
                           R"("destination":{"namespace":["ns"],"name":"b"}})"}) {
    EXPECT_EQ(client.post("/v1/tables/rename", body).status, 400) << body;
  }
}

}  // namespace
}  // namespace iceblink::test
