#include "daemon/purge.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "iceberg/fingerprint.h"
#include "iceberg/uuid.h"
#include "tests/daemon/scratch_dir.h"
#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::daemon {
namespace {

namespace fs = std::filesystem;
using iceberg::testing::AvroRecord;
using iceberg::testing::Document;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string json_string(const std::string& text) {
  return '"' + text + '"';
}

MATCHER_P3(Is, removed, failed, refused, "") {
  *result_listener << arg.removed_count << " removed, " << arg.failed_count << " failed, "
                   << arg.refused_count << " refused; " << arg.first_failure;
  return arg.removed_count == static_cast<std::uint64_t>(removed) &&
         arg.failed_count == static_cast<std::uint64_t>(failed) &&
         arg.refused_count == static_cast<std::uint64_t>(refused) &&
         arg.first_failure.empty() == (failed == 0);
}

/// A warehouse, which is the one write root, with a table at "t" in it. Names are below it.
class PurgeTest : public ::testing::Test {
 protected:
  PurgeTest() { fs::create_directories(at("")); }

  [[nodiscard]] std::string at(const std::string& name) const { return dir_ / "w/" + name; }
  std::string put(const std::string& path, std::string_view bytes = "x") const {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  /// The files that are left, by their names below the warehouse, sorted.
  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(at(""))) {
      if (entry.is_symlink() || !entry.is_directory())
        names.push_back(entry.path().lexically_relative(at("")).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  /// A manifest of live data files with these paths; its entry in a list.
  AvroRecord manifest(const std::string& path, const std::vector<std::string>& data_files,
                      int content = 0) const {
    using namespace iceberg::testing;
    std::vector<AvroRecord> entries;
    for (const auto& file : data_files) {
      entries.push_back(entry(content == 0 ? data_file(file) : position_deletes(file)));
    }
    put(path, avro_file(entries));
    return listed(path, static_cast<int>(data_files.size()), content);
  }
  static AvroRecord listed(const std::string& path, int added, int content = 0) {
    using namespace iceberg::testing;
    return list_entry(path)
        .with(int_field("content", 517, content))
        .with(int_field("added_files_count", 504, added))
        .with(int_field("existing_files_count", 505, 0))
        .with(int_field("deleted_files_count", 506, 0))
        .with(long_field("added_rows_count", 512, added * 10))
        .with(long_field("existing_rows_count", 513, 0))
        .with(long_field("deleted_rows_count", 514, 0));
  }
  /// A snapshot of the manifests, whose list it writes to this path.
  std::string snapshot(int id, const std::string& path,
                       const std::vector<AvroRecord>& manifests) const {
    put(path, iceberg::testing::avro_file(manifests));
    return iceberg::testing::snapshot(std::to_string(id))
        .with("sequence-number", "5")
        .with("manifest-list", json_string(path))
        .text();
  }

  [[nodiscard]] Document table(const std::vector<std::string>& snapshots) const {
    std::string all;
    for (const auto& each : snapshots) all += (all.empty() ? "" : ",") + each;
    return iceberg::testing::v2()
        .with("location", json_string(at("t")))
        .with("snapshots", '[' + all + ']');
  }
  /// Writes the metadata file; the row of a pointer to it.
  [[nodiscard]] TableRow row(const Document& table,
                             const std::string& name = "t/metadata/v1.metadata.json") const {
    const std::string text = table.text();
    TableRow row;
    row.location = put(at(name), text);
    row.table_uuid = *iceberg::parse_uuid(iceberg::testing::kUuid);
    row.metadata_fingerprint = iceberg::fingerprint_of(std::as_bytes(std::span(text)));
    return row;
  }
  [[nodiscard]] PurgeOutcome purge(const TableRow& row) const {
    const auto roots = WriteRoots::of({at("")}, {});
    EXPECT_TRUE(roots) << roots.error().message();
    return purge_table(row, {}, *roots, nobody_, is_stopping_);
  }
  [[nodiscard]] PurgeOutcome purge(const Document& table) const { return purge(row(table)); }

  const LivePointers nobody_ = [](const auto&) { return Status(Ok{}); };
  std::atomic<bool> is_stopping_{false};

  /// The smallest table that has a file of each kind.
  [[nodiscard]] std::string small_snapshot(const std::vector<std::string>& data_files) const {
    return snapshot(1, at("t/metadata/l1.avro"), {manifest(at("t/metadata/m1.avro"), data_files)});
  }

  test::ScratchDir dir_;
};

// ---- What goes

TEST_F(PurgeTest, DeletesNothingMoreOnceTheDaemonIsStopping) {
  const TableRow row = this->row(table({small_snapshot({put(at("t/data/a.parquet"))})}));
  is_stopping_.store(true, std::memory_order_relaxed);
  const PurgeOutcome outcome = purge(row);
  EXPECT_EQ(outcome.removed_count, 0u);
  EXPECT_GT(outcome.failed_count, 0u);
  EXPECT_THAT(outcome.first_failure, HasSubstr("the daemon is stopping"));
  is_stopping_.store(false, std::memory_order_relaxed);
  EXPECT_EQ(purge(row).failed_count, 0u);
}

TEST_F(PurgeTest, RemovesAllThatTheTableNames) {
  const std::string data = put(at("t/data/a.parquet"));
  const std::string deletes = put(at("t/data/d.parquet"));
  const auto first = manifest(at("t/metadata/m1.avro"), {data});
  const auto second = manifest(at("t/metadata/m2.avro"), {deletes}, 1);
  const std::string statistics =
      R"([{"snapshot-id":1,"file-size-in-bytes":1,"file-footer-size-in-bytes":1,)"
      R"("blob-metadata":[],"statistics-path":)" +
      json_string(put(at("t/metadata/s.puffin"))) + "}]";
  const std::string partition_statistics =
      R"([{"snapshot-id":1,"file-size-in-bytes":1,"statistics-path":)" +
      json_string(put(at("t/metadata/p.parquet"))) + "}]";
  const std::string log = R"([{"timestamp-ms":1700000000000,"metadata-file":)" +
                          json_string(put(at("t/metadata/v0.metadata.json"))) + "}]";
  put(at("t/data/of-nobody.parquet"));
  EXPECT_THAT(purge(table({snapshot(1, at("t/metadata/l1.avro"), {first}),
                           snapshot(2, at("t/metadata/l2.avro"), {first, second})})
                        .with("statistics", statistics)
                        .with("partition-statistics", partition_statistics)
                        .with("metadata-log", log)),
              Is(10, 0, 0));
  EXPECT_THAT(left(), ElementsAre("t/data/of-nobody.parquet"));
}

TEST_F(PurgeTest, RemovesTheFilesOfEmbeddedManifests) {
  const std::string path = at("t/metadata/m1.avro");
  manifest(path, {put(at("t/data/a.parquet"))});
  const std::string embedding = iceberg::testing::snapshot("1")
                                    .without("manifest-list")
                                    .with("manifests", '[' + json_string(path) + ']')
                                    .text();
  const auto table = iceberg::testing::v1()
                         .with("table-uuid", iceberg::testing::kQuotedUuid)
                         .with("location", json_string(at("t")))
                         .with("snapshots", '[' + embedding + ']');
  EXPECT_THAT(purge(table), Is(3, 0, 0));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(PurgeTest, FindsFilesByTheTablesOtherDirectories) {
  const std::string data = put(at("data/a.parquet"));
  const std::string list = at("meta/l1.avro");
  const std::string properties = R"({"write.data.path":)" + json_string(at("data/")) +
                                 R"(,"write.metadata.path":)" +
                                 json_string("file://" + at("meta")) + "}";
  const auto entry = manifest(at("meta/m1.avro"), {"file:" + data});
  EXPECT_THAT(purge(row(table({snapshot(1, list, {entry})}).with("properties", properties),
                        "meta/v1.metadata.json")),
              Is(4, 0, 0));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(PurgeTest, FindsFilesWhereLocationsAreReadElsewhere) {
  put(at("t/data/a.parquet"));
  put(at("t2/data/a.parquet"));
  const std::string one = small_snapshot(
      {"s3://b/t/data/a.parquet", "s3://b/t/../t2/data/a.parquet", "s3://c/t/data/a.parquet"});
  MetadataFileRules rules;
  rules.map = *iceberg::LocationMap::of({{"s3://b", at("")}});
  const auto described = row(table({one}).with("location", R"("s3://b/t")"));
  EXPECT_THAT(
      purge_table(described, rules, *WriteRoots::of({"s3://b"}, rules.map), nobody_, is_stopping_),
      Is(4, 0, 2));
  EXPECT_THAT(left(), ElementsAre("t2/data/a.parquet"));
}

TEST_F(PurgeTest, CountsMissingFilesAsRemoved) {
  const std::string gone = at("t/data/none/a.parquet");
  const std::string first = small_snapshot({gone});
  const auto listed_only = listed(at("t/metadata/none.avro"), 1);
  const std::string second = snapshot(2, at("t/metadata/l2.avro"), {listed_only});
  const std::string third = snapshot(3, at("t/metadata/l3.avro"), {listed_only});
  fs::remove(at("t/metadata/l3.avro"));
  EXPECT_THAT(purge(table({first, second, third})), Is(7, 0, 0));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(PurgeTest, LeavesDataWhereGarbageCollectionIsOff) {
  const std::string one = small_snapshot({put(at("t/data/a.parquet"))});
  EXPECT_THAT(purge(table({one}).with("properties", R"({"gc.enabled":"false"})")), Is(3, 0, 0));
  EXPECT_THAT(left(), ElementsAre("t/data/a.parquet"));
}

TEST_F(PurgeTest, LeavesFilesThatNoSnapshotHas) {
  using namespace iceberg::testing;
  const std::string path = at("t/metadata/m1.avro");
  put(path, avro_file({entry(data_file(put(at("t/data/deleted.parquet"))), 2)}));
  const auto of_deleted = listed(path, 0)
                              .with(int_field("deleted_files_count", 506, 1))
                              .with(long_field("deleted_rows_count", 514, 10));
  EXPECT_THAT(purge(table({PurgeTest::snapshot(1, at("t/metadata/l1.avro"), {of_deleted})})),
              Is(3, 0, 0));
  EXPECT_THAT(left(), ElementsAre("t/data/deleted.parquet"));
}

// ---- What is not the table's

TEST_F(PurgeTest, RefusesFilesElsewhere) {
  const std::string of_another = put(at("t2/data/a.parquet"));
  const std::string outside = put(dir_ / "o/a.parquet");
  const std::string one = small_snapshot({of_another, outside, at("t/../t2/data/a.parquet"),
                                          "file:" + at("t/%2e%2e/t2/data/a.parquet"), at("t"),
                                          "s3://b/t/data/a.parquet", "t/data/a.parquet",
                                          "hdfs:" + at("t/data/b.parquet")});
  EXPECT_THAT(purge(table({one})), Is(3, 0, 8));
  EXPECT_THAT(left(), ElementsAre("t2/data/a.parquet"));
  EXPECT_TRUE(fs::exists(outside));
}

TEST_F(PurgeTest, RefusesWhatIsBelowNoWriteRoot) {
  const std::string outside = put(dir_ / "o/t/data/a.parquet");
  const std::string properties =
      R"({"write.data.path":)" + json_string(dir_ / "o/t") + R"(,"write.object-storage.path":"/"})";
  const std::string one = small_snapshot({outside, put(at("t2/a.parquet"))});
  EXPECT_THAT(purge(table({one}).with("properties", properties)), Is(3, 0, 2));
  EXPECT_THAT(left(), ElementsAre("t2/a.parquet"));
  EXPECT_TRUE(fs::exists(outside));
}

TEST_F(PurgeTest, FollowsNoLinkOutOfTheTable) {
  const std::string outside = put(dir_ / "o/a.parquet");
  const std::string of_another = put(at("t2/data/a.parquet"));
  fs::create_directories(at("t"));
  fs::create_directory_symlink(dir_ / "o", at("t/out"));
  fs::create_directory_symlink("../t2", at("t/over"));
  fs::create_symlink(of_another, at("t/link.parquet"));
  const std::string one =
      small_snapshot({at("t/out/a.parquet"), at("t/over/data/a.parquet"), at("t/link.parquet")});
  EXPECT_THAT(purge(table({one})), Is(4, 0, 2));
  EXPECT_THAT(left(), ElementsAre("t/out", "t/over", "t2/data/a.parquet"));
  EXPECT_TRUE(fs::exists(outside));
}

TEST_F(PurgeTest, RefusesATableThatLiesAtAWriteRootOrAboveIt) {
  const std::string of_another = put(at("t2/data/a.parquet"));
  const std::string one = small_snapshot({of_another, put(at("t/data/a.parquet"))});
  for (const std::string& location : {at(""), at("."), dir_ / "w", dir_ / "", std::string("/")}) {
    EXPECT_THAT(purge(table({one}).with("location", json_string(location))), Is(0, 0, 2))
        << location;
  }
  EXPECT_THAT(left(), ElementsAre("t/data/a.parquet", "t/metadata/l1.avro", "t/metadata/m1.avro",
                                  "t/metadata/v1.metadata.json", "t2/data/a.parquet"));
}

TEST_F(PurgeTest, RefusesATableAtALinkToTheWriteRoot) {
  put(at("t2/data/a.parquet"));
  fs::create_directory_symlink(".", at("here"));
  fs::create_directories(at("t/metadata"));
  const auto entry = manifest(at("here/t/metadata/m1.avro"), {at("here/t2/data/a.parquet")});
  const std::string one = snapshot(1, at("here/t/metadata/l1.avro"), {entry});
  EXPECT_THAT(purge(row(table({one}).with("location", json_string(at("here"))),
                        "here/t/metadata/v1.metadata.json")),
              Is(0, 0, 2));
  EXPECT_THAT(left(), ElementsAre("here", "t/metadata/l1.avro", "t/metadata/m1.avro",
                                  "t/metadata/v1.metadata.json", "t2/data/a.parquet"));
}

TEST_F(PurgeTest, LeavesFilesOfOthersWhereAPropertyNamesAWriteRoot) {
  const std::string of_another = put(at("t2/data/a.parquet"));
  const std::string one = small_snapshot({of_another, put(at("t/data/a.parquet"))});
  const std::string properties = R"({"write.data.path":)" + json_string(at("")) + "}";
  EXPECT_THAT(purge(table({one}).with("properties", properties)), Is(4, 0, 1));
  EXPECT_THAT(left(), ElementsAre("t2/data/a.parquet"));
}

TEST_F(PurgeTest, CountsWhatIsBelowAFileAsRemoved) {
  put(at("t/data/a.parquet"));
  EXPECT_THAT(
      purge(table({small_snapshot({at("t/data/a.parquet/b"), at("t/data/a.parquet/b/c")})})),
      Is(5, 0, 0));
  EXPECT_THAT(left(), ElementsAre("t/data/a.parquet"));
}

TEST_F(PurgeTest, ReadsNoManifestElsewhere) {
  const std::string data = put(at("t/data/a.parquet"));
  const auto of_another = manifest(at("t2/metadata/m1.avro"), {data});
  const std::string one = snapshot(1, at("t/metadata/l1.avro"), {of_another});
  const std::string two =
      snapshot(2, at("t2/metadata/l2.avro"), {manifest(at("t/metadata/m2.avro"), {data})});
  EXPECT_THAT(purge(table({one, two})), Is(2, 0, 2));
  EXPECT_THAT(left(), ElementsAre("t/data/a.parquet", "t/metadata/m2.avro", "t2/metadata/l2.avro",
                                  "t2/metadata/m1.avro"));
}

TEST_F(PurgeTest, LeavesAMetadataFileElsewhere) {
  const std::string one = small_snapshot({put(at("t/data/a.parquet"))});
  EXPECT_THAT(purge(row(table({one}), "registered/v1.metadata.json")), Is(3, 0, 1));
  EXPECT_THAT(left(), ElementsAre("registered/v1.metadata.json"));
}

// ---- What cannot be read or deleted

TEST_F(PurgeTest, KeepsWhatNamesAManifestThatCannotBeRead) {
  const std::string data = put(at("t/data/a.parquet"));
  const std::string other = put(at("t/data/b.parquet"));
  const auto broken = manifest(at("t/metadata/m1.avro"), {data});
  const auto whole = manifest(at("t/metadata/m2.avro"), {other});
  put(at("t/metadata/m1.avro"), "no Avro");
  const std::string log = R"([{"timestamp-ms":1700000000000,"metadata-file":)" +
                          json_string(put(at("t/metadata/v0.metadata.json"))) + "}]";
  const auto described = row(table({snapshot(1, at("t/metadata/l1.avro"), {broken, whole}),
                                    snapshot(2, at("t/metadata/l2.avro"), {whole}),
                                    snapshot(3, at("t/metadata/l3.avro"), {broken})})
                                 .with("metadata-log", log));
  const auto outcome = purge(described);
  EXPECT_THAT(outcome, Is(3, 1, 0));
  EXPECT_THAT(outcome.first_failure, HasSubstr(at("t/metadata/m1.avro") + ": "));
  EXPECT_THAT(left(), ElementsAre("t/data/a.parquet", "t/metadata/l1.avro", "t/metadata/l3.avro",
                                  "t/metadata/m1.avro", "t/metadata/v0.metadata.json",
                                  "t/metadata/v1.metadata.json"));

  manifest(at("t/metadata/m1.avro"), {data});  // is mended
  EXPECT_THAT(purge(described), Is(8, 0, 0)) << "two of them were gone";
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(PurgeTest, KeepsWhatNamesAFileThatCannotBeDeleted) {
  fs::create_directories(at("t/data/a.parquet"));  // a directory
  const std::string data = put(at("t/data/b.parquet"));
  const auto first = manifest(at("t/metadata/m1.avro"), {at("t/data/a.parquet"), data});
  const auto second = manifest(at("t/metadata/m2.avro"), {data, at("t/data/a.parquet")});
  const auto outcome = purge(table({snapshot(1, at("t/metadata/l1.avro"), {first, second})}));
  EXPECT_THAT(outcome, Is(1, 1, 0)) << "each file is tried once";
  EXPECT_THAT(outcome.first_failure, HasSubstr(at("t/data/a.parquet") + ": "));
  EXPECT_THAT(left(), ElementsAre("t/metadata/l1.avro", "t/metadata/m1.avro", "t/metadata/m2.avro",
                                  "t/metadata/v1.metadata.json"));
}

TEST_F(PurgeTest, KeepsAListThatCannotBeRead) {
  const std::string one = small_snapshot({put(at("t/data/a.parquet"))});
  put(at("t/metadata/l1.avro"), "no Avro");
  EXPECT_THAT(purge(table({one})), Is(0, 1, 0));
  EXPECT_THAT(left(), ElementsAre("t/data/a.parquet", "t/metadata/l1.avro", "t/metadata/m1.avro",
                                  "t/metadata/v1.metadata.json"));
}

TEST_F(PurgeTest, HeedsTheLimitsOfWhatIsRead) {
  const auto described = row(table({small_snapshot({put(at("t/data/a.parquet"))})}));
  put(at("t/metadata/m1.avro"), std::string(100'000, 'x'));
  MetadataFileRules rules;
  rules.stored_bytes_max = 50'000;
  const auto outcome =
      purge_table(described, rules, *WriteRoots::of({at("")}, {}), nobody_, is_stopping_);
  EXPECT_THAT(outcome, Is(0, 1, 0));
  EXPECT_THAT(outcome.first_failure, HasSubstr("m1.avro: the file is larger than 50000 bytes"));
}

// ---- The metadata file

TEST_F(PurgeTest, RemovesNothingWhereTheMetadataIsNotWhatWasCommitted) {
  const std::string one = small_snapshot({put(at("t/data/a.parquet"))});
  auto other_file = row(table({one}));
  other_file.metadata_fingerprint[3] ^= 1;
  auto other_table = row(table({one}));
  other_table.metadata_fingerprint = {};
  other_table.table_uuid[3] ^= 1;
  for (const auto& described : {other_file, other_table}) {
    const auto outcome = purge(described);
    EXPECT_THAT(outcome, Is(0, 1, 0));
    EXPECT_THAT(outcome.first_failure,
                AllOf(HasSubstr(described.location), HasSubstr("not the one that was committed")));
  }
  EXPECT_THAT(left(), ElementsAre("t/data/a.parquet", "t/metadata/l1.avro", "t/metadata/m1.avro",
                                  "t/metadata/v1.metadata.json"));
}

TEST_F(PurgeTest, TakesARowThatKnowsNothingOfItsFile) {
  TableRow bare;
  bare.location = row(table({small_snapshot({put(at("t/data/a.parquet"))})})).location;
  EXPECT_THAT(purge(bare), Is(4, 0, 0));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(PurgeTest, SaysWhatIsWrongWithTheMetadataFile) {
  TableRow bare;
  bare.location = put(at("t/metadata/v1.metadata.json"), "{}");
  const auto outcome = purge(bare);
  EXPECT_THAT(outcome, Is(0, 1, 0));
  EXPECT_THAT(outcome.first_failure, HasSubstr(bare.location + ": "));
  fs::remove(bare.location);
  EXPECT_EQ(purge(bare).first_failure, "Failed to open input stream for file: " + bare.location);
}

}  // namespace
}  // namespace iceblink::daemon
