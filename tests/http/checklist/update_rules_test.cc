// Each of the 25 updates over HTTP (specification, "TableUpdate", "ViewUpdate"): what it does, and
// that a commit that changes nothing writes nothing.
#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class UpdateRules : public ChecklistTest {
 protected:
  void SetUp() override {
    ChecklistTest::SetUp();
    create_rich_table("t");
  }
  /// The metadata after these updates of `t`.
  Value updated(const std::string& updates) {
    const auto answer = update(table("t"), updates);
    EXPECT_THAT(answer, HasStatus(200)) << updates;
    return answer.status == 200 ? answer.json().at("metadata") : Value();
  }
  static std::vector<std::string> keys_of(const Value& object) {
    std::vector<std::string> keys;
    for (const auto& member : object.as_object()) keys.emplace_back(member.key());
    return keys;
  }
};

// ---- The table.

TEST_F(UpdateRules, UpgradeTheFormat) {
  EXPECT_EQ(
      updated(R"({"action":"upgrade-format-version","format-version":3})").at("format-version"), 3);
  const auto metadata = load("t");
  EXPECT_EQ(metadata.at("next-row-id"), 0);
  const auto& first = metadata.at("snapshots").as_array()[0].as_object();
  EXPECT_FALSE(first.contains("first-row-id"));
}

TEST_F(UpdateRules, MoveTheLocation) {
  const std::string moved = warehouse() + "/moved";
  const auto answer =
      update(table("t"), R"({"action":"set-location","location":")" + moved + R"(/"})");
  ASSERT_THAT(answer, HasStatus(200));
  EXPECT_EQ(text_of(answer.json().at("metadata").at("location")), moved);
  EXPECT_THAT(text_of(answer.json().at("metadata-location")),
              ::testing::StartsWith(moved + "/metadata/00002-"));
}

TEST_F(UpdateRules, SetAndRemoveProperties) {
  auto metadata = updated(
      R"({"action":"set-properties","updates":{"a":"c","n":"","é":"🧊"}},
        {"action":"remove-properties","removals":["n","never-there"]})");
  EXPECT_EQ(metadata.at("properties"), json_of(R"({"a":"c","é":"🧊"})"));
}

TEST_F(UpdateRules, AssignItsOwnUuid) {
  const auto before = state();
  const auto uuid = text_of(load("t").at("table-uuid"));
  updated(R"({"action":"assign-uuid","uuid":")" + uuid + "\"}");
  EXPECT_EQ(state(), before);
}

// ---- Structure.

TEST_F(UpdateRules, AddASchemaOnceAndFindItAgain) {
  const std::string same_as_0 =
      R"({"action":"add-schema","last-column-id":99,"schema":{"type":"struct","schema-id":77,
        "fields":[{"id":1,"name":"id","required":true,"type":"long"},
        {"id":2,"name":"ts","required":false,"type":"timestamp"},
        {"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[
          {"id":4,"name":"x","required":true,"type":"int"}]}}]}})";
  const auto metadata = updated(same_as_0 + R"(,{"action":"set-current-schema","schema-id":-1})");
  EXPECT_EQ(metadata.at("current-schema-id"), 0);
  EXPECT_THAT(ids_of(metadata.at("schemas"), "schema-id"), ElementsAre(0, 1));
  EXPECT_EQ(metadata.at("last-column-id"), 5);
}

TEST_F(UpdateRules, CountColumnsByThemselves) {
  const auto metadata = updated(
      R"({"action":"add-schema","last-column-id":2,"schema":{"type":"struct","fields":[
        {"id":1,"name":"id","required":true,"type":"long"},
        {"id":2,"name":"ts","required":false,"type":"timestamp"},
        {"id":41,"name":"l","required":false,"type":{"type":"list","element-id":42,
          "element":"int","element-required":false}}]}})");
  EXPECT_EQ(metadata.at("last-column-id"), 42);
  EXPECT_EQ(metadata.at("current-schema-id"), 1);
}

TEST_F(UpdateRules, AddASpecAndFindItAgain) {
  auto metadata = updated(R"({"action":"add-spec","spec":{"spec-id":0,"fields":[
        {"source-id":2,"name":"d","transform":"day"},
        {"source-id":1,"name":"b","transform":"bucket[4]"}]}},
      {"action":"set-default-spec","spec-id":-1})");
  EXPECT_EQ(metadata.at("default-spec-id"), 2);
  EXPECT_EQ(metadata.at("last-partition-id"), 1001);
  EXPECT_THAT(ids_of(default_spec(metadata).at("fields"), "field-id"), ElementsAre(1000, 1001));
  metadata = updated(R"({"action":"add-spec","spec":{"fields":[
        {"source-id":2,"name":"d","transform":"day"}]}},
      {"action":"set-default-spec","spec-id":-1})");
  EXPECT_EQ(metadata.at("default-spec-id"), 1);
  EXPECT_THAT(ids_of(metadata.at("partition-specs"), "spec-id"), ElementsAre(0, 1, 2));
}

TEST_F(UpdateRules, AddASortOrderAndFindItAgain) {
  auto metadata = updated(R"({"action":"add-sort-order","sort-order":{"order-id":1,"fields":[
        {"source-id":2,"transform":"day","direction":"desc","null-order":"nulls-last"}]}},
      {"action":"set-default-sort-order","sort-order-id":-1})");
  EXPECT_EQ(metadata.at("default-sort-order-id"), 2);
  metadata = updated(R"({"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}},
      {"action":"set-default-sort-order","sort-order-id":-1})");
  EXPECT_EQ(metadata.at("default-sort-order-id"), 0);
  EXPECT_THAT(ids_of(metadata.at("sort-orders"), "order-id"), ElementsAre(0, 1, 2));
}

TEST_F(UpdateRules, RemoveWhatIsNotInUse) {
  const auto metadata = updated(R"({"action":"remove-schemas","schema-ids":[0]},
      {"action":"remove-partition-specs","spec-ids":[0]})");
  EXPECT_THAT(ids_of(metadata.at("schemas"), "schema-id"), ElementsAre(1));
  EXPECT_THAT(ids_of(metadata.at("partition-specs"), "spec-id"), ElementsAre(1));
}

// ---- Snapshots.

TEST_F(UpdateRules, KeepOnlyTheLastOfSeveralSnapshotsInTheLog) {
  const auto metadata = load("t");
  EXPECT_THAT(ids_of(metadata.at("snapshots"), "snapshot-id"), ElementsAre(7, 8));
  EXPECT_THAT(ids_of(metadata.at("snapshot-log"), "snapshot-id"), ElementsAre(8));
  const auto later = updated(R"({"action":"add-snapshot","snapshot":)" + snapshot_text(9, 3) +
                             R"(},{"action":"set-snapshot-ref","ref-name":"main","type":"branch",
        "snapshot-id":9},{"action":"add-snapshot","snapshot":)" +
                             snapshot_text(10, 4) +
                             R"(},{"action":"set-snapshot-ref","ref-name":"main","type":"branch",
        "snapshot-id":10})");
  EXPECT_THAT(ids_of(later.at("snapshot-log"), "snapshot-id"), ElementsAre(8, 10));
  EXPECT_EQ(later.at("last-sequence-number"), 4);
}

TEST_F(UpdateRules, NeverSetTheClockBack) {
  const auto added = updated(R"({"action":"add-snapshot","snapshot":)" + snapshot_text(9, 3) + "}");
  EXPECT_EQ(added.at("last-updated-ms"), 4'000'000'000'000);
  const auto later = updated(R"({"action":"set-properties","updates":{"x":"y"}})");
  EXPECT_GE(later.at("last-updated-ms").as_int64(), 4'000'000'000'000);
}

TEST_F(UpdateRules, SetAndRemoveRefs) {
  auto metadata = updated(
      R"({"action":"set-snapshot-ref","ref-name":"w","type":"branch","snapshot-id":7,
        "min-snapshots-to-keep":3,"max-snapshot-age-ms":4,"max-ref-age-ms":5},
      {"action":"remove-snapshot-ref","ref-name":"v1"},
      {"action":"remove-snapshot-ref","ref-name":"never-there"})");
  EXPECT_THAT(keys_of(metadata.at("refs")), ::testing::UnorderedElementsAre("main", "b", "w"));
  EXPECT_EQ(metadata.at("refs").at("w"),
            json_of(R"({"snapshot-id":7,"type":"branch","min-snapshots-to-keep":3,
              "max-snapshot-age-ms":4,"max-ref-age-ms":5})"));
  metadata = updated(R"({"action":"remove-snapshot-ref","ref-name":"main"})");
  EXPECT_EQ(metadata.at("current-snapshot-id"), -1);
}

TEST_F(UpdateRules, RemoveSnapshotsWithAllThatNamesThem) {
  updated(
      R"({"action":"set-statistics","statistics":{"snapshot-id":7,"statistics-path":"/s",
        "file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}},
      {"action":"set-partition-statistics","partition-statistics":{"snapshot-id":7,
        "statistics-path":"/p","file-size-in-bytes":1}},
      {"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":7})");
  updated(R"({"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":8})");
  const auto metadata = updated(R"({"action":"remove-snapshots","snapshot-ids":[7,99]})");
  EXPECT_THAT(ids_of(metadata.at("snapshots"), "snapshot-id"), ElementsAre(8));
  EXPECT_THAT(keys_of(metadata.at("refs")), ElementsAre("main"));
  EXPECT_THAT(ids_of(metadata.at("snapshot-log"), "snapshot-id"), ElementsAre(8));
  for (const auto& list : {"statistics", "partition-statistics"}) {
    const auto* const found = metadata.as_object().if_contains(list);
    EXPECT_TRUE(found == nullptr || found->as_array().empty()) << list;
  }
}

TEST_F(UpdateRules, SetAndRemoveStatistics) {
  // The deprecated snapshot-id beside the statistics' own says nothing.
  auto metadata = updated(
      R"({"action":"set-statistics","snapshot-id":99,"statistics":{"snapshot-id":8,
        "statistics-path":"/s","file-size-in-bytes":9007199254740993,
        "file-footer-size-in-bytes":1,"blob-metadata":[{"type":"x","snapshot-id":8,
        "sequence-number":2,"fields":[1],"properties":{"ndv":"7"}}]}},
      {"action":"set-partition-statistics","partition-statistics":{"snapshot-id":8,
        "statistics-path":"/p","file-size-in-bytes":3}})");
  EXPECT_EQ(metadata.at("statistics").as_array()[0].at("snapshot-id"), 8);
  EXPECT_EQ(metadata.at("statistics").as_array()[0].at("file-size-in-bytes"), 9007199254740993);
  metadata = updated(R"({"action":"remove-statistics","snapshot-id":8},
      {"action":"remove-statistics","snapshot-id":99},
      {"action":"remove-partition-statistics","snapshot-id":8})");
  EXPECT_EQ(metadata.at("statistics"), Array{});
  EXPECT_EQ(metadata.at("partition-statistics"), Array{});
}

TEST_F(UpdateRules, CountRowsInFormat3) {
  create_rich_table("t3", 3);
  const auto added =
      update(table("t3"), R"({"action":"add-snapshot","snapshot":)" +
                              snapshot_text(9, 3, R"(,"first-row-id":25,"added-rows":10)") + "}");
  ASSERT_THAT(added, HasStatus(200));
  EXPECT_EQ(added.json().at("metadata").at("next-row-id"), 35);
}

TEST_F(UpdateRules, AddAndRemoveEncryptionKeys) {
  create_rich_table("t3", 3);
  const std::string key = R"({"key-id":"k","encrypted-key-metadata":"bQ==","encrypted-by-id":"m"})";
  const auto added =
      update(table("t3"), R"({"action":"add-encryption-key","encryption-key":)" + key + "}");
  ASSERT_THAT(added, HasStatus(200));
  EXPECT_EQ(added.json().at("metadata").at("encryption-keys").as_array()[0].at("key-id"), "k");
  const auto removed = update(table("t3"), R"({"action":"remove-encryption-key","key-id":"k"})");
  EXPECT_FALSE(removed.json().at("metadata").as_object().contains("encryption-keys"));
}

// ---- Views.

TEST_F(UpdateRules, OfViewsAddVersionsAndGoBackToThem) {
  create_rich_view("v");
  const auto at = [&](const std::string& updates) {
    const auto answer = update(view("v"), updates);
    EXPECT_THAT(answer, HasStatus(200)) << updates;
    return answer.status == 200 ? answer.json().at("metadata") : Value();
  };
  EXPECT_EQ(load_view("v").at("current-version-id"), 2);
  auto metadata = at(R"({"action":"set-current-view-version","view-version-id":1},
      {"action":"set-properties","updates":{"c":"d"}},
      {"action":"remove-properties","removals":["a"]},
      {"action":"upgrade-format-version","format-version":1})");
  EXPECT_EQ(metadata.at("current-version-id"), 1);
  EXPECT_EQ(metadata.at("properties"), json_of(R"({"c":"d"})"));
  EXPECT_THAT(ids_of(metadata.at("version-log"), "version-id"), ElementsAre(1, 2, 1));
  const std::string moved = warehouse() + "/views/moved";
  metadata = at(R"({"action":"set-location","location":")" + moved + "\"}");
  EXPECT_EQ(text_of(metadata.at("location")), moved);
  EXPECT_THAT(ids_of(metadata.at("versions"), "version-id"), ElementsAre(1, 2));
}

// ---- Nothing.

TEST_F(UpdateRules, ThatChangeNothingWriteNothing) {
  create_rich_view("v");
  const auto before = state();
  const auto loaded = get(table("t"));
  const auto loaded_view = get(view("v"));
  const auto location = text_of(loaded.json().at("metadata").at("location"));
  for (const std::string& updates : std::vector<std::string>{
           "",
           R"({"action":"set-properties","updates":{}})",
           R"({"action":"set-properties","updates":{"a":"b"}})",
           R"({"action":"remove-properties","removals":["none"]})",
           R"({"action":"upgrade-format-version","format-version":2})",
           R"({"action":"set-current-schema","schema-id":1})",
           R"({"action":"set-default-spec","spec-id":1})",
           R"({"action":"set-default-sort-order","sort-order-id":1})",
           R"({"action":"remove-snapshots","snapshot-ids":[99]})",
           R"({"action":"remove-snapshots","snapshot-ids":[]})",
           R"({"action":"remove-snapshot-ref","ref-name":"none"})",
           R"({"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":8})",
           R"({"action":"set-location","location":")" + location + "\"}",
           R"({"action":"set-location","location":")" + location + "/\"}",
           R"({"action":"remove-statistics","snapshot-id":9})",
           R"({"action":"remove-partition-statistics","snapshot-id":9})",
           R"({"action":"remove-schemas","schema-ids":[]})",
           R"({"action":"remove-schemas","schema-ids":[99]})",
           R"({"action":"remove-partition-specs","spec-ids":[99]})",
           R"({"action":"add-spec","spec":{"fields":[]}})",
           R"({"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}})"}) {
    const auto answer = update(table("t"), updates);
    EXPECT_THAT(answer, HasStatus(200)) << updates;
    if (answer.status != 200) continue;
    EXPECT_EQ(answer.json().at("metadata-location"), loaded.json().at("metadata-location"));
    EXPECT_EQ(answer.json().at("metadata"), loaded.json().at("metadata")) << updates;
    EXPECT_EQ(answer.header("etag"), loaded.header("etag"));
    EXPECT_EQ(state(), before) << updates;
  }
  for (const auto& updates : {"", R"({"action":"set-properties","updates":{"a":"b"}})",
                              R"({"action":"set-current-view-version","view-version-id":2})",
                              R"({"action":"upgrade-format-version","format-version":1})"}) {
    const auto answer = update(view("v"), updates);
    EXPECT_THAT(answer, HasStatus(200)) << updates;
    EXPECT_EQ(answer.body, loaded_view.body) << updates;
    EXPECT_EQ(state(), before) << updates;
  }
}

TEST_F(UpdateRules, KeepTheLogOfMetadataShort) {
  updated(R"({"action":"set-properties","updates":{
      "write.metadata.previous-versions-max":"2"}})");
  for (const auto& value : {"1", "2", "3", "4"}) {
    updated(R"({"action":"set-properties","updates":{"x":")" + std::string(value) + "\"}}");
  }
  EXPECT_EQ(load("t").at("metadata-log").as_array().size(), 2u);
  updated(R"({"action":"set-properties","updates":{
      "write.metadata.previous-versions-max":"0"}})");
  EXPECT_EQ(load("t").at("metadata-log").as_array().size(), 1u);
}

}  // namespace
}  // namespace iceblink::test
