#include <gmock/gmock.h>

#include <string>

#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

constexpr char kViews[] = "/v1/namespaces/ns/views";
constexpr char kView[] = "/v1/namespaces/ns/views/v";

class Views : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
  }
  HttpResponse make(const std::string& name) { return connect().post(kViews, view_creation(name)); }
};

std::string renaming(const std::string& from, const std::string& to) {
  return R"({"source":{"namespace":["ns"],"name":")" + from +
         R"("},"destination":{"namespace":["ns"],"name":")" + to + R"("}})";
}

TEST_F(Views, AreMadeLoadedChangedAndDropped) {
  auto client = connect();
  const auto made = make("v");
  ASSERT_EQ(made.status, 200) << made.body;
  const auto loaded = client.get(kView);
  EXPECT_EQ(loaded.body, made.body);
  EXPECT_TRUE(loaded.json().at("config").is_object());
  EXPECT_EQ(client.head(kView).status, 204);
  const auto changed = client.post(kView, commit(set_property("k", "v")));
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(client.get(kView).body, changed.body);
  EXPECT_EQ(client.del(kView).status, 204);
  EXPECT_EQ(client.head(kView).status, 404);
}

TEST_F(Views, AreNotLoadedAgainWhenTheyHaveNotChanged) {
  ASSERT_EQ(make("v").status, 200);
  auto client = connect();
  const auto etag = client.get(kView).header("etag");
  const auto unchanged = client.request({.target = kView, .headers = {"If-None-Match: " + etag}});
  EXPECT_EQ(unchanged.status, 304);
  ASSERT_EQ(client.post(kView, commit(set_property("k", "v"))).status, 200);
  EXPECT_EQ(client.request({.target = kView, .headers = {"If-None-Match: " + etag}}).status, 200);
}

TEST_F(Views, AreNoTables) {
  auto client = connect();
  ASSERT_EQ(make("v").status, 200);
  ASSERT_EQ(client.post("/v1/namespaces/ns/tables", table_creation("t")).status, 200);
  const auto as_table = client.get("/v1/namespaces/ns/tables/v");
  EXPECT_EQ(as_table.status, 404);
  EXPECT_EQ(as_table.error_message(), "Table does not exist: ns.v");
  const auto as_view = client.get("/v1/namespaces/ns/views/t");
  EXPECT_EQ(as_view.status, 404);
  EXPECT_EQ(as_view.error_type(), "NoSuchViewException");
  EXPECT_EQ(as_view.error_message(), "View does not exist: ns.t");
  EXPECT_EQ(client.get("/v1/namespaces/none/views/v").error_message(),
            "View does not exist: none.v");
  EXPECT_EQ(client.del("/v1/namespaces/ns/views/t").status, 404);
  EXPECT_EQ(make("v").error_message(), "View already exists: ns.v");
  const auto taken = make("t");
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(taken.error_message(), "Table with same name already exists: ns.t");
  EXPECT_THAT(client.del("/v1/namespaces/ns").error_message(), HasSubstr("is not empty"));
}

TEST_F(Views, AreListedInPagesOfTheirOwn) {
  auto client = connect();
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(make(name).status, 200);
  ASSERT_EQ(client.post("/v1/namespaces/ns/tables", table_creation("t")).status, 200);
  EXPECT_EQ(client.get(kViews).json().at("identifiers").as_array().size(), 3U);
  const auto first = client.get(std::string(kViews) + "?pageToken=&pageSize=2").json();
  EXPECT_EQ(first.at("identifiers").as_array().size(), 2U);
  const std::string token(first.at("next-page-token").as_string());
  const auto last = client.get(std::string(kViews) + "?pageSize=2&pageToken=" + token).json();
  EXPECT_EQ(last.at("identifiers").at(0).at("name").as_string(), "c");
  EXPECT_TRUE(last.at("next-page-token").is_null());
  EXPECT_EQ(client.get("/v1/namespaces/ns/tables?pageToken=" + token).status, 400);
  EXPECT_EQ(client.get("/v1/namespaces/none/views").error_message(),
            "Namespace does not exist: none");
}

TEST_F(Views, AreRenamedToNamesThatNothingHas) {
  auto client = connect();
  ASSERT_EQ(make("v").status, 200);
  ASSERT_EQ(make("w").status, 200);
  EXPECT_EQ(client.post("/v1/views/rename", renaming("v", "w")).error_message(),
            "Cannot rename ns.v to ns.w. View already exists");
  EXPECT_EQ(client.post("/v1/views/rename", renaming("v", "x")).status, 204);
  EXPECT_EQ(client.head("/v1/namespaces/ns/views/x").status, 204);
  const auto missing = client.post("/v1/views/rename", renaming("v", "y"));
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.error_type(), "NoSuchViewException");
}

TEST_F(Views, AreRegisteredFromTheirFilesAlone) {
  auto client = connect();
  const std::string target = "/v1/namespaces/ns/register-view";
  const auto body = [&](const std::string& name, const std::string& location) {
    return R"({"name":")" + name + R"(","metadata-location":")" + location + R"("})";
  };
  const std::string view = write_metadata("v.json", view_metadata());
  const std::string table = write_table("t.json");
  const auto registered = client.post(target, body("v", view));
  ASSERT_EQ(registered.status, 200) << registered.body;
  EXPECT_EQ(client.get(kView).body, registered.body);
  EXPECT_EQ(client.post(target, body("v", view)).error_message(), "View already exists: ns.v");
  register_table("ns", "t", table);
  EXPECT_EQ(client.post(target, body("t", view)).error_message(),
            "Table with same name already exists: ns.t");
  EXPECT_EQ(client.post("/v1/namespaces/ns/register", body("v", table)).error_message(),
            "View with same name already exists: ns.v");
  EXPECT_EQ(client.post(target, body("w", table)).status, 400);
}

}  // namespace
}  // namespace iceblink::test
