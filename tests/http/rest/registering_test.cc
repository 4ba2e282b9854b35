// Metadata files that are registered as tables and views, and tables that are unregistered.
#include <boost/json/serialize.hpp>

#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Registering : public RestTest {
 protected:
  HttpResponse add(const std::string& name, const std::string& location, Object more = {}) {
    return add_as("register", name, location, std::move(more));
  }
  HttpResponse add_as(const std::string& how, const std::string& name, const std::string& location,
                      Object more = {}) {
    more["name"] = name;
    more["metadata-location"] = location;
    return post("/ns/" + how, more);
  }
};

TEST_F(Registering, BringsBackATableWithAllItsHistory) {
  auto base = create_table("tbl");
  for (int id = 1; id <= 2; ++id) base = commit_to("tbl", append(base, id));
  const auto location = metadata_location(table("tbl"));
  EXPECT_THAT(del(table("tbl") + "?purgeRequested=false"), HasStatus(204));
  const auto registered = add("tbl", location);
  ASSERT_THAT(registered, HasStatus(200));
  EXPECT_EQ(registered.json().at("metadata-location"), Value(location));
  EXPECT_EQ(registered.json().at("metadata"), base);
  EXPECT_EQ(load("tbl"), base);
  EXPECT_EQ(registered.header("etag"), get(table("tbl")).header("etag"));
  const auto appended = commit_to("tbl", append(base, 3));
  EXPECT_EQ(appended.at("metadata-log").as_array().size(), 3u);
}

TEST_F(Registering, RefusesANameThatIsTaken) {
  create_table("t1");
  EXPECT_THAT(add("t1", metadata_location(table("t1"))),
              IsError(409, "AlreadyExistsException", std::string("Table already exists: ns.t1")));
}

TEST_F(Registering, OverwritesOnlyWhenItIsToldTo) {
  create_table("a");
  const auto b = create_table("b");
  const auto location = metadata_location(table("b"));
  EXPECT_THAT(add("a", location, {{"overwrite", false}}), HasStatus(409));
  EXPECT_NE(load("a").at("table-uuid"), b.at("table-uuid"));
  EXPECT_THAT(add("a", location, {{"overwrite", true}}), HasStatus(200));
  EXPECT_EQ(load("a"), b);
  EXPECT_THAT(add("fresh", location, {{"overwrite", true}}), HasStatus(200));
}

TEST_F(Registering, RefusesTheNameOfAView) {
  create_sql_view("view");
  create_table("tbl");
  EXPECT_THAT(add("view", metadata_location(table("tbl"))),
              IsError(409, "AlreadyExistsException",
                      StartsWith("View with same name already exists: ns.view")));
}

TEST_F(Registering, SeesAFileThatWasWrittenAnewAtTheSamePlace) {
  const auto path = warehouse() +
                    "/t/metadata/00001-00000000-0000-4000-8000-000000000000"
                    ".metadata.json";
  const auto write = [&](const char* name) {
    const auto made = create_table(name, schema_of({required_column(1, name, "int")}));
    put_there(path, boost::json::serialize(made));
    return made;
  };
  const auto first = write("one");
  ASSERT_THAT(add("t", path), HasStatus(200));
  EXPECT_EQ(load("t"), first);
  EXPECT_THAT(del(table("t")), HasStatus(204));
  const auto second = write("two");
  ASSERT_THAT(add("t", path), HasStatus(200));
  EXPECT_EQ(load("t"), second);
  EXPECT_NE(first.at("table-uuid"), second.at("table-uuid"));
}

TEST_F(Registering, BringsBackAView) {
  const auto base = create_sql_view("view");
  const auto location = metadata_location(view("view"));
  EXPECT_THAT(del(view("view")), HasStatus(204));
  EXPECT_TRUE(is_there(location));
  const auto registered = add_as("register-view", "view", location);
  ASSERT_THAT(registered, HasStatus(200));
  EXPECT_EQ(registered.json().at("metadata-location"), Value(location));
  EXPECT_EQ(load_view("view"), base);
  EXPECT_THAT(add_as("register-view", "view", location),
              IsError(409, "AlreadyExistsException", StartsWith("View already exists: ns.view")));
}

TEST_F(Registering, RefusesAViewUnderTheNameOfATable) {
  create_sql_view("view");
  const auto location = metadata_location(view("view"));
  create_table("tbl");
  EXPECT_THAT(add_as("register-view", "tbl", location),
              IsError(409, "AlreadyExistsException",
                      StartsWith("Table with same name already exists: ns.tbl")));
  EXPECT_THAT(add("another", location), HasStatus(400));
  EXPECT_THAT(add_as("register-view", "another", metadata_location(table("tbl"))), HasStatus(400));
  EXPECT_THAT(head(table("another")), HasStatus(404));
}

TEST_F(Registering, IsUndoneByUnregistering) {
  const auto base = create_table("tbl");
  const auto location = metadata_location(table("tbl"));
  const auto unregistered = post(table("tbl") + "/unregister", Object{});
  ASSERT_THAT(unregistered, HasStatus(200));
  EXPECT_EQ(unregistered.json().at("metadata-location"), Value(location));
  EXPECT_EQ(unregistered.json().at("metadata"), base);
  EXPECT_THAT(head(table("tbl")), HasStatus(404));
  EXPECT_TRUE(is_there(location));
  EXPECT_THAT(commit("tbl", append(base, 1)),
              IsError(404, "NoSuchTableException", HasSubstr("Table does not exist: ns.tbl")));
  EXPECT_THAT(post(table("tbl") + "/unregister", Object{}), HasStatus(404));
  EXPECT_THAT(add("tbl", location), HasStatus(200));
  EXPECT_EQ(load("tbl"), base);
}

TEST_F(Registering, NamesAFileThatHasNothingInIt) {
  const auto path = warehouse() + "/00000-00000000-0000-4000-8000-000000000000.metadata.json";
  put_there(path, "");
  EXPECT_THAT(add("tbl", path), IsError(400, "IllegalArgumentException", HasSubstr(path)));
  EXPECT_THAT(add_as("register-view", "view", path),
              IsError(400, "IllegalArgumentException", HasSubstr(path)));
  EXPECT_THAT(head(table("tbl")), HasStatus(404));
  std::filesystem::remove(path);
}

TEST_F(Registering, NeedsTheFile) {
  const auto missing = warehouse() + "/none.metadata.json";
  EXPECT_THAT(add("tbl", missing), IsError(404, "NotFoundException",
                                           "Failed to open input stream for file: " + missing));
  EXPECT_THAT(names_of("/ns/tables"), IsEmpty());
}

}  // namespace
}  // namespace iceblink::test
