#include <gmock/gmock.h>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

class Namespaces : public DaemonTest {};

TEST_F(Namespaces, AreCreatedLoadedAndDropped) {
  auto client = connect();
  const auto created =
      client.post("/v1/namespaces", R"({"namespace":["a"],"properties":{"k":"v","l":""}})");
  EXPECT_EQ(created.status, 200);
  EXPECT_EQ(created.body, R"({"namespace":["a"],"properties":{"k":"v","l":""}})");
  EXPECT_EQ(client.get("/v1/namespaces/a").body, created.body);
  EXPECT_EQ(client.head("/v1/namespaces/a").status, 204);
  EXPECT_EQ(client.del("/v1/namespaces/a").status, 204);
  EXPECT_EQ(client.head("/v1/namespaces/a").status, 404);
}

TEST_F(Namespaces, ThatExistCannotBeCreatedAgain) {
  create_namespace(R"(["a"])");
  const auto again = connect().post("/v1/namespaces", R"({"namespace":["a"]})");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.error_type(), "AlreadyExistsException");
  EXPECT_THAT(again.error_message(), HasSubstr("Namespace already exists"));
}

TEST_F(Namespaces, NeedTheirParent) {
  const auto orphan = connect().post("/v1/namespaces", R"({"namespace":["no","child"]})");
  EXPECT_EQ(orphan.status, 404);
  EXPECT_EQ(orphan.error_type(), "NoSuchNamespaceException");
}

TEST_F(Namespaces, ThatDoNotExistAre404InTheReferencesWords) {
  auto client = connect();
  for (const auto& response :
       {client.get("/v1/namespaces/new.db"), client.del("/v1/namespaces/new.db"),
        client.post("/v1/namespaces/new.db/properties", R"({"updates":{"a":"b"}})"),
        client.get("/v1/namespaces/new.db/tables"), client.get("/v1/namespaces?parent=new.db")}) {
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.error_type(), "NoSuchNamespaceException");
    EXPECT_EQ(response.error_message(), "Namespace does not exist: new.db");
  }
}

TEST_F(Namespaces, WithChildrenOrTablesAreNotDropped) {
  auto client = connect();
  create_namespace(R"(["n1"])");
  create_namespace(R"(["n1","n2"])");
  register_table("n1%1Fn2", "t", write_table("t.json"));
  for (const char* full : {"/v1/namespaces/n1", "/v1/namespaces/n1%1Fn2"}) {
    const auto refused = client.del(full);
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.error_type(), "NamespaceNotEmptyException");
    EXPECT_THAT(refused.error_message(), HasSubstr("is not empty"));
  }
  EXPECT_EQ(client.del("/v1/namespaces/n1%1Fn2/tables/t").status, 204);
  EXPECT_EQ(client.del("/v1/namespaces/n1%1Fn2").status, 204);
  EXPECT_EQ(client.del("/v1/namespaces/n1").status, 204);
}

TEST_F(Namespaces, WithoutANameAreRefusedAndNotStored) {
  auto client = connect();
  for (const char* levels : {R"([""])", "[]", R"(["a",""])", R"(["a\u0000b"])", R"(["a\u001fb"])",
                             R"("a")", "[1]", "null"}) {
    const auto refused =
        client.post("/v1/namespaces", R"({"namespace":)" + std::string(levels) + "}");
    EXPECT_EQ(refused.status, 400) << levels;
    EXPECT_EQ(refused.error_type(), "IllegalArgumentException");
  }
  EXPECT_EQ(client.get("/v1/namespaces").body, R"({"namespaces":[],"next-page-token":null})");
}

TEST_F(Namespaces, TakePropertiesOfStringsOnly) {
  auto client = connect();
  EXPECT_EQ(client.post("/v1/namespaces", R"({"namespace":["a"],"properties":{"k":1}})").status,
            400);
  EXPECT_EQ(client.post("/v1/namespaces", R"({"namespace":["a"],"properties":null})").status, 200);
}

TEST_F(Namespaces, ChangePropertiesAllAtOnce) {
  auto client = connect();
  client.post("/v1/namespaces", R"({"namespace":["a"],"properties":{"x":"1","y":"2"}})");
  const auto changed = client.post("/v1/namespaces/a/properties",
                                   R"({"removals":["x","nope"],"updates":{"y":"3","z":"4"}})");
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(changed.body, R"({"updated":["y","z"],"removed":["x"],"missing":["nope"]})");
  EXPECT_EQ(client.get("/v1/namespaces/a").body,
            R"({"namespace":["a"],"properties":{"y":"3","z":"4"}})");
}

TEST_F(Namespaces, RefuseAPropertyBothSetAndRemoved) {
  auto client = connect();
  create_namespace(R"(["a"])");
  const auto refused =
      client.post("/v1/namespaces/a/properties", R"({"removals":["x"],"updates":{"x":"1"}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.error_type(), "UnprocessableEntityException");
}

TEST_F(Namespaces, AreListedByParentAndDirectChildrenOnly) {
  auto client = connect();
  for (const char* levels :
       {R"(["b"])", R"(["a"])", R"(["a","y"])", R"(["a","x"])", R"(["a","x","z"])"}) {
    create_namespace(levels);
  }
  EXPECT_EQ(client.get("/v1/namespaces").body,
            R"({"namespaces":[["a"],["b"]],"next-page-token":null})");
  EXPECT_EQ(client.get("/v1/namespaces?parent=").body,
            R"({"namespaces":[["a"],["b"]],"next-page-token":null})");
  EXPECT_EQ(client.get("/v1/namespaces?parent=a").body,
            R"({"namespaces":[["a","x"],["a","y"]],"next-page-token":null})");
  EXPECT_EQ(client.get("/v1/namespaces?parent=a%1Fx&unknown=1").body,
            R"({"namespaces":[["a","x","z"]],"next-page-token":null})");
}

TEST_F(Namespaces, ArePagedByTheLastName) {
  auto client = connect();
  for (char c = 'a'; c <= 'e'; ++c) create_namespace(std::string("[\"") + c + "\"]");
  std::string names;
  std::string token;
  for (int page = 0; page < 3; ++page) {
    const auto body = client.get("/v1/namespaces?pageSize=2&pageToken=" + token).json();
    for (const auto& levels : body.at("namespaces").as_array()) {
      names += levels.at(0).as_string();
    }
    // What changes behind the page does not shift what comes.
    if (page == 0) {
      EXPECT_EQ(client.del("/v1/namespaces/a").status, 204);
    }
    const auto& next = body.at("next-page-token");
    EXPECT_EQ(next.is_null(), page == 2);
    if (next.is_string()) token = std::string(next.as_string());
  }
  EXPECT_EQ(names, "abcde");
}

TEST_F(Namespaces, GiveEverythingWhenNoPageTokenWasSent) {
  auto client = connect();
  create_namespace(R"(["a"])");
  create_namespace(R"(["b"])");
  EXPECT_EQ(client.get("/v1/namespaces?pageSize=1").body,
            R"({"namespaces":[["a"],["b"]],"next-page-token":null})");
}

TEST_F(Namespaces, RefuseBadPageTokensAndSizes) {
  auto client = connect();
  create_namespace(R"(["a"])");
  for (const char* query : {"pageToken=AAAA", "pageToken=%00", "pageSize=0", "pageSize=-1",
                            "pageSize=x", "pageSize=", "pageToken=&pageSize=0"}) {
    const auto refused = client.get(std::string("/v1/namespaces?") + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_EQ(refused.error_type(), "IllegalArgumentException");
    EXPECT_EQ(client.get(std::string("/v1/namespaces/a/tables?") + query).status, 400) << query;
  }
  EXPECT_EQ(client.get("/v1/namespaces?pageToken=&pageSize=99999999999999999999999").status, 200);
}

}  // namespace
}  // namespace iceblink::test
