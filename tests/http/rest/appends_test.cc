// Snapshots that are added: appends, their conflicts, branches and tags.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kBeyondDoubles = (std::int64_t{1} << 53) + 1;

class Appends : public RestTest {};

TEST_F(Appends, BecomeTheCurrentSnapshot) {
  const auto base = create_table("tbl");
  const auto appended = commit_to("tbl", append(base, 7));
  EXPECT_EQ(appended.at("current-snapshot-id").as_int64(), 7);
  EXPECT_EQ(appended.at("last-sequence-number").as_int64(), 1);
  EXPECT_EQ(appended.at("refs"), json_of(R"({"main":{"snapshot-id":7,"type":"branch"}})"));
  EXPECT_THAT(ids_of(appended.at("snapshot-log"), "snapshot-id"), ElementsAre(7));
  EXPECT_EQ(appended.at("snapshots").at(0), next_snapshot(base, 7));
  EXPECT_EQ(appended.at("metadata-log").as_array().size(), 1u);
  EXPECT_EQ(load("tbl"), appended);
}

TEST_F(Appends, KeepIdsToTheLastDigit) {
  const auto base = create_table("tbl");
  commit_to("tbl", append(base, kBeyondDoubles));
  EXPECT_THAT(get(table("tbl")).body,
              HasSubstr(R"("current-snapshot-id":)" + std::to_string(kBeyondDoubles)));
}

TEST_F(Appends, OfTwoClientsToAnEmptyTableBothEndInIt) {
  const auto base = create_table("tbl");
  commit_to("tbl", append(base, 1));
  EXPECT_THAT(commit("tbl", append(base, 2)),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: branch main was created concurrently")));
  const auto both = commit_to("tbl", append(load("tbl"), 2));
  EXPECT_THAT(ids_of(both.at("snapshots"), "snapshot-id"), ElementsAre(1, 2));
  EXPECT_EQ(both.at("snapshots").at(1).at("parent-snapshot-id").as_int64(), 1);
  EXPECT_THAT(ids_of(both.at("snapshot-log"), "snapshot-id"), ElementsAre(1, 2));
}

TEST_F(Appends, OfTwoClientsToATableBothEndInIt) {
  const auto base = commit_to("tbl", append(create_table("tbl"), 1));
  commit_to("tbl", append(base, 2));
  EXPECT_THAT(commit("tbl", append(base, 3)),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: branch main has changed: "
                                "expected id 1 != 2")));
  const auto all = commit_to("tbl", append(load("tbl"), 3));
  EXPECT_THAT(ids_of(all.at("snapshots"), "snapshot-id"), ElementsAre(1, 2, 3));
  EXPECT_EQ(all.at("last-sequence-number").as_int64(), 3);
}

TEST_F(Appends, NeedARefThatIsThere) {
  const auto base = create_table("tbl");
  Commit wanted = append(base, 1);
  wanted.requirements.push_back(assert_ref("nobody", 5));
  EXPECT_THAT(
      commit("tbl", wanted),
      IsError(409, "CommitFailedException",
              HasSubstr("Requirement failed: branch or tag nobody is missing, expected 5")));
  wanted.requirements = {assert_ref("main", -1)};
  EXPECT_THAT(commit("tbl", wanted), HasStatus(409));
  EXPECT_EQ(load("tbl"), base);
}

TEST_F(Appends, WithAStaleSequenceNumberFail) {
  auto base = commit_to("tbl", append(create_table("tbl"), 1));
  commit_to("tbl", append(base, 2));
  Commit stale = append(base, 3);
  stale.requirements = {assert_table_uuid(base.at("table-uuid"))};
  EXPECT_THAT(commit("tbl", stale), IsError(409, "CommitFailedException",
                                            HasSubstr("Cannot add snapshot with sequence number 2 "
                                                      "older than last sequence number 2")));
  EXPECT_EQ(load("tbl").at("current-snapshot-id").as_int64(), 2);
}

TEST_F(Appends, OfFormat3CountRows) {
  Object body = named("tbl");
  body["properties"] = Object{{"format-version", "3"}};
  create(body);
  const auto base = load("tbl");
  EXPECT_EQ(base.at("next-row-id").as_int64(), 0);
  Commit first = append(base, 1);
  Object& snapshot = first.updates.at(0).as_object()["snapshot"].as_object();
  snapshot["first-row-id"] = 0;
  snapshot["added-rows"] = 100;
  const auto appended = commit_to("tbl", first);
  EXPECT_EQ(appended.at("next-row-id").as_int64(), 100);
  Commit stale = append(appended, 2);
  Object& behind = stale.updates.at(0).as_object()["snapshot"].as_object();
  behind["first-row-id"] = 50;
  behind["added-rows"] = 1;
  EXPECT_THAT(commit("tbl", stale), IsError(409, "CommitFailedException", Not(IsEmpty())));
}

TEST_F(Appends, GoToBranchesAndTags) {
  const auto base = commit_to("tbl", append(create_table("tbl"), 1));
  const Commit tag{{assert_table_uuid(base.at("table-uuid")), assert_ref("t", nullptr)},
                   {set_tag("t", 1)}};
  commit_to("tbl", tag);
  const auto branched = commit_to("tbl", append(load("tbl"), 2, "b"));
  EXPECT_EQ(branched.at("current-snapshot-id").as_int64(), 1);
  EXPECT_EQ(ref_snapshot(branched, "b"), Value(2));
  EXPECT_EQ(ref_snapshot(branched, "t"), Value(1));
  EXPECT_THAT(commit("tbl", tag),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: tag t was created concurrently")));
  const auto removed = commit_to("tbl", {{}, {remove_ref("t"), remove_ref("b")}});
  EXPECT_EQ(removed.at("refs").as_object().size(), 1u);
}

TEST_F(Appends, ThatAreExpiredLeaveTheLog) {
  auto base = create_table("tbl");
  for (int id = 1; id <= 3; ++id) base = commit_to("tbl", append(base, id));
  const auto expired = commit_to("tbl", {{}, {remove_snapshots({1, 2})}});
  EXPECT_THAT(ids_of(expired.at("snapshots"), "snapshot-id"), ElementsAre(3));
  EXPECT_THAT(ids_of(expired.at("snapshot-log"), "snapshot-id"), ElementsAre(3));
}

TEST_F(Appends, ToASnapshotThatIsNotThereAreRefused) {
  const auto base = create_table("tbl");
  EXPECT_THAT(commit("tbl", {{}, {set_branch("main", 99)}}),
              IsError(400, "IllegalArgumentException", HasSubstr("99")));
  Commit twice = append(base, 1);
  twice.updates.push_back(add_snapshot(next_snapshot(base, 1)));
  EXPECT_THAT(commit("tbl", twice), IsError(400, "IllegalArgumentException", Not(IsEmpty())));
  EXPECT_EQ(load("tbl"), base);
}

TEST_F(Appends, AndSchemaAndSpecAreOneEntryOfTheLog) {
  const auto base = create_table("tbl");
  const auto changed = commit_to(
      "tbl",
      joined(schema_change(base, with_column(current_schema(base), 1, 3, "new_col")),
             spec_change(base, spec_of({partition_field(1, 1000, "shard", "bucket[16]")}, 1))));
  EXPECT_EQ(changed.at("metadata-log").as_array().size(), 1u);
  EXPECT_EQ(changed.at("current-schema-id").as_int64(), 1);
  EXPECT_EQ(changed.at("default-spec-id").as_int64(), 1);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(Appends, CanBeLoadedAtOnce) {
  auto base = create_table("tbl");
  for (int id = 1; id <= 20; ++id) {
    commit_to("tbl", append(base, id));
    base = load("tbl");
    ASSERT_EQ(base.at("current-snapshot-id").as_int64(), id);
  }
}

}  // namespace
}  // namespace iceblink::test
