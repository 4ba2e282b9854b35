// Namespaces: what the compatibility kit demands of them, and what goes wrong elsewhere.
#include <boost/json/serialize.hpp>

#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class RestNamespaces : public RestTest {
 protected:
  HttpResponse make(const Array& levels, Object properties = {}) {
    Object body;
    body["namespace"] = levels;
    body["properties"] = std::move(properties);
    return post("", body);
  }
  HttpResponse change(const std::string& name, const Object& updates, const Array& removals = {}) {
    Object body;
    body["updates"] = updates;
    body["removals"] = removals;
    return post("/" + name + "/properties", body);
  }
  Object properties_of(const std::string& name) {
    return get("/" + name).json().at("properties").as_object();
  }
};

TEST_F(RestNamespaces, AreListedAndExistOnceTheyAreCreated) {
  EXPECT_THAT(head("/newdb"), HasStatus(404));
  EXPECT_THAT(make({"newdb"}), HasStatus(200));
  EXPECT_THAT(namespaces(), Contains("newdb"));
  const auto exists = head("/newdb");
  EXPECT_THAT(exists, HasStatus(204));
  EXPECT_EQ(exists.body, "");
}

TEST_F(RestNamespaces, AreNotCreatedTwice) {
  EXPECT_THAT(make({"newdb"}, {{"owner", "first"}}), HasStatus(200));
  EXPECT_THAT(make({"newdb"}, {{"owner", "second"}}),
              IsError(409, "AlreadyExistsException", HasSubstr("Namespace already exists")));
  EXPECT_EQ(properties_of("newdb"), (Object{{"owner", "first"}}));
}

TEST_F(RestNamespaces, KeepThePropertiesTheyAreCreatedWith) {
  const auto made = make({"newdb"}, {{"prop", "val"}, {"owner", "user"}});
  EXPECT_EQ(made.json().at("properties"), (Object{{"prop", "val"}, {"owner", "user"}}));
  EXPECT_EQ(properties_of("newdb"), (Object{{"prop", "val"}, {"owner", "user"}}));
}

TEST_F(RestNamespaces, AreNotLoadedBeforeTheyExist) {
  EXPECT_THAT(get("/newdb"), IsError(404, "NoSuchNamespaceException",
                                     StartsWith("Namespace does not exist: newdb")));
  make({"newdb"});
  EXPECT_EQ(properties_of("newdb"), Object{});
}

TEST_F(RestNamespaces, TakeNewPropertiesAndNewValues) {
  make({"newdb"}, {{"initial", "value"}});
  EXPECT_THAT(change("newdb", {{"added", "1"}}), HasStatus(200));
  EXPECT_EQ(properties_of("newdb"), (Object{{"initial", "value"}, {"added", "1"}}));
  change("newdb", {{"initial", "new"}});
  EXPECT_EQ(properties_of("newdb"), (Object{{"initial", "new"}, {"added", "1"}}));
  const auto changed = change("newdb", {{"initial", "newer"}, {"more", "2"}}).json();
  EXPECT_EQ(changed.at("missing"), Array{});
  EXPECT_EQ(changed.at("removed"), Array{});
  EXPECT_EQ(properties_of("newdb"), (Object{{"initial", "newer"}, {"added", "1"}, {"more", "2"}}));
}

TEST_F(RestNamespaces, LoseOnlyThePropertiesThatAreRemoved) {
  make({"newdb"}, {{"a", "1"}, {"b", "2"}});
  const auto changed = change("newdb", {}, {"a", "c"}).json();
  EXPECT_EQ(changed.at("removed"), Array{"a"});
  EXPECT_EQ(changed.at("missing"), Array{"c"});
  EXPECT_EQ(properties_of("newdb"), (Object{{"b", "2"}}));
}

TEST_F(RestNamespaces, ThatDoNotExistHaveNoPropertiesToChange) {
  for (const auto& refused : {change("newdb", {{"a", "1"}}), change("newdb", {}, {"a"})}) {
    EXPECT_THAT(refused, IsError(404, "NoSuchNamespaceException",
                                 StartsWith("Namespace does not exist: newdb")));
  }
}

TEST_F(RestNamespaces, AreGoneOnceTheyAreDropped) {
  make({"newdb"});
  EXPECT_THAT(del("/newdb"), HasStatus(204));
  EXPECT_THAT(head("/newdb"), HasStatus(404));
  EXPECT_THAT(namespaces(), Not(Contains("newdb")));
  EXPECT_THAT(del("/newdb"), IsError(404, "NoSuchNamespaceException",
                                     StartsWith("Namespace does not exist: newdb")));
}

TEST_F(RestNamespaces, AreDroppedOnceTheirTablesAre) {
  create_table("tbl");
  EXPECT_THAT(del("/ns"), IsError(409, "NamespaceNotEmptyException", HasSubstr("is not empty")));
  EXPECT_THAT(head(table("tbl")), HasStatus(204));
  EXPECT_THAT(del(table("tbl")), HasStatus(204));
  EXPECT_THAT(del("/ns"), HasStatus(204));
}

TEST_F(RestNamespaces, WithAViewAloneAreNotEmpty) {
  create_sql_view("view");
  EXPECT_THAT(del("/ns"), IsError(409, "NamespaceNotEmptyException", HasSubstr("is not empty")));
  EXPECT_THAT(del(view("view")), HasStatus(204));
  EXPECT_THAT(del("/ns"), HasStatus(204));
}

TEST_F(RestNamespaces, WithChildrenAreNotEmpty) {
  make({"n1"});
  make({"n1", "n2"});
  EXPECT_THAT(post("/n1%1Fn2/tables", named("t")), HasStatus(200));
  EXPECT_THAT(del("/n1"), IsError(409, "NamespaceNotEmptyException", HasSubstr("is not empty")));
  EXPECT_THAT(del("/n1%1Fn2"), HasStatus(409));
  EXPECT_THAT(head("/n1%1Fn2/tables/t"), HasStatus(204));
  EXPECT_THAT(del("/n1%1Fn2/tables/t"), HasStatus(204));
  EXPECT_THAT(del("/n1"), HasStatus(409));
  EXPECT_THAT(del("/n1%1Fn2"), HasStatus(204));
  EXPECT_THAT(del("/n1"), HasStatus(204));
}

TEST_F(RestNamespaces, AreListedAsLongAsTheyExist) {
  EXPECT_THAT(namespaces(), ElementsAre("ns"));
  make({"newdb_1"});
  make({"newdb_2"});
  EXPECT_THAT(namespaces(), UnorderedElementsAre("ns", "newdb_1", "newdb_2"));
  del("/newdb_1");
  EXPECT_THAT(namespaces(), UnorderedElementsAre("ns", "newdb_2"));
}

TEST_F(RestNamespaces, AreListedBelowTheirParentAlone) {
  make({"parent"});
  make({"parent", "child1"});
  make({"parent", "child2"});
  make({"parent", "child1", "grandchild"});
  EXPECT_THAT(namespaces(), UnorderedElementsAre("ns", "parent"));
  EXPECT_THAT(namespaces("?parent=parent"), UnorderedElementsAre("parent.child1", "parent.child2"));
  EXPECT_THAT(namespaces("?parent=parent%1Fchild1"), ElementsAre("parent.child1.grandchild"));
  EXPECT_THAT(namespaces("?parent=parent%1Fchild2"), IsEmpty());
  EXPECT_THAT(get("?parent=nobody"), IsError(404, "NoSuchNamespaceException",
                                             StartsWith("Namespace does not exist: nobody")));
}

TEST_F(RestNamespaces, HaveASlashOrADotWithinOneLevel) {
  EXPECT_THAT(make({"new/db"}), HasStatus(200));
  EXPECT_THAT(make({"new.db"}), HasStatus(200));
  EXPECT_THAT(namespaces(), UnorderedElementsAre("ns", "new/db", "new.db"));
  EXPECT_EQ(get("/new%2Fdb").json().at("namespace"), Array{"new/db"});
  EXPECT_EQ(get("/new.db").json().at("namespace"), Array{"new.db"});
  EXPECT_THAT(change("new%2Fdb", {{"a", "1"}}), HasStatus(200));
  EXPECT_THAT(head("/new"), HasStatus(404));
  EXPECT_THAT(del("/new%2Fdb"), HasStatus(204));
  EXPECT_THAT(del("/new%2Edb"), HasStatus(204));
  EXPECT_THAT(namespaces(), ElementsAre("ns"));
}

TEST_F(RestNamespaces, WithoutALevelOrANameAreRefused) {
  for (const auto& levels : {Array{""}, Array{}, Array{"a", ""}}) {
    EXPECT_THAT(make(levels), IsError(400, "IllegalArgumentException", Not(IsEmpty())))
        << boost::json::serialize(levels);
  }
  EXPECT_THAT(namespaces(), ElementsAre("ns"));
}

TEST_F(RestNamespaces, WithASpaceAreReachedByPlusAndByPercent) {
  make({"a b"});
  EXPECT_THAT(post("/a%20b/tables", named("t +1")), HasStatus(200));
  for (const std::string target : {"/a+b/tables/t+%2B1", "/a%20b/tables/t%20%2B1"}) {
    EXPECT_THAT(head(target), HasStatus(204)) << target;
    EXPECT_THAT(get(target), HasStatus(200)) << target;
  }
  EXPECT_EQ(get("/a+b").body, get("/a%20b").body);
}

TEST_F(RestNamespaces, AreNeededForTheirTablesAndViews) {
  EXPECT_THAT(post("/non-existing/tables", named("tbl")),
              IsError(404, "NoSuchNamespaceException",
                      HasSubstr("Namespace does not exist: non-existing")));
  EXPECT_THAT(post("/non-existing/views", view_creation("v", Array{sql_of("spark", "select 1")})),
              IsError(404, "NoSuchNamespaceException",
                      HasSubstr("Namespace does not exist: non-existing")));
  for (const auto& listing : {"/non-existing/tables", "/non-existing/views"}) {
    EXPECT_THAT(get(listing), IsError(404, "NoSuchNamespaceException",
                                      std::string("Namespace does not exist: non-existing")));
  }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(RestNamespaces, ArePagedToTheEndWhenClientsAsk) {
  for (int i = 0; i < 5; ++i) make({"page_" + std::to_string(i)});
  std::vector<std::string> seen;
  std::string token;
  int pages = 0;
  do {
    const auto page = get("?pageSize=2&pageToken=" + token).json();
    for (const auto& levels : page.at("namespaces").as_array()) {
      seen.push_back(text_of(levels.at(0)));
    }
    const auto& next = page.at("next-page-token");
    token = next.is_null() ? "" : text_of(next);
    ++pages;
  } while (!token.empty() && pages < 10);
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(seen, UnorderedElementsAre("ns", "page_0", "page_1", "page_2", "page_3", "page_4"));
}

TEST_F(RestNamespaces, AreNotPagedByGarbage) {
  for (const auto& query : {"?pageToken=AAAA", "?pageToken=&pageSize=0", "?pageSize=-1",
                            "?pageSize=x", "?pageSize=0"}) {
    for (const auto& listing : {"", "/ns/tables", "/ns/views"}) {
      EXPECT_THAT(get(std::string(listing) + query),
                  IsError(400, "IllegalArgumentException", Not(IsEmpty())))
          << listing << query;
    }
  }
}

TEST_F(RestNamespaces, AreFoundByTheAdvertisedSeparatorAndByTheOldOne) {
  auto changed = settings();
  changed.namespace_separator = "%2E";
  start(changed);
  const auto config = connect().get("/v1/config").json();
  EXPECT_EQ(config.at("overrides").at("namespace-separator"), Value("%2E"));
  make({"a"});
  make({"a", "b"});
  EXPECT_THAT(head("/a%2Eb"), HasStatus(204));
  EXPECT_THAT(head("/a%1Fb"), HasStatus(204));
  EXPECT_THAT(namespaces("?parent=a"), ElementsAre("a.b"));
  EXPECT_THAT(post("/a%2Eb/tables", named("t")), HasStatus(200));
  EXPECT_THAT(head("/a%1Fb/tables/t"), HasStatus(204));
}

}  // namespace
}  // namespace iceblink::test
