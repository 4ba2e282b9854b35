// Commits to views, as View.replaceVersion(), updateProperties(), updateLocation() and
// buildView().replace() send them.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ViewCommits : public RestTest {
 protected:
  static Commit on(const Value& base, Array updates) {
    return {Array{assert_view_uuid(base.at("view-uuid"))}, std::move(updates)};
  }
  /// Another text for spark, as a client that has read version 1 numbers it.
  static Commit replaces(const Value& base, std::string_view sql) {
    return view_replacement(base, view_version(Array{sql_of("spark", sql)}, 2));
  }
  void expect_gone(const Commit& wanted) {
    EXPECT_THAT(commit_view("view", wanted),
                IsError(404, "NoSuchViewException", StartsWith("View does not exist: ns.view")));
  }
};

TEST_F(ViewCommits, ReplaceTheVersion) {
  const auto base = create_sql_view("view");
  const auto replaced = commit_to_view("view", replaces(base, "select 2"));
  EXPECT_EQ(replaced.at("current-version-id").as_int64(), 2);
  EXPECT_THAT(ids_of(replaced.at("versions"), "version-id"), ElementsAre(1, 2));
  EXPECT_THAT(ids_of(replaced.at("version-log"), "version-id"), ElementsAre(1, 2));
  EXPECT_EQ(replaced.at("versions").at(1).at("representations"),
            (Array{sql_of("spark", "select 2")}));
  EXPECT_EQ(replaced.at("view-uuid"), base.at("view-uuid"));
  EXPECT_EQ(load_view("view"), replaced);
  EXPECT_THAT(metadata_location(view("view")), HasSubstr("/metadata/00001-"));
}

TEST_F(ViewCommits, ReplaceTheSchemaWithTheVersion) {
  const auto base = create_sql_view("view");
  const auto other = schema_of({required_column(1, "other", "long")}, 1);
  const auto replaced = commit_to_view(
      "view", view_replacement(base, view_version(Array{sql_of("spark", "select 2")}, 2, -1),
                               Array{set_properties({{"p", "v"}}), add_schema(other)}));
  EXPECT_THAT(ids_of(replaced.at("schemas"), "schema-id"), ElementsAre(0, 1));
  EXPECT_EQ(replaced.at("versions").at(1).at("schema-id").as_int64(), 1);
  EXPECT_EQ(property(replaced, "p"), "v");
}

TEST_F(ViewCommits, FindTheVersionThatIsThereAlready) {
  const auto base = create_sql_view("view");
  commit_to_view("view", replaces(base, "select 2"));
  const auto back = commit_to_view(
      "view",
      view_replacement(base, view_version(Array{sql_of("spark", "select * from ns.tbl")}, 3)));
  EXPECT_EQ(back.at("current-version-id").as_int64(), 1);
  EXPECT_THAT(ids_of(back.at("versions"), "version-id"), ElementsAre(1, 2));
  EXPECT_THAT(ids_of(back.at("version-log"), "version-id"), ElementsAre(1, 2, 1));
}

TEST_F(ViewCommits, KeepAsManyVersionsAsThePropertiesSay) {
  auto base = create_sql_view("view");
  base = commit_to_view("view", on(base, {set_properties({{"version.history.num-entries", "2"}})}));
  for (const char* sql : {"select 2", "select 3", "select 4"}) {
    base = commit_to_view("view", replaces(base, sql));
  }
  EXPECT_EQ(base.at("current-version-id").as_int64(), 4);
  EXPECT_THAT(ids_of(base.at("versions"), "version-id"), ElementsAre(3, 4));
}

TEST_F(ViewCommits, ChangeOneDialectOfTwo) {
  const auto spark = sql_of("spark", "select * from ns.tbl");
  const auto created =
      create_view(view_creation("view", Array{spark, sql_of("trino", "select 1")}));
  ASSERT_THAT(created, HasStatus(200));
  const auto base = created.json().at("metadata");
  const auto both = Array{spark, sql_of("trino", "select 2")};
  const auto replaced = commit_to_view("view", view_replacement(base, view_version(both, 2)));
  EXPECT_EQ(replaced.at("versions").at(1).at("representations"), both);
}

TEST_F(ViewCommits, DropADialectOnlyWhereThePropertiesAllowIt) {
  const auto created = create_view(
      view_creation("view", Array{sql_of("spark", "select 1"), sql_of("trino", "select 1")}));
  ASSERT_THAT(created, HasStatus(200));
  const auto base = created.json().at("metadata");
  EXPECT_THAT(commit_view("view", replaces(base, "select 2")),
              IsError(400, "IllegalArgumentException",
                      HasSubstr("Cannot replace view due to loss of view dialects")));
  EXPECT_EQ(load_view("view"), base);
  Commit allowed = replaces(base, "select 2");
  allowed.updates.insert(allowed.updates.begin(),
                         set_properties({{"replace.drop-dialect.allowed", "true"}}));
  EXPECT_EQ(commit_to_view("view", allowed).at("current-version-id").as_int64(), 2);
}

TEST_F(ViewCommits, RefuseTwoQueriesOfOneDialect) {
  const auto base = create_sql_view("view");
  const auto twice = Array{sql_of("trino", "select 1"), sql_of("trino", "select 2")};
  EXPECT_THAT(commit_view("view", view_replacement(base, view_version(twice, 2))),
              IsError(400, "IllegalArgumentException",
                      HasSubstr("Invalid view version: Cannot add multiple queries "
                                "for dialect trino")));
  EXPECT_EQ(load_view("view"), base);
}

TEST_F(ViewCommits, ChangeProperties) {
  const auto base = create_sql_view("view");
  const auto set = commit_to_view("view", on(base, {set_properties({{"a", "1"}, {"b", "2"}})}));
  EXPECT_EQ(set.at("properties"), (Object{{"a", "1"}, {"b", "2"}}));
  const auto removed = commit_to_view("view", on(base, {remove_properties({"a"})}));
  EXPECT_EQ(removed.at("properties"), (Object{{"b", "2"}}));
  EXPECT_EQ(removed.at("current-version-id").as_int64(), 1);
  EXPECT_THAT(ids_of(removed.at("versions"), "version-id"), ElementsAre(1));
}

TEST_F(ViewCommits, ChangeTheLocation) {
  const auto base = create_sql_view("view");
  const auto moved = commit_to_view("view", on(base, {set_location(warehouse() + "/moved")}));
  EXPECT_EQ(moved.at("location"), Value(warehouse() + "/moved"));
  EXPECT_THAT(metadata_location(view("view")), StartsWith(warehouse() + "/moved/metadata/00001-"));
}

TEST_F(ViewCommits, ReplaceAViewWithItsLocation) {
  Object body = view_creation("view", Array{sql_of("spark", "select 1")});
  body["location"] = warehouse() + "/first";
  ASSERT_THAT(create_view(body), HasStatus(200));
  const auto base = load_view("view");
  Commit wanted = replaces(base, "select 2");
  wanted.updates.push_back(set_location(warehouse() + "/second"));
  const auto replaced = commit_to_view("view", wanted);
  EXPECT_EQ(replaced.at("location"), Value(warehouse() + "/second"));
  EXPECT_EQ(replaced.at("current-version-id").as_int64(), 2);
}

TEST_F(ViewCommits, ToAViewThatWasDroppedMeanwhileFindNone) {
  const auto base = create_sql_view("view");
  EXPECT_THAT(del(view("view")), HasStatus(204));
  expect_gone(on(base, {set_properties({{"a", "1"}})}));
  expect_gone(replaces(base, "select 2"));
  expect_gone(on(base, {set_location(warehouse() + "/moved")}));
  expect_gone({});
}

TEST_F(ViewCommits, ToATableFindNoView) {
  const auto base = create_sql_view("view");
  create_table("table");
  EXPECT_THAT(commit_view("table", replaces(base, "select 2")),
              IsError(404, "NoSuchViewException", StartsWith("View does not exist: ns.table")));
  EXPECT_THAT(commit("view", {{}, {set_properties({{"a", "1"}})}}),
              IsError(404, "NoSuchTableException", StartsWith("Table does not exist: ns.view")));
}

TEST_F(ViewCommits, OfAnotherViewsUuidAreRefused) {
  const auto stale = create_sql_view("view");
  EXPECT_THAT(del(view("view")), HasStatus(204));
  const auto fresh = create_sql_view("view");
  EXPECT_THAT(commit_view("view", replaces(stale, "select 2")),
              IsError(409, "CommitFailedException",
                      StartsWith("Requirement failed: view UUID does not match")));
  EXPECT_EQ(load_view("view"), fresh);
}

TEST_F(ViewCommits, OfTwoClientsBothEndInTheHistory) {
  const auto base = create_sql_view("view");
  commit_to_view("view", replaces(base, "select 'trino'"));
  const auto both = commit_to_view("view", replaces(base, "select 'spark'"));
  EXPECT_EQ(both.at("current-version-id").as_int64(), 3);
  EXPECT_THAT(ids_of(both.at("versions"), "version-id"), ElementsAre(1, 2, 3));
  EXPECT_THAT(ids_of(both.at("version-log"), "version-id"), ElementsAre(1, 2, 3));
}

TEST_F(ViewCommits, WithWhatIsOfTablesAreRefused) {
  const auto base = create_sql_view("view");
  for (const Commit& wanted :
       {Commit{{}, {remove_snapshots({1})}}, Commit{{assert_create()}, {}},
        Commit{{}, {set_current_view_version(9)}}, Commit{{}, {assign_uuid("not-a-uuid")}}}) {
    EXPECT_THAT(commit_view("view", wanted), HasStatus(400));
  }
  EXPECT_EQ(load_view("view"), base);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(ViewCommits, ThatChangeNothingWriteNothing) {
  create_sql_view("view");
  const auto location = metadata_location(view("view"));
  EXPECT_THAT(commit_view("view", {}), HasStatus(200));
  EXPECT_THAT(commit_view("view", {{}, {set_current_view_version(1)}}), HasStatus(200));
  EXPECT_EQ(metadata_location(view("view")), location);
  EXPECT_EQ(files().size(), 1u);
}

}  // namespace
}  // namespace iceblink::test
