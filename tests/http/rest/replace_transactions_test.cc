// Tables that are replaced, as replaceTransaction() and createOrReplaceTransaction() send it: the
// uuid and all histories stay, and of two clients the last one wins unless both assign ids.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ReplaceTransactions : public RestTest {
 protected:
  /// A table with one snapshot, made by a transaction.
  Value create_with_snapshot(Object schema, std::int64_t snapshot_id = 1) {
    const auto staged = stage(named("tbl", std::move(schema)));
    return commit_to("tbl",
                     creation(staged, append_updates(snapshot_of({.snapshot_id = snapshot_id}))));
  }
  /// The snapshot of a table that was replaced: it has no parent.
  static Array fresh_append(const Value& base, std::int64_t snapshot_id) {
    return append_updates(
        snapshot_of({.snapshot_id = snapshot_id,
                     .sequence_number = base.at("last-sequence-number").as_int64() + 1}));
  }
  /// What `some_id` becomes when it is replaced by `id` and `data`: fresh ids.
  static Object after_some_id() { return id_and_data(2, 1); }

  void expect_conflict(const Commit& wanted, const std::string& what) {
    EXPECT_THAT(commit("tbl", wanted),
                IsError(409, "CommitFailedException", StartsWith("Requirement failed: " + what)));
  }
};

TEST_F(ReplaceTransactions, KeepTheUuidAndContinueTheIds) {
  const auto base = create_with_snapshot(some_id());
  const auto replaced = commit_to(
      "tbl", replacement(base, {.schema = after_some_id(), .more = fresh_append(base, 2)}));
  EXPECT_EQ(replaced.at("table-uuid"), base.at("table-uuid"));
  EXPECT_EQ(current_schema(replaced), after_some_id());
  EXPECT_EQ(replaced.at("last-column-id").as_int64(), 3);
  EXPECT_EQ(replaced.at("current-snapshot-id").as_int64(), 2);
  EXPECT_EQ(replaced.at("metadata-log").as_array().size(), 1u);
  EXPECT_EQ(load("tbl"), replaced);
}

TEST_F(ReplaceTransactions, HonourAllThatIsGiven) {
  const auto base = create_with_snapshot(some_id());
  const auto order = order_of({sort_field(2, "bucket[16]"), sort_field(2)});
  const auto replaced = commit_to("tbl", replacement(base, {.schema = after_some_id(),
                                                            .spec = id_buckets(2, 1),
                                                            .order = order,
                                                            .location = warehouse() + "/moved",
                                                            .properties = {{"user", "someone"}},
                                                            .more = fresh_append(base, 2)}));
  EXPECT_EQ(replaced.at("table-uuid"), base.at("table-uuid"));
  EXPECT_EQ(default_spec(replaced), id_buckets(2, 1));
  EXPECT_EQ(default_order(replaced), order);
  EXPECT_EQ(replaced.at("location"), Value(warehouse() + "/moved"));
  EXPECT_EQ(property(replaced, "user"), "someone");
  EXPECT_EQ(replaced.at("metadata-log").as_array().size(), 1u);
  EXPECT_THAT(metadata_location(table("tbl")), StartsWith(warehouse() + "/moved/metadata/00001-"));
}

TEST_F(ReplaceTransactions, ChangeNothingBeforeTheyAreCommitted) {
  const auto base = create_with_snapshot(some_id());
  const auto wanted = replacement(base, {.schema = after_some_id()});
  EXPECT_EQ(load("tbl"), base);
  const auto replaced = commit_to("tbl", wanted);
  EXPECT_EQ(replaced.at("current-snapshot-id").as_int64(), -1);
  EXPECT_EQ(replaced.at("refs"), Object{});
}

TEST_F(ReplaceTransactions, KeepWhatAClientMergedOfItsDefaultsAndOverrides) {
  const auto base = create_table("tbl");
  const auto replaced = commit_to(
      "tbl", replacement(base, {.properties = {{"default-key1", "catalog"}, {"key2", "table"}}}));
  EXPECT_EQ(replaced.at("properties"), (Object{{"default-key1", "catalog"}, {"key2", "table"}}));
}

TEST_F(ReplaceTransactions, NeedATable) {
  EXPECT_THAT(get(table("newtable")), IsError(404, "NoSuchTableException",
                                              StartsWith("Table does not exist: ns.newtable")));
  const auto base = create_table("tbl");
  EXPECT_THAT(
      commit("newtable", replacement(base, {.schema = some_id()})),
      IsError(404, "NoSuchTableException", StartsWith("Table does not exist: ns.newtable")));
}

TEST_F(ReplaceTransactions, OfAViewFindNoTable) {
  const auto base = create_table("tbl");
  create_sql_view("view");
  EXPECT_THAT(head(view("view")), HasStatus(204));
  EXPECT_THAT(get(table("view")), HasStatus(404));
  EXPECT_THAT(commit("view", replacement(base, {.schema = some_id()})), HasStatus(404));
}

TEST_F(ReplaceTransactions, KeepTheSnapshotLog) {
  const auto base = create_with_snapshot(id_and_data());
  EXPECT_THAT(ids_of(base.at("snapshot-log"), "snapshot-id"), ElementsAre(1));
  const auto replaced = commit_to("tbl", replacement(base, {.more = fresh_append(base, 2)}));
  EXPECT_THAT(ids_of(replaced.at("snapshots"), "snapshot-id"), ElementsAre(1, 2));
  EXPECT_THAT(ids_of(replaced.at("snapshot-log"), "snapshot-id"), ElementsAre(1, 2));
}

TEST_F(ReplaceTransactions, OfTwoClientsTheLastOneWins) {
  const auto base = create_with_snapshot(id_and_data());
  const auto first = replacement(base, {.more = fresh_append(base, 2)});
  const auto second = replacement(base, {.more = fresh_append(base, 3)});
  const auto between = commit_to("tbl", first);
  EXPECT_EQ(between.at("current-snapshot-id").as_int64(), 2);
  const auto replaced = commit_to("tbl", second);
  EXPECT_EQ(replaced.at("current-snapshot-id").as_int64(), 3);
  EXPECT_EQ(replaced.at("table-uuid"), base.at("table-uuid"));
  EXPECT_THAT(ids_of(replaced.at("snapshots"), "snapshot-id"), ElementsAre(1, 2, 3));
  EXPECT_EQ(current_schema(replaced), current_schema(base));
}

TEST_F(ReplaceTransactions, OfTwoClientsWithOtherSchemasTheLastOneWins) {
  const auto base = create_with_snapshot(some_id());
  const auto keeps = replacement(base, {.more = fresh_append(base, 2)});
  const auto changes =
      replacement(base, {.schema = after_some_id(), .more = fresh_append(base, 3)});
  EXPECT_EQ(current_schema(commit_to("tbl", changes)), after_some_id());
  const auto replaced = commit_to("tbl", keeps);
  EXPECT_EQ(current_schema(replaced), some_id());
  EXPECT_EQ(replaced.at("current-snapshot-id").as_int64(), 2);
}

TEST_F(ReplaceTransactions, WithASchemaWinAfterOneThatKeptIt) {
  const auto base = create_with_snapshot(some_id());
  const auto keeps = replacement(base, {.more = fresh_append(base, 2)});
  const auto changes =
      replacement(base, {.schema = after_some_id(), .more = fresh_append(base, 3)});
  EXPECT_EQ(current_schema(commit_to("tbl", keeps)), some_id());
  const auto replaced = commit_to("tbl", changes);
  EXPECT_EQ(current_schema(replaced), after_some_id());
  EXPECT_EQ(replaced.at("current-snapshot-id").as_int64(), 3);
}

TEST_F(ReplaceTransactions, OfTwoClientsThatAssignColumnsTheLastOneFails) {
  const auto base = create_with_snapshot(some_id());
  const auto first = replacement(base, {.schema = after_some_id(), .more = fresh_append(base, 2)});
  const auto second = replacement(base, {.schema = after_some_id(), .more = fresh_append(base, 3)});
  const auto replaced = commit_to("tbl", first);
  expect_conflict(second, "last assigned field id changed");
  EXPECT_EQ(load("tbl"), replaced);
}

TEST_F(ReplaceTransactions, OfTwoClientsWithOtherSpecsTheLastOneWins) {
  const auto base = create_with_snapshot(id_and_data());
  const auto keeps = replacement(base, {.more = fresh_append(base, 2)});
  const auto changes = replacement(base, {.spec = id_buckets(1, 1), .more = fresh_append(base, 3)});
  EXPECT_EQ(default_spec(commit_to("tbl", changes)), id_buckets(1, 1));
  EXPECT_EQ(default_spec(commit_to("tbl", keeps)), spec_of({}));
}

TEST_F(ReplaceTransactions, WithASpecWinAfterOneThatKeptIt) {
  const auto base = create_with_snapshot(id_and_data());
  const auto keeps = replacement(base, {.more = fresh_append(base, 2)});
  const auto changes = replacement(base, {.spec = id_buckets(1, 1), .more = fresh_append(base, 3)});
  EXPECT_EQ(default_spec(commit_to("tbl", keeps)), spec_of({}));
  EXPECT_EQ(default_spec(commit_to("tbl", changes)), id_buckets(1, 1));
}

TEST_F(ReplaceTransactions, OfTwoClientsThatAssignPartitionsTheLastOneFails) {
  const auto base = create_with_snapshot(id_and_data());
  const auto first = replacement(base, {.spec = id_buckets(1, 1), .more = fresh_append(base, 2)});
  const auto second = replacement(base, {.spec = id_buckets(1, 1), .more = fresh_append(base, 3)});
  const auto replaced = commit_to("tbl", first);
  expect_conflict(second, "last assigned partition id changed");
  EXPECT_EQ(load("tbl"), replaced);
}

TEST_F(ReplaceTransactions, WithSortOrdersDoNotConflict) {
  const auto base = create_with_snapshot(id_and_data());
  const auto order = order_of({sort_field(1)});
  const auto keeps = replacement(base, {.more = fresh_append(base, 2)});
  const auto first = replacement(base, {.order = order, .more = fresh_append(base, 3)});
  const auto second = replacement(base, {.order = order, .more = fresh_append(base, 4)});
  EXPECT_EQ(default_order(commit_to("tbl", first)), order);
  EXPECT_EQ(default_order(commit_to("tbl", keeps)), order_of({}, 0));
  const auto replaced = commit_to("tbl", second);
  EXPECT_EQ(default_order(replaced), order);
  EXPECT_THAT(ids_of(replaced.at("sort-orders"), "order-id"), ElementsAre(0, 1));
  EXPECT_EQ(replaced.at("current-snapshot-id").as_int64(), 4);
}

TEST_F(ReplaceTransactions, OfAStrangersTableAreRefused) {
  const auto stale = create_table("tbl");
  EXPECT_THAT(del(table("tbl")), HasStatus(204));
  create_table("tbl");
  expect_conflict(replacement(stale, {.schema = some_id()}), "UUID does not match");
}

TEST_F(ReplaceTransactions, UpgradeTheFormatAndNeverDowngradeIt) {
  Object body = named("tbl");
  body["properties"] = Object{{"format-version", "1"}};
  ASSERT_THAT(create(body), HasStatus(200));
  for (const int version : {2, 3}) {
    auto wanted = replacement(load("tbl"), {.schema = std::nullopt});
    wanted.updates.insert(wanted.updates.begin(), upgrade_format_version(version));
    EXPECT_EQ(commit_to("tbl", wanted).at("format-version").as_int64(), version);
  }
  EXPECT_THAT(commit("tbl", {{}, {upgrade_format_version(2)}}),
              IsError(400, "IllegalArgumentException", HasSubstr("downgrade")));
}

}  // namespace
}  // namespace iceblink::test
