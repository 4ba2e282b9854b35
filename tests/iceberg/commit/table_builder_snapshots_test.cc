// Snapshots that commits add and remove, refs, the snapshot-log, statistics.
#include "tests/iceberg/commit/commit_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Snapshots 1, 2 and 3, of which 3 is current; a branch at 2, a tag at 1.
const Document kHistory =
    with_history(v2(), {1, 2, 3}).with("refs", R"({"main":{"snapshot-id":3,"type":"branch"},
                          "b":{"snapshot-id":2,"type":"branch"},
                          "t":{"snapshot-id":1,"type":"tag","max-ref-age-ms":5}})");

// ---- add-snapshot

TEST(TableBuilderSnapshots, AnAppendMovesMain) {
  const auto outcome = commit(kHistory, {add_snapshot(4, 10, 3, kNowMs - 7), set_ref("main", 4)});
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_THAT(snapshot_ids(*outcome), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(outcome->current_snapshot_id, 4);
  EXPECT_EQ(outcome->last_sequence_number, 10);
  EXPECT_EQ(outcome->last_updated_ms, kNowMs);
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ((*outcome->snapshot_log())[3].timestamp_ms, kNowMs - 7);
  EXPECT_EQ((*outcome->current_snapshot())->operation(), "append");
  EXPECT_THAT(ref_names(*outcome), ElementsAre("main", "b", "t"));
}

TEST(TableBuilderSnapshots, OneThatNoRefNamesIsAddedAndNotCurrent) {
  const auto outcome = commit(kHistory, {add_snapshot(4, 10, 3)});
  EXPECT_EQ(outcome->current_snapshot_id, 3);
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(1, 2, 3));
  EXPECT_EQ(outcome->last_sequence_number, 10);
}

TEST(TableBuilderSnapshots, RefusesAnIdThatIsThereAlready) {
  EXPECT_EQ(commit(kHistory, {add_snapshot(2, 10)}).error,
            invalid("Snapshot already exists for id: 2"));
  EXPECT_EQ(commit(kHistory, {add_snapshot(4, 10), add_snapshot(4, 11)}).error,
            invalid("Snapshot already exists for id: 4"));
}

TEST(TableBuilderSnapshots, RefusesASnapshotOlderThanItsParent) {
  EXPECT_EQ(commit(kHistory, {add_snapshot(4, 9, 3)}).error,
            conflict("Cannot add snapshot with sequence number 9 older than last sequence number "
                     "9"));
  EXPECT_EQ(commit(kHistory, {add_snapshot(4, 10, 3), add_snapshot(5, 10, 4)}).error,
            conflict("Cannot add snapshot with sequence number 10 older than last sequence number "
                     "10"));
}

TEST(TableBuilderSnapshots, WithoutAParentItMayBeOlderAndTheLastNumberStays) {
  const auto outcome = commit(kHistory, {add_snapshot(4, 2)});
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->last_sequence_number, 9);
}

TEST(TableBuilderSnapshots, ASequenceNumberIsThereFromFormatTwoOn) {
  AddSnapshot without = add_snapshot(4, 0);
  without.has_sequence_number = false;
  EXPECT_EQ(commit(kHistory, {without}).error,
            invalid("Cannot add snapshot 4: its sequence-number is missing"));
  EXPECT_EQ(commit(kHistory, {add_snapshot(4, -1)}).error,
            invalid("Cannot add snapshot 4: its sequence-number is negative"));
  const auto one = commit(v1(), {without, set_ref("main", 4), UpgradeFormatVersion{2}});
  ASSERT_NE(one.table, nullptr) << one.error;
  EXPECT_EQ((*one->current_snapshot())->sequence_number, 0);
  EXPECT_EQ(commit(v1(), {add_snapshot(4, 70)})->last_sequence_number, 0)
      << "format 1 has no sequence numbers";
}

TEST(TableBuilderSnapshots, ItsSummaryHasAnOperationFromFormatTwoOn) {
  static constexpr Property kOther[] = {{"added-files", "1"}};
  AddSnapshot bare = add_snapshot(4, 10, 3);
  bare.snapshot.summary = {};
  AddSnapshot without_operation = add_snapshot(4, 10, 3);
  without_operation.snapshot.summary = kOther;
  for (const AddSnapshot& added : {bare, without_operation}) {
    EXPECT_EQ(commit(kHistory, {added}).error,
              invalid("Cannot add snapshot 4: its summary has no operation"));
    EXPECT_EQ(commit(v1(), {added}).error, "");
  }
}

TEST(TableBuilderSnapshots, HasNoIdThatStandsForNone) {
  EXPECT_EQ(commit(kHistory, {add_snapshot(-1, 10)}).error,
            invalid("Cannot add snapshot -1: this id stands for no snapshot"));
  EXPECT_EQ(commit(v1(), {add_snapshot(-1, 0)}).error,
            invalid("Cannot add snapshot -1: this id stands for no snapshot"));
  EXPECT_EQ(commit(kHistory, {add_snapshot(-2, 10)}).error, "");
}

TEST(TableBuilderSnapshots, ItsSchemaIsThere) {
  AddSnapshot of_another = add_snapshot(4, 10, 3);
  of_another.snapshot.schema_id = 1;
  EXPECT_EQ(commit(kHistory, {of_another}).error,
            invalid("Cannot add snapshot 4 with unknown schema: 1"));
  EXPECT_EQ(commit(kHistory, {AddSchema{schema_of({column(2, "y")})}, of_another}).error, "");
  of_another.snapshot.schema_id.reset();
  EXPECT_EQ(commit(kHistory, {of_another}).error, "");
}

TEST(TableBuilderSnapshots, ManifestsAreEmbeddedInFormatOneAlone) {
  AddSnapshot embedded = add_snapshot(4, 10, 3);
  embedded.snapshot.manifest_list = {};
  const std::string_view manifests[] = {"m.avro"};
  EXPECT_EQ(commit(v1(), {embedded}).error,
            invalid("Cannot add snapshot 4: it has no manifest-list"));
  embedded.snapshot.manifests = manifests;
  EXPECT_EQ(commit(v1(), {embedded}).error, "");
  EXPECT_EQ(commit(kHistory, {embedded}).error,
            invalid("Cannot add snapshot 4: it has no manifest-list"));
}

// ---- Row lineage

AddSnapshot with_rows(AddSnapshot added, std::optional<std::int64_t> first_row_id,
                      std::optional<std::int64_t> added_rows) {
  added.snapshot.first_row_id = first_row_id;
  added.snapshot.added_rows = added_rows;
  return added;
}
const Document kThree = v3().with("next-row-id", "12");

TEST(TableBuilderSnapshots, RowIdsAreCountedOn) {
  const auto outcome = commit(
      kThree, {with_rows(add_snapshot(4, 10), 12, 5), with_rows(add_snapshot(5, 11, 4), 17, 0),
               with_rows(add_snapshot(6, 12, 5), 17, 3)});
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->next_row_id, 20);
}

TEST(TableBuilderSnapshots, RowsThatASnapshotLeftOutAreNotGivenToTheNextOne) {
  EXPECT_EQ(commit(kThree, {with_rows(add_snapshot(4, 10), 100, 5)})->next_row_id, 105);
}

TEST(TableBuilderSnapshots, RefusesRowIdsThatAreMissingTakenOrImpossible) {
  EXPECT_EQ(commit(kThree, {with_rows(add_snapshot(4, 10), {}, 5)}).error,
            invalid("Cannot add a snapshot: first-row-id is null"));
  EXPECT_EQ(commit(kThree, {with_rows(add_snapshot(4, 10), 12, {})}).error,
            invalid("Cannot add a snapshot: added-rows is null"));
  EXPECT_EQ(commit(kThree, {with_rows(add_snapshot(4, 10), 11, 5)}).error,
            conflict("Cannot add a snapshot, first-row-id is behind table next-row-id: 11 < 12"));
  EXPECT_EQ(commit(kThree, {with_rows(add_snapshot(4, 10), 12, 5),
                            with_rows(add_snapshot(5, 11, 4), 12, 5)})
                .error,
            conflict("Cannot add a snapshot, first-row-id is behind table next-row-id: 12 < 17"));
  EXPECT_THAT(commit(kThree, {with_rows(add_snapshot(4, 10), 12, -1)}).error,
              HasSubstr("invalid_argument: Cannot add a snapshot: no table has room for -1 rows"));
  EXPECT_THAT(commit(kThree, {with_rows(add_snapshot(4, 10), 12, INT64_MAX - 11)}).error,
              HasSubstr("invalid_argument: Cannot add a snapshot: no table has room for"));
  EXPECT_EQ(commit(kThree, {with_rows(add_snapshot(4, 10), 12, INT64_MAX - 12)})->next_row_id,
            INT64_MAX);
}

TEST(TableBuilderSnapshots, OlderFormatsKeepNoRowIdsAlsoWhenUpgraded) {
  const auto outcome = commit(
      v2(), {with_rows(add_snapshot(4, 10), 7, 5), set_ref("main", 4), UpgradeFormatVersion{3}});
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->next_row_id, 0);
  EXPECT_EQ((*outcome->current_snapshot())->first_row_id, std::nullopt);
}

// ---- Refs

TEST(TableBuilderSnapshots, RefsNameSnapshotsThatAreThere) {
  EXPECT_EQ(commit(kHistory, {set_ref("main", 9)}).error,
            invalid("Cannot set main to unknown snapshot: 9"));
  EXPECT_EQ(commit(kHistory, {set_ref("x", 4), add_snapshot(4, 10, 3)}).error,
            invalid("Cannot set x to unknown snapshot: 4"));
  EXPECT_EQ(commit(kHistory, {remove_snapshots({2}), set_ref("x", 2)}).error,
            invalid("Cannot set x to unknown snapshot: 2"));
}

TEST(TableBuilderSnapshots, BranchesAndTagsAreSetMovedAndRemoved) {
  SetSnapshotRef kept = set_ref("b", 2);
  kept.ref.min_snapshots_to_keep = 4;
  const auto outcome =
      commit(kHistory, {set_ref("t", 3, RefType::kTag), set_ref("new", 1), kept,
                        RemoveSnapshotRef{"none"}, set_ref("gone", 1), RemoveSnapshotRef{"gone"}});
  EXPECT_THAT(ref_names(*outcome), ElementsAre("main", "b", "t", "new"));
  EXPECT_EQ(outcome->find_ref("t")->snapshot_id, 3);
  EXPECT_EQ(outcome->find_ref("t")->max_ref_age_ms, std::nullopt);
  EXPECT_EQ(outcome->find_ref("b")->min_snapshots_to_keep, 4);
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(1, 2, 3)) << "of main alone";
}

TEST(TableBuilderSnapshots, RefusesRefsThatNoReaderWouldTake) {
  EXPECT_EQ(commit(kHistory, {set_ref("main", 3, RefType::kTag)}).error,
            invalid("Cannot set main: main must be a branch"));
  EXPECT_EQ(commit(kHistory, {set_ref("", 3)}).error, invalid("Cannot set a ref without a name"));
  SetSnapshotRef tag = set_ref("t", 3, RefType::kTag);
  tag.ref.max_snapshot_age_ms = 5;
  EXPECT_EQ(commit(kHistory, {tag}).error,
            invalid("Cannot set t: a tag has neither min-snapshots-to-keep nor "
                    "max-snapshot-age-ms"));
  SetSnapshotRef branch = set_ref("b", 3);
  branch.ref.max_ref_age_ms = 0;
  EXPECT_EQ(commit(kHistory, {branch}).error,
            invalid("Cannot set b: what it keeps must be greater than 0"));
}

TEST(TableBuilderSnapshots, RetentionOfMainIsNoMove) {
  SetSnapshotRef main = set_ref("main", 3);
  main.ref.max_snapshot_age_ms = 5;
  const auto outcome = commit(kHistory, {main});
  EXPECT_EQ(outcome->find_ref("main")->max_snapshot_age_ms, 5);
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(1, 2, 3));
}

TEST(TableBuilderSnapshots, WithoutMainNothingIsCurrentAndTheHistoryStays) {
  const auto outcome = commit(kHistory, {RemoveSnapshotRef{"main"}});
  EXPECT_EQ(outcome->current_snapshot_id, std::nullopt);
  EXPECT_THAT(ref_names(*outcome), ElementsAre("b", "t"));
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(1, 2, 3));
}

// ---- The snapshot-log

TEST(TableBuilderSnapshots, ARollbackIsLoggedAsOfNow) {
  const auto outcome = commit(kHistory, {set_ref("main", 1)});
  EXPECT_EQ(outcome->current_snapshot_id, 1);
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(1, 2, 3, 1));
  EXPECT_EQ((*outcome->snapshot_log())[3].timestamp_ms, kNowMs);
}

TEST(TableBuilderSnapshots, ARollbackIsNeverLoggedBeforeWhatItRollsBack) {
  CommitContext early = context();
  early.now_ms = 5;
  const auto outcome = commit(kHistory, {set_ref("main", 1)}, {}, early);
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ((*outcome->snapshot_log())[3].timestamp_ms, 1'700'000'000'000);
}

TEST(TableBuilderSnapshots, OfSeveralThatWereMainInOneCommitTheLastOneIsLogged) {
  const auto outcome =
      commit(kHistory, {add_snapshot(4, 10, 3), set_ref("main", 4), add_snapshot(5, 11, 4),
                        set_ref("main", 5), add_snapshot(6, 12, 5), set_ref("main", 6)});
  EXPECT_THAT(snapshot_ids(*outcome), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(1, 2, 3, 6));
  const auto back =
      commit(kHistory, {add_snapshot(4, 10, 3), set_ref("main", 4), add_snapshot(5, 11, 4),
                        set_ref("main", 5), set_ref("main", 4)});
  EXPECT_THAT(logged_ids(*back), ElementsAre(1, 2, 3, 4));
  const auto undone =
      commit(kHistory, {add_snapshot(4, 10, 3), set_ref("main", 4), RemoveSnapshotRef{"main"}});
  EXPECT_THAT(logged_ids(*undone), ElementsAre(1, 2, 3));
}

TEST(TableBuilderSnapshots, AnIntermediateOneThatIsRemovedAgainLeavesTheHistoryWhole) {
  const auto outcome =
      commit(kHistory, {add_snapshot(4, 10, 3), set_ref("main", 4), add_snapshot(5, 11, 4),
                        set_ref("main", 5), remove_snapshots({4})});
  EXPECT_THAT(snapshot_ids(*outcome), ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(1, 2, 3, 5));
}

TEST(TableBuilderSnapshots, ClocksMayDifferByAMinute) {
  const std::int64_t last_ms = 1'699'999'003'000;
  EXPECT_EQ(commit(kHistory, {add_snapshot(4, 10, 3, last_ms - 60'000), set_ref("main", 4)}).error,
            "");
  EXPECT_EQ(
      commit(kHistory, {add_snapshot(4, 10, 3, last_ms - 60'001), set_ref("main", 4)}).error,
      invalid("Cannot set main to snapshot 4: its timestamp 1699998942999 is more than a minute "
              "before the last snapshot-log entry at 1699999003000"));
  EXPECT_EQ(commit(kHistory, {add_snapshot(4, 10, 3, INT64_MIN), set_ref("b", 4)}).error, "")
      << "branches have no log";
}

TEST(TableBuilderSnapshots, OnesThatAreNotLoggedDoNotBridgeAGapOfTheClock) {
  const std::int64_t last_ms = 1'699'999'003'000;
  EXPECT_THAT(commit(kHistory, {add_snapshot(4, 10, 3, last_ms - 50'000), set_ref("main", 4),
                                add_snapshot(5, 11, 4, last_ms - 100'000), set_ref("main", 5)})
                  .error,
              HasSubstr("Cannot set main to snapshot 5: its timestamp"));
  EXPECT_EQ(commit(kHistory, {add_snapshot(4, 10, 3, last_ms - 100'000), set_ref("main", 4),
                              add_snapshot(5, 11, 4, last_ms), set_ref("main", 5)})
                .error,
            "");
}

TEST(TableBuilderSnapshots, AClientWhoseClockIsAheadIsBelieved) {
  const auto outcome =
      commit(kHistory, {add_snapshot(4, 10, 3, kNowMs + 3'600'000), set_ref("main", 4)});
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->last_updated_ms, kNowMs + 3'600'000);
}

// ---- remove-snapshots

TEST(TableBuilderSnapshots, RemovedOnesTakeTheLogBeforeThemAlong) {
  const auto outcome = commit(kHistory, {remove_snapshots({2, 77})});
  EXPECT_THAT(snapshot_ids(*outcome), ElementsAre(1, 3));
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(3));
  EXPECT_THAT(ref_names(*outcome), ElementsAre("main", "t"));
  EXPECT_THAT(logged_ids(*commit(kHistory, {remove_snapshots({1})})), ElementsAre(2, 3));
  EXPECT_TRUE(commit(kHistory, {remove_snapshots({77})}).made.is_unchanged());
}

TEST(TableBuilderSnapshots, WithTheCurrentOneMainGoes) {
  const auto outcome = commit(kHistory, {remove_snapshots({3})});
  EXPECT_EQ(outcome->current_snapshot_id, std::nullopt);
  EXPECT_THAT(ref_names(*outcome), ElementsAre("b", "t"));
  EXPECT_THAT(logged_ids(*outcome), IsEmpty());
}

TEST(TableBuilderSnapshots, RefsThatMovedAwayStay) {
  const auto outcome = commit(kHistory, {set_ref("b", 3), remove_snapshots({2})});
  EXPECT_THAT(ref_names(*outcome), ElementsAre("main", "b", "t"));
  const auto back = commit(kHistory, {set_ref("b", 3), set_ref("b", 2), remove_snapshots({2, 1})});
  EXPECT_THAT(ref_names(*back), ElementsAre("main"));
}

TEST(TableBuilderSnapshots, ExpiringAfterAnAppendInOneCommit) {
  const auto outcome = commit(kHistory, {add_snapshot(4, 10, 3), set_ref("main", 4),
                                         remove_snapshots({1}), remove_snapshots({2, 3})});
  EXPECT_THAT(snapshot_ids(*outcome), ElementsAre(4));
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(4));
  EXPECT_THAT(ref_names(*outcome), ElementsAre("main"));
}

TEST(TableBuilderSnapshots, ManyAreRemovedOneByOneInOneCommit) {
  constexpr std::int64_t kCount = 20'000;
  std::vector<std::int64_t> all;
  for (std::int64_t id = 1; id <= kCount; ++id) all.push_back(id);
  const Document base = with_history(
      v2().with("last-sequence-number", "20000").with("last-updated-ms", "1700019000000"), all);
  std::vector<TableUpdate> updates;
  for (std::int64_t id = 1; id < kCount; ++id) {
    updates.push_back(set_ref("b" + std::to_string(id), id));
  }
  for (std::int64_t id = 1; id < kCount; ++id) updates.push_back(remove_snapshots({id}));
  const auto outcome = commit(base, updates);
  EXPECT_THAT(snapshot_ids(*outcome), ElementsAre(kCount));
  EXPECT_THAT(ref_names(*outcome), ElementsAre("main"));
}

// ---- Statistics

SetStatistics statistics(std::int64_t id, std::string_view path) {
  StatisticsFile file;
  file.snapshot_id = id;
  file.statistics_path = path;
  return {file};
}
SetPartitionStatistics partition_statistics(std::int64_t id, std::string_view path) {
  PartitionStatisticsFile file;
  file.snapshot_id = id;
  file.statistics_path = path;
  return {file};
}

TEST(TableBuilderSnapshots, StatisticsAreOnePerSnapshot) {
  const auto outcome = commit(
      kHistory, {statistics(1, "a"), statistics(9, "b"), statistics(1, "c"),
                 partition_statistics(1, "d"), partition_statistics(1, "e"),
                 partition_statistics(2, "f"), RemovePartitionStatistics{2}, RemoveStatistics{5}});
  ASSERT_EQ(outcome->statistics.size(), 2);
  EXPECT_EQ(outcome->statistics[0].statistics_path, "c");
  EXPECT_EQ(outcome->statistics[1].statistics_path, "b") << "its snapshot may come later";
  ASSERT_EQ(outcome->partition_statistics.size(), 1);
  EXPECT_EQ(outcome->partition_statistics[0].statistics_path, "e");
}

TEST(TableBuilderSnapshots, StatisticsGoWithTheirSnapshotAndSettingTheSameIsNoChange) {
  const auto set = commit(kHistory, {statistics(1, "a"), statistics(2, "b"),
                                     partition_statistics(1, "c"), partition_statistics(2, "d")});
  EXPECT_TRUE(commit(set.table.get(), {statistics(1, "a"), partition_statistics(2, "d")})
                  .made.is_unchanged());
  const auto removed = commit(set.table.get(), {remove_snapshots({1})});
  ASSERT_EQ(removed->statistics.size(), 1);
  EXPECT_EQ(removed->statistics[0].statistics_path, "b");
  ASSERT_EQ(removed->partition_statistics.size(), 1);
  EXPECT_EQ(removed->partition_statistics[0].statistics_path, "d");
}

TEST(TableBuilderSnapshots, AllStatisticsOfASnapshotGo) {
  const std::string one = R"({"snapshot-id":1,"statistics-path":"a","file-size-in-bytes":1})";
  const Document base = kHistory.with("partition-statistics", '[' + one + ',' + one + ']');
  EXPECT_EQ(commit(base, {set_ref("c", 3)})->partition_statistics.size(), 2);
  EXPECT_THAT(commit(base, {remove_snapshots({1})})->partition_statistics, IsEmpty());
  EXPECT_EQ(commit(base, {partition_statistics(1, "b")})->partition_statistics.size(), 1);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
