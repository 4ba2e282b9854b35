// Changes of schemas as the reference client's updateSchema() and expireSnapshots() send them.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SchemaUpdates : public RestTest {
 protected:
  /// The current schema of `base` with a column more, as the client numbers it.
  static Commit adds(const Value& base, std::string_view name, Value type = "long") {
    const int column_id = static_cast<int>(base.at("last-column-id").as_int64()) + 1;
    const int schema_id = static_cast<int>(base.at("schemas").as_array().size());
    return schema_change(
        base, with_column(current_schema(base), schema_id, column_id, name, std::move(type)));
  }
};

TEST_F(SchemaUpdates, AddAColumn) {
  const auto base = create_table("tbl");
  const auto changed = commit_to("tbl", adds(base, "new_col"));
  EXPECT_THAT(column_names(current_schema(changed)), ElementsAre("id", "data", "new_col"));
  EXPECT_EQ(changed.at("last-column-id").as_int64(), 3);
  EXPECT_EQ(changed.at("current-schema-id").as_int64(), 1);
  EXPECT_EQ(changed.at("schemas").as_array().size(), 2u);
  EXPECT_EQ(load("tbl"), changed);
}

TEST_F(SchemaUpdates, AddAVariantColumnFromFormat3On) {
  Object body = named("v3");
  body["properties"] = Object{{"format-version", "3"}};
  ASSERT_THAT(create(body), HasStatus(200));
  const auto changed = commit_to("v3", adds(load("v3"), "v", "variant"));
  EXPECT_EQ(current_schema(changed).at("fields").at(2).at("type"), Value("variant"));
  const auto base = create_table("v2");
  EXPECT_THAT(
      commit("v2", adds(base, "v", "variant")),
      IsError(400, "IllegalArgumentException", HasSubstr("variant is not supported until v3")));
  EXPECT_EQ(load("v2"), base);
}

TEST_F(SchemaUpdates, OfATableThatWasDroppedAndMadeAnewAreRefused) {
  const auto stale = create_table("tbl");
  EXPECT_THAT(del(table("tbl")), HasStatus(204));
  const auto fresh = create_table("tbl");
  EXPECT_THAT(
      commit("tbl", adds(stale, "new_col")),
      IsError(409, "CommitFailedException", StartsWith("Requirement failed: UUID does not match")));
  EXPECT_EQ(load("tbl"), fresh);
}

TEST_F(SchemaUpdates, OfATableThatWasDroppedFindNone) {
  const auto base = create_table("tbl");
  EXPECT_THAT(del(table("tbl")), HasStatus(204));
  EXPECT_THAT(commit("tbl", adds(base, "new_col")),
              IsError(404, "NoSuchTableException", StartsWith("Table does not exist: ns.tbl")));
}

TEST_F(SchemaUpdates, FitBesideAChangeOfTheSpec) {
  const auto base = create_table("tbl");
  commit_to("tbl", spec_change(base, id_buckets(1, 1)));
  const auto changed = commit_to("tbl", adds(base, "new_col"));
  EXPECT_THAT(column_names(current_schema(changed)), ElementsAre("id", "data", "new_col"));
  EXPECT_EQ(default_spec(changed), id_buckets(1, 1));
  EXPECT_EQ(changed.at("metadata-log").as_array().size(), 2u);
}

TEST_F(SchemaUpdates, OfAnotherCurrentSchemaAreRefused) {
  const auto base = create_table("tbl");
  const auto renamed =
      schema_of({required_column(1, "id", "int"), required_column(2, "renamed", "string")}, 1);
  commit_to("tbl", schema_change(base, renamed));
  const auto other = schema_of({required_column(1, "id", "int")}, 1);
  const auto refused = commit("tbl", schema_change(base, other));
  EXPECT_THAT(refused, IsError(409, "CommitFailedException",
                               HasSubstr("Requirement failed: current schema changed")));
  EXPECT_EQ(column_names(current_schema(load("tbl"))), (std::vector<std::string>{"id", "renamed"}));
}

TEST_F(SchemaUpdates, OfOtherAssignedColumnsAreRefused) {
  const auto base = create_table("tbl");
  const auto first = commit_to("tbl", adds(base, "first"));
  EXPECT_THAT(commit("tbl", adds(base, "second")),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: last assigned field id changed")));
  const auto reverted = commit_to("tbl", schema_revert(first, 0));
  EXPECT_EQ(reverted.at("current-schema-id").as_int64(), 0);
  EXPECT_THAT(commit("tbl", adds(base, "second")),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: last assigned field id changed")));
}

TEST_F(SchemaUpdates, ThatAreRevertedReuseTheOldId) {
  const auto base = create_table("tbl");
  const auto changed = commit_to("tbl", adds(base, "col1"));
  EXPECT_EQ(changed.at("current-schema-id").as_int64(), 1);
  const auto by_id = commit_to("tbl", schema_revert(changed, 0));
  EXPECT_EQ(current_schema(by_id), current_schema(base));
  const auto again = commit_to("tbl", schema_revert(by_id, 1));
  Object equal = current_schema(base).as_object();
  equal["schema-id"] = 2;
  const auto by_value = commit_to("tbl", schema_change(again, equal));
  EXPECT_EQ(by_value.at("current-schema-id").as_int64(), 0);
  EXPECT_EQ(by_value.at("schemas").as_array().size(), 2u);
}

TEST_F(SchemaUpdates, RemoveSchemasThatNoSnapshotNeeds) {
  for (const bool has_branch : {false, true}) {
    const std::string name = has_branch ? "branched" : "plain";
    auto base = commit_to(name, append(create_table(name), 1));
    base = commit_to(name, schema_revert(commit_to(name, adds(base, "a")), 0));
    if (has_branch) base = commit_to(name, append(base, 2, "branch"));
    Commit expire{{assert_table_uuid(base.at("table-uuid")), assert_current_schema_id(0)},
                  {remove_schemas({1})}};
    if (has_branch) expire.requirements.push_back(assert_ref("branch", 2));
    const auto expired = commit_to(name, expire);
    EXPECT_THAT(ids_of(expired.at("schemas"), "schema-id"), ElementsAre(0)) << name;
    expire.updates = {remove_schemas({0})};
    EXPECT_THAT(commit(name, expire), HasStatus(400)) << name;
  }
}

TEST_F(SchemaUpdates, DoNotRemoveSchemasWhenABranchHasMoved) {
  auto base = commit_to("tbl", append(commit_to("tbl", append(create_table("tbl"), 1)), 2, "b"));
  base = commit_to("tbl", schema_revert(commit_to("tbl", adds(base, "a")), 0));
  commit_to("tbl", append(base, 3, "b"));
  const Commit expire{
      {assert_table_uuid(base.at("table-uuid")), assert_current_schema_id(0), assert_ref("b", 2)},
      {remove_schemas({1})}};
  EXPECT_THAT(commit("tbl", expire),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: branch b has changed: expected id 2 != 3")));
}

}  // namespace
}  // namespace iceblink::test
