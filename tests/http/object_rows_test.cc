#include <gmock/gmock.h>

#include <optional>
#include <vector>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

class ObjectRows : public DaemonTest {
 protected:
  HttpResponse rows(const std::string& query = "") {
    return connect().get("/iceblink/v1/objects" + query);
  }
  static std::string text(const boost::json::value& object, const char* member) {
    return std::string(object.at(member).as_string());
  }
};

TEST_F(ObjectRows, AreOfAnEmptyCatalogNone) {
  const auto body = rows().json();
  EXPECT_EQ(body.at("generation").to_number<std::uint64_t>(), daemon().generation());
  EXPECT_EQ(body.at("incarnation").as_string().size(), 16U);
  EXPECT_TRUE(body.at("objects").as_array().empty());
  EXPECT_TRUE(body.at("next").is_null());
}

TEST_F(ObjectRows, SayAllThatTheStoreKnows) {
  create_namespace(R"(["a"])");
  const auto location = write_table("t.json");
  register_table("a", "t", location);
  EXPECT_EQ(connect()
                .post("/v1/namespaces/a/register",
                      R"({"name":"u","metadata-location":"s3://u","unverified":true})")
                .status,
            200);
  const auto body = rows().json();
  const auto& objects = body.at("objects").as_array();
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(text(objects[0], "kind"), "namespace");
  EXPECT_FALSE(objects[0].as_object().contains("name"));
  EXPECT_EQ(text(objects[1], "kind"), "table");
  EXPECT_EQ(text(objects[1], "name"), "t");
  EXPECT_EQ(text(objects[1], "metadata-location"), location);
  EXPECT_EQ(text(objects[1], "table-uuid").size(), 36U);
  EXPECT_EQ(text(objects[1], "metadata-fingerprint").size(), 32U);
  EXPECT_EQ(objects[1].at("format-version"), 2);
  EXPECT_EQ(objects[1].at("generation").to_number<std::uint64_t>(), daemon().generation() - 1);
  EXPECT_EQ(text(objects[2], "name"), "u");
  EXPECT_FALSE(objects[2].as_object().contains("metadata-fingerprint"));
  EXPECT_FALSE(objects[2].as_object().contains("table-uuid"));
}

TEST_F(ObjectRows, ComeInPagesThatMissAndDoubleNothing) {
  for (const char* levels : {R"(["a"])", R"(["a","b"])", R"(["c"])"}) create_namespace(levels);
  const auto location = write_table("t.json");
  for (const char* name : {"t1", "t2", "t3"}) register_table("a", name, location);
  std::vector<std::string> seen;
  std::string query = "?limit=2";
  for (int page = 0; page < 3; ++page) {
    const auto body = rows(query).json();
    for (const auto& object : body.at("objects").as_array()) {
      const auto* const name = object.as_object().if_contains("name");
      seen.push_back(name != nullptr
                         ? std::string(name->as_string())
                         : std::string(object.at("namespace").as_array().back().as_string()));
    }
    EXPECT_EQ(body.at("next").is_null(), page == 2);
    if (page < 2) query = "?limit=2&after=" + text(body, "next");
  }
  EXPECT_THAT(seen, ::testing::ElementsAre("a", "b", "c", "t1", "t2", "t3"));
}

TEST_F(ObjectRows, GoOnBehindANameThatIsGoneByThen) {
  create_namespace(R"(["a"])");
  const auto location = write_table("t.json");
  for (const char* name : {"t1", "t2"}) register_table("a", name, location);
  const auto first = rows("?limit=2").json();
  EXPECT_EQ(connect().del("/v1/namespaces/a/tables/t1").status, 204);
  const auto rest = rows("?limit=2&after=" + text(first, "next")).json();
  ASSERT_EQ(rest.at("objects").as_array().size(), 1U);
  EXPECT_EQ(text(rest.at("objects").as_array()[0], "name"), "t2");
}

TEST_F(ObjectRows, RefuseWhatIsNoCursorOrLimit) {
  for (const char* query : {"?after=", "?after=x", "?after=t", "?after=t6", "?after=tXY",
                            "?after=q61", "?limit=0", "?limit=10001", "?limit=-1", "?limit=x"}) {
    const auto refused = rows(query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_EQ(refused.error_type(), "IllegalArgumentException") << query;
  }
  EXPECT_EQ(connect().post("/iceblink/v1/objects", "{}").status, 405);
}

}  // namespace
}  // namespace iceblink::test
