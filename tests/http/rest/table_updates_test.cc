// Each update of tables that is not of schemas, specs, orders and snapshots, through a commit and
// the load that follows.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class TableUpdates : public RestTest {
 protected:
  Value create_of_format(const std::string& name, const char* version) {
    Object body = named(name);
    body["properties"] = Object{{"format-version", version}};
    EXPECT_THAT(create(body), HasStatus(200));
    return load(name);
  }
  /// The metadata after one update, which the next load must agree with.
  Value updated(const Value& update) {
    const auto answered = commit_to("tbl", {{}, {update}});
    EXPECT_EQ(load("tbl"), answered);
    return answered;
  }
};

TEST_F(TableUpdates, SetAndRemoveProperties) {
  create_table("tbl");
  EXPECT_EQ(updated(set_properties({{"a", "1"}, {"b", "2"}})).at("properties"),
            (Object{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(updated(set_properties({{"a", ""}})).at("properties"), (Object{{"a", ""}, {"b", "2"}}));
  EXPECT_EQ(updated(remove_properties({"a", "nobody"})).at("properties"), (Object{{"b", "2"}}));
}

TEST_F(TableUpdates, MoveTheTable) {
  const auto before = text_of(create_table("tbl").at("location"));
  const auto moved = updated(set_location(warehouse() + "/moved/"));
  EXPECT_EQ(moved.at("location"), Value(warehouse() + "/moved"));
  EXPECT_THAT(metadata_location(table("tbl")), StartsWith(warehouse() + "/moved/metadata/00001-"));
  EXPECT_THAT(text_of(moved.at("metadata-log").at(0).at("metadata-file")), StartsWith(before));
}

TEST_F(TableUpdates, KeepStatisticsOfSnapshots) {
  const auto base = commit_to("tbl", append(create_table("tbl"), 1));
  const auto statistics =
      json_of(R"({"snapshot-id":1,"statistics-path":"/data/stats.puffin","file-size-in-bytes":413,)"
              R"("file-footer-size-in-bytes":42,"blob-metadata":[{"type":"ndv","snapshot-id":1,)"
              R"("sequence-number":1,"fields":[1]}]})");
  Object set{{"action", "set-statistics"}, {"snapshot-id", 1}};
  set["statistics"] = statistics;
  EXPECT_EQ(updated(set).at("statistics").at(0).at("file-size-in-bytes").as_int64(), 413);
  set["statistics"].as_object()["file-size-in-bytes"] = 500;
  const auto replaced = updated(set).at("statistics");
  EXPECT_EQ(replaced.as_array().size(), 1u);
  EXPECT_EQ(replaced.at(0).at("file-size-in-bytes").as_int64(), 500);
  Object remove{{"action", "remove-statistics"}, {"snapshot-id", 1}};
  EXPECT_EQ(updated(remove).at("statistics"), Array{});
}

TEST_F(TableUpdates, KeepPartitionStatisticsOfSnapshots) {
  commit_to("tbl", append(create_table("tbl"), 1));
  Object set{{"action", "set-partition-statistics"}};
  set["partition-statistics"] = json_of(
      R"({"snapshot-id":1,"statistics-path":"/data/parts.parquet","file-size-in-bytes":43})");
  EXPECT_EQ(updated(set).at("partition-statistics"), (Array{set["partition-statistics"]}));
  Object remove{{"action", "remove-partition-statistics"}, {"snapshot-id", 1}};
  EXPECT_EQ(updated(remove).at("partition-statistics"), Array{});
}

TEST_F(TableUpdates, DropTheStatisticsOfSnapshotsThatGo) {
  auto base = create_table("tbl");
  for (int id = 1; id <= 2; ++id) base = commit_to("tbl", append(base, id));
  for (int id = 1; id <= 2; ++id) {
    Object set{{"action", "set-partition-statistics"}};
    set["partition-statistics"] = Object{{"snapshot-id", id},
                                         {"statistics-path", "/data/" + std::to_string(id)},
                                         {"file-size-in-bytes", 43}};
    updated(set);
  }
  const auto expired = updated(remove_snapshots({1}));
  EXPECT_THAT(ids_of(expired.at("partition-statistics"), "snapshot-id"), ::testing::ElementsAre(2));
}

TEST_F(TableUpdates, KeepEncryptionKeysInFormat3) {
  create_of_format("tbl", "3");
  Object add{{"action", "add-encryption-key"}};
  add["encryption-key"] = Object{{"key-id", "k1"}, {"encrypted-key-metadata", "c2VjcmV0"}};
  EXPECT_EQ(updated(add).at("encryption-keys").at(0).at("key-id"), Value("k1"));
  const auto removed = updated(Object{{"action", "remove-encryption-key"}, {"key-id", "k1"}});
  const auto* const keys = removed.as_object().if_contains("encryption-keys");
  EXPECT_TRUE(keys == nullptr || keys->as_array().empty());
}

TEST_F(TableUpdates, KeepTheUuid) {
  const auto base = create_table("tbl");
  EXPECT_EQ(updated(assign_uuid(base.at("table-uuid"))), base);
  EXPECT_THAT(commit("tbl", {{}, {assign_uuid(Value("9c12d441-03fe-4693-9a96-a0705ddf69c1"))}}),
              IsError(400, "IllegalArgumentException", HasSubstr("Cannot reassign uuid")));
}

TEST_F(TableUpdates, UpgradeTheFormat) {
  create_of_format("tbl", "1");
  EXPECT_EQ(updated(upgrade_format_version(2)).at("last-sequence-number").as_int64(), 0);
  EXPECT_EQ(updated(upgrade_format_version(3)).at("next-row-id").as_int64(), 0);
  EXPECT_THAT(commit("tbl", {{}, {upgrade_format_version(1)}}),
              IsError(400, "IllegalArgumentException", Not(IsEmpty())));
  EXPECT_THAT(commit("tbl", {{}, {upgrade_format_version(9)}}),
              IsError(400, "IllegalArgumentException", Not(IsEmpty())));
}

TEST_F(TableUpdates, KeepRetentionOfRefs) {
  commit_to("tbl", append(create_table("tbl"), 1));
  Object branch = set_branch("b", 1);
  branch["min-snapshots-to-keep"] = 3;
  branch["max-snapshot-age-ms"] = 1000;
  branch["max-ref-age-ms"] = 2000;
  const auto refs = updated(branch).at("refs");
  EXPECT_EQ(refs.at("b"), json_of(R"({"snapshot-id":1,"type":"branch","min-snapshots-to-keep":3,)"
                                  R"("max-snapshot-age-ms":1000,"max-ref-age-ms":2000})"));
  EXPECT_THAT(commit("tbl", {{}, {set_tag("main", 1)}}),
              IsError(400, "IllegalArgumentException", HasSubstr("main")));
}

TEST_F(TableUpdates, RollBackTheCurrentSnapshot) {
  auto base = create_table("tbl");
  for (int id = 1; id <= 3; ++id) base = commit_to("tbl", append(base, id));
  const auto rolled_back = updated(set_branch("main", 1));
  EXPECT_EQ(rolled_back.at("current-snapshot-id").as_int64(), 1);
  EXPECT_THAT(ids_of(rolled_back.at("snapshot-log"), "snapshot-id"),
              ::testing::ElementsAre(1, 2, 3, 1));
  EXPECT_EQ(rolled_back.at("snapshots").as_array().size(), 3u);
  Commit later = append(rolled_back, 4);
  later.updates.at(0).as_object()["snapshot"].as_object()["timestamp-ms"] =
      rolled_back.at("last-updated-ms");
  const auto appended = commit_to("tbl", later);
  EXPECT_EQ(appended.at("last-sequence-number").as_int64(), 4);
}

TEST_F(TableUpdates, RemoveTheCurrentSnapshotWithItsRef) {
  commit_to("tbl", append(create_table("tbl"), 1));
  const auto removed = updated(remove_snapshots({1}));
  EXPECT_EQ(removed.at("current-snapshot-id").as_int64(), -1);
  EXPECT_EQ(removed.at("refs"), Object{});
  EXPECT_EQ(removed.at("snapshots"), Array{});
}

}  // namespace
}  // namespace iceblink::test
