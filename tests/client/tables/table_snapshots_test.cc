// A handle's snapshots: by id, by name, by time, by descent.
#include "tests/client/metadata_fixture.h"

namespace iceblink::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

/// {id, parent or 0}
using Descent = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Metadata with these snapshots, the last of them current, and whatever else is given.
std::string metadata_of(const Descent& snapshots, const std::string& members = "") {
  std::string text = numbered_metadata(1);
  const std::string sequence = R"("last-sequence-number":0)";
  text.replace(text.find(sequence), sequence.size(), R"("last-sequence-number":99)");
  text.pop_back();
  text += R"(,"current-snapshot-id":)" + std::to_string(snapshots.back().first);
  text += R"(,"snapshots":[)";
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const auto& [id, parent] = snapshots[i];
    text += std::string(i == 0 ? "" : ",") + R"({"snapshot-id":)" + std::to_string(id);
    if (parent != 0) text += R"(,"parent-snapshot-id":)" + std::to_string(parent);
    text += R"(,"sequence-number":1,"timestamp-ms":1,"manifest-list":"/none","summary":{}})";
  }
  return text + "]" + members + "}";
}

class TableSnapshots : public MetadataTest {
 protected:
  std::shared_ptr<const Table> load(const std::string& text) {
    put("t", "v" + std::to_string(++version_) + ".metadata.json", text);
    const auto table = catalog_->load_table(name("t"));
    if (!table) ADD_FAILURE() << table.error().message();
    return table ? *table : nullptr;
  }
  void SetUp() override {
    MetadataTest::SetUp();
    catalog_ = open();
  }
  static std::int64_t id_of(const Result<const TableSnapshot*>& snapshot) {
    EXPECT_TRUE(snapshot.ok()) << snapshot.error().message();
    return snapshot && *snapshot != nullptr ? (*snapshot)->snapshot_id : -1;
  }
  static std::vector<std::int64_t> ids_of(const Result<std::vector<const TableSnapshot*>>& line) {
    EXPECT_TRUE(line.ok()) << line.error().message();
    std::vector<std::int64_t> ids;
    if (line) {
      for (const TableSnapshot* each : *line) ids.push_back(each->snapshot_id);
    }
    return ids;
  }

  std::optional<Catalog> catalog_;
  int version_ = 0;
};

TEST_F(TableSnapshots, AreFoundById) {
  const auto table = load(metadata_of({{1, 0}, {2, 1}}));
  EXPECT_EQ(id_of(table->current_snapshot()), 2);
  EXPECT_EQ(id_of(table->snapshot(1)), 1);
  const auto none = table->snapshot(3);
  EXPECT_THAT(none, IsError(ErrorKind::kNotFound));
  EXPECT_EQ(none.error().message(), path("v1.metadata.json") + ": there is no snapshot 3");
}

TEST_F(TableSnapshots, AreFoundByBranchAndTag) {
  const auto table = load(metadata_of({{1, 0}, {2, 1}, {3, 1}},
                                      R"(,"refs":{"old":{"snapshot-id":1,"type":"tag"},
      "side":{"snapshot-id":2,"type":"branch"},"main":{"snapshot-id":3,"type":"branch"}})"));
  EXPECT_EQ(id_of(table->snapshot_of_ref("old")), 1);
  EXPECT_EQ(id_of(table->snapshot_of_ref("side")), 2);
  EXPECT_EQ(id_of(table->snapshot_of_ref("main")), 3);
  EXPECT_THAT(table->snapshot_of_ref("Main"), IsError(ErrorKind::kNotFound));
}

TEST_F(TableSnapshots, AsOfATimeAreThoseOfTheLogAndNotOfDescent) {
  // 3 was committed and rolled back to 2, which was current again from 40 on.
  const auto table = load(metadata_of({{1, 0}, {3, 2}, {2, 1}}, R"(,"snapshot-log":[
      {"timestamp-ms":10,"snapshot-id":1},{"timestamp-ms":20,"snapshot-id":2},
      {"timestamp-ms":30,"snapshot-id":3},{"timestamp-ms":40,"snapshot-id":2}])"));
  EXPECT_THAT(table->snapshot_as_of(9), IsError(ErrorKind::kNotFound));
  EXPECT_EQ(id_of(table->snapshot_as_of(10)), 1);
  EXPECT_EQ(id_of(table->snapshot_as_of(29)), 2);
  EXPECT_EQ(id_of(table->snapshot_as_of(30)), 3);
  EXPECT_EQ(id_of(table->snapshot_as_of(39)), 3);
  EXPECT_EQ(id_of(table->snapshot_as_of(1'000'000)), 2);
}

TEST_F(TableSnapshots, AsOfATimeTheLastOfTheLogCountsWhereClocksWentBack) {
  const auto table = load(metadata_of({{1, 0}, {2, 1}}, R"(,"snapshot-log":[
      {"timestamp-ms":30,"snapshot-id":1},{"timestamp-ms":20,"snapshot-id":2}])"));
  EXPECT_EQ(id_of(table->snapshot_as_of(30)), 2);
  EXPECT_EQ(id_of(table->snapshot_as_of(25)), 2);
}

TEST_F(TableSnapshots, AsOfATimeAnExpiredOneIsAnErrorAndSoIsAnEmptyLog) {
  auto table = load(metadata_of({{2, 1}}, R"(,"snapshot-log":[
      {"timestamp-ms":10,"snapshot-id":1},{"timestamp-ms":20,"snapshot-id":2}])"));
  const auto expired = table->snapshot_as_of(15);
  EXPECT_THAT(expired, IsError(ErrorKind::kNotFound));
  EXPECT_EQ(expired.error().message(),
            path("v1.metadata.json") +
                ": there is no snapshot 1 any more, which was the current one as of 15");
  EXPECT_EQ(id_of(table->snapshot_as_of(20)), 2);
  table = load(metadata_of({{2, 1}}));
  EXPECT_THAT(table->snapshot_as_of(1'000'000), IsError(ErrorKind::kNotFound));
}

TEST_F(TableSnapshots, AncestorsAreNewestFirstAndEndWhereTheyExpired) {
  const auto table = load(metadata_of({{3, 2}, {4, 3}, {5, 3}, {6, 5}}));
  EXPECT_THAT(ids_of(table->ancestors(6)), ElementsAre(6, 5, 3));
  EXPECT_THAT(ids_of(table->ancestors(4)), ElementsAre(4, 3));
  EXPECT_THAT(ids_of(table->ancestors(3)), ElementsAre(3));
  EXPECT_THAT(table->ancestors(2), IsError(ErrorKind::kNotFound));
}

TEST_F(TableSnapshots, ACycleOfAncestorsIsAnErrorThatNamesTheFile) {
  for (const Descent& cycle :
       {Descent{{1, 1}}, Descent{{1, 3}, {2, 1}, {3, 2}}, Descent{{1, 2}, {2, 1}, {3, 2}}}) {
    const auto table = load(metadata_of(cycle));
    const auto line = table->ancestors(cycle.back().first);
    EXPECT_THAT(line, IsError(ErrorKind::kCorrupt));
    EXPECT_THAT(line.error().message(), StartsWith(table->metadata_location() + ": snapshots: "));
    EXPECT_EQ(id_of(table->current_snapshot()), cycle.back().first) << "the rest serves";
  }
}

TEST_F(TableSnapshots, ManyAncestorsTakeNoMoreThanTheirNumber) {
  Descent long_line;
  for (std::int64_t id = 1; id <= 20'000; ++id) long_line.emplace_back(id, id - 1);
  const auto table = load(metadata_of(long_line));
  const auto line = table->ancestors(20'000);
  ASSERT_OK(line);
  EXPECT_EQ(line->size(), 20'000U);
  EXPECT_EQ(line->back()->snapshot_id, 1);
}

TEST_F(TableSnapshots, TheSchemaOfOneIsWhatItWasWrittenWith) {
  std::string text = metadata_of({{1, 0}, {2, 1}, {3, 2}});
  const auto say = [&](const std::string& id, const std::string& schema) {
    const std::string member = R"({"snapshot-id":)" + id;
    text.replace(text.find(member), member.size(), member + R"(,"schema-id":)" + schema);
  };
  say("1", "0");
  say("2", "7");
  const auto table = load(text);
  EXPECT_EQ(*table->schema_of(**table->snapshot(1)), &table->schema());
  EXPECT_EQ(*table->schema_of(**table->snapshot(3)), &table->schema());
  const auto none = table->schema_of(**table->snapshot(2));
  EXPECT_THAT(none, IsError(ErrorKind::kCorrupt));
  EXPECT_EQ(none.error().message(),
            path("v1.metadata.json") + ": snapshot 2: schema-id: 7 is none of the table's");
  PlanOptions options{Predicate::is_null("a"), nullptr};
  EXPECT_THAT(table->plan_files(2, options), IsError(ErrorKind::kCorrupt));
}

TEST_F(TableSnapshots, ADamagedOneIsAnErrorThatNamesTheFileAndTheField) {
  std::string text = metadata_of({{1, 0}, {2, 1}});
  const std::string member = R"({"snapshot-id":1)";
  text.replace(text.find(member), member.size(), member + R"(,"schema-id":"x")");
  const auto table = load(text);
  const auto damaged = table->snapshot(1);
  EXPECT_THAT(damaged, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(damaged.error().message(),
              StartsWith(path("v1.metadata.json") + ": snapshots[0].schema-id"));
  EXPECT_EQ(id_of(table->current_snapshot()), 2);
}

}  // namespace
}  // namespace iceblink::testing
