// The program's commands about tables: snapshots, files, plans, differences. With the daemon, and
// with files of a table on a disk.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <memory>

#include "tests/client/program.h"
#include "tests/client/segment_fixture.h"
#include "tests/client/table_files.h"

namespace iceblink::testing {
namespace {

using iceberg::testing::Document;
using iceberg::testing::field;
using iceberg::testing::kUuid;
using iceberg::testing::snapshot;
using iceberg::testing::v2;
using iceberg::testing::with_schema;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

class TableCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    daemon_ = std::make_unique<Program>(
        "iceblinkd",
        std::vector<std::string>{"--runtime-dir", runtime_.path(), "--data-dir", data_.path()});
    ASSERT_THAT(daemon_->line(), StartsWith("iceblinkd ready"));
    ASSERT_EQ(run({"create-namespace", "a"}).exit_code, 0);
  }
  void TearDown() override {
    daemon_->signal(SIGTERM);
    EXPECT_EQ(daemon_->wait().exit_code, 0);
  }

  Finished run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--dir", runtime_.path()});
    return Program("iceblink", arguments).wait();
  }
  /// What is printed by a command that must succeed.
  std::string out(const std::vector<std::string>& arguments) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }
  std::vector<boost::json::object> objects(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    std::vector<boost::json::object> list;
    for (const auto& line : lines_of(out(arguments))) {
      list.push_back(boost::json::parse(line).as_object());
    }
    return list;
  }
  void register_table(const std::string& ident, const Document& metadata) {
    const std::string path = files_.write(ident + ".metadata.json", metadata.text());
    ASSERT_EQ(run({"register", ident, path}).exit_code, 0);
  }

  /// Three snapshots: an append; a file less and one more; deletes of rows.
  void register_history() {
    const Entry a{.path = "s3://b/a.parquet", .kind = "x", .records = 10, .size = 1000};
    const Entry b{.path = "s3://b/b.parquet", .records = 5};
    const Entry c{.path = "s3://b/c c.parquet", .kind = "y=/", .records = 7, .size = 20};
    const auto first = files_.manifest("m1.avro", {a, b});
    const auto rewritten =
        files_.manifest("m2.avro", {in_manifest_since(a, 0, 1), in_manifest_since(b, 2, 1)}, 2);
    const auto second = files_.manifest("m3.avro", {c}, 2);
    const auto deletes = files_.manifest(
        "m4.avro",
        {{.path = "s3://b/p.parquet", .kind = "x", .content = 1, .records = 2},
         {.path = "s3://b/e.parquet", .kind = "y=/", .content = 2, .equality_ids = {1}}},
        3, 1);
    register_table("a.t",
                   partitioned_table()
                       .with("snapshots",
                             '[' + written("1", "append", {first}).text() + ',' +
                                 written("2", "overwrite", {rewritten, second}).text() + ',' +
                                 written("3", "delete", {rewritten, second, deletes}).text() + ']')
                       .with("current-snapshot-id", "3")
                       .with("refs", R"({"main":{"snapshot-id":3,"type":"branch"},)"
                                     R"("v1":{"snapshot-id":1,"type":"tag"},)"
                                     R"("audit":{"snapshot-id":2,"type":"branch"}})")
                       .with("snapshot-log", R"([{"snapshot-id":1,"timestamp-ms":1699999990001},)"
                                             R"({"snapshot-id":2,"timestamp-ms":1699999990002},)"
                                             R"({"snapshot-id":3,"timestamp-ms":1699999990003}])"));
  }

  /// An entry that came with a snapshot and that a later manifest has, too.
  static Entry in_manifest_since(Entry entry, int status, std::int64_t sequence_number) {
    entry.status = status;
    entry.sequence_number = sequence_number;
    return entry;
  }
  /// A snapshot of 1700000000 less ten seconds and `id` milliseconds, child of the one before.
  Document written(const std::string& id, const std::string& operation,
                   const std::vector<ListedManifest>& manifests) {
    auto made = snapshot(id)
                    .with("sequence-number", id)
                    .with("timestamp-ms", "169999999000" + id)
                    .with("schema-id", "0")
                    .with("summary", R"({"operation":")" + operation + R"(","added-data-files":")" +
                                         id + R"("})")
                    .with("manifest-list",
                          '"' + files_.manifest_list("list" + id + ".avro", manifests) + '"');
    return id == "1" ? made : made.with("parent-snapshot-id", std::to_string(std::stoi(id) - 1));
  }

  TempDir runtime_;
  TempDir data_;
  TempDir directory_;
  TableFiles files_{directory_.path()};
  std::unique_ptr<Program> daemon_;
};

// ---- table

TEST_F(TableCommands, TableIsSummedUp) {
  register_history();
  EXPECT_EQ(out({"table", "a.t"}), R"(table           a.t
metadata        )" + directory_.path() +
                                       R"(/a.t.metadata.json
generation      3
format version  2
uuid            )" + kUuid + R"(
location        s3://b/t
last updated    2023-11-14T22:13:20Z
last sequence   9
schema          id 0
     1  id    long
     2  kind  string
partition spec  id 0
  kind = identity(kind)
sort order      id 0, unsorted
snapshots       3
current         3, delete, 2023-11-14T22:13:10Z
manifest list   )" + directory_.path() +
                                       R"(/list3.avro
refs            3
  main, branch: 3
  v1, tag: 1
  audit, branch: 2
statistics      0
properties      0
)");
}

TEST_F(TableCommands, TableNamesOtherPartitionSpecsBriefly) {
  register_table("a.t",
                 partitioned_table()
                     .with("partition-specs",
                           R"([{"spec-id":0,"fields":[{"name":"k","transform":"truncate[2]",)"
                           R"("source-id":2,"field-id":1000},{"name":"i","source-id":1,)"
                           R"("transform":"bucket[4]","field-id":1001}]},)"
                           R"({"spec-id":1,"fields":[]},{"spec-id":2,"fields":[]}])")
                     .with("default-spec-id", "1"));
  EXPECT_THAT(out({"table", "a.t"}), HasSubstr("partition spec  id 1, of 3, unpartitioned\n"
                                               "other specs     2\n"
                                               "  id 0: k = truncate[2](kind), i = bucket[4](id)\n"
                                               "  id 2: unpartitioned\n"));
}

TEST_F(TableCommands, TableOfNestedColumnsIsATreeOfEightyColumns) {
  const std::string list = R"({"type":"list","element-id":5,"element":)";
  const std::string point = R"({"type":"struct","fields":[)" +
                            field(7, std::string(60, 'x')).with("required", "true").text() + "]}";
  const std::string map = R"({"type":"map","key-id":3,"key":"string","value-id":4,"value":)" +
                          list + point + R"(,"element-required":true},"value-required":false})";
  register_table(
      "a.t",
      with_schema(v2(), field(1, "id").with("doc", '"' + std::string(200, 'd') + '"').text() + ',' +
                            field(2, "by_name", map).text())
          .with("last-column-id", "7"));
  const std::string text = out({"table", "a.t"});
  EXPECT_THAT(text, AllOf(HasSubstr("     2  by_name"), HasSubstr("     3    key"),
                          HasSubstr("     4    value"), HasSubstr("     5      element"),
                          HasSubstr("     7        xxx"), HasSubstr("…  long, required\n")));
  for (const auto& line : lines_of(text)) EXPECT_LE(columns_of(line), 80U) << line;
}

TEST_F(TableCommands, TableAsJsonHasItsMetadata) {
  register_history();
  const auto all = objects({"table", "a.t"});
  ASSERT_EQ(all.size(), 1U);
  const auto& table = all.front();
  EXPECT_EQ(boost::json::serialize(table.at("identifier")), R"({"namespace":["a"],"name":"t"})");
  EXPECT_EQ(table.at("metadata-location").as_string(), directory_.path() + "/a.t.metadata.json");
  EXPECT_EQ(table.at("generation"), 3);
  EXPECT_EQ(table.at("metadata").at("snapshots").as_array().size(), 3U);
}

// ---- snapshots

TEST_F(TableCommands, SnapshotsAreAFewLinesEach) {
  register_history();
  EXPECT_EQ(out({"snapshots", "a.t"}), R"(  1                    2023-11-14T22:13:10.001Z  append
    sequence 1, no parent
    data-files +1
    ref v1
  2                    2023-11-14T22:13:10.002Z  overwrite
    sequence 2, parent 1
    data-files +2
    ref audit
* 3                    2023-11-14T22:13:10.003Z  delete
    sequence 3, parent 2
    data-files +3
    ref main
)");
}

TEST_F(TableCommands, SnapshotsAsJsonHaveTheSpecificationsNames) {
  register_history();
  const auto all = lines_of(out({"snapshots", "a.t", "--json"}));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1], R"({"sequence-number":2,"snapshot-id":2,"parent-snapshot-id":1,)"
                    R"("timestamp-ms":1699999990002,"summary":{"operation":"overwrite",)"
                    R"("added-data-files":"2"},"manifest-list":")" +
                        directory_.path() + R"(/list2.avro","schema-id":0,"refs":["audit"]})");
}

// ---- files

TEST_F(TableCommands, FilesAreRowsWithTheirCounts) {
  register_history();
  EXPECT_EQ(out({"files", "a.t"}), R"(content           format   records  bytes  partition  path
data              PARQUET       10   1000  kind=x     s3://b/a.parquet
data              PARQUET        7     20  kind=y=/   s3://b/c c.parquet
position deletes  PARQUET        2    100  kind=x     s3://b/p.parquet
equality deletes  PARQUET        1    100  kind=y=/   s3://b/e.parquet
2 data files (17 records, 1020 bytes), 2 delete files (3 records, 200 bytes)
)");
}

TEST_F(TableCommands, FilesWithLongPathsHaveThemOnLinesOfTheirOwn) {
  const std::string path = "s3://bucket/warehouse/analytics/web/events/data/00000-0-a1b2c3.parquet";
  const auto manifest = files_.manifest("long.avro", {{.path = path}});
  register_table("a.l",
                 partitioned_table()
                     .with("snapshots", '[' + written("1", "append", {manifest}).text() + ']')
                     .with("current-snapshot-id", "1"));
  const auto all = lines_of(out({"files", "a.l"}));
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[1], "    path");
  EXPECT_EQ(all[3], "    " + path);
  for (const auto& line : all) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(TableCommands, FilesAsJsonHaveTheSpecificationsNames) {
  register_history();
  const auto all = lines_of(out({"--json", "files", "a.t"}));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0], R"({"content":0,"file_path":"s3://b/a.parquet","file_format":"PARQUET",)"
                    R"("spec_id":0,"partition":{"kind":"x"},"record_count":10,)"
                    R"("file_size_in_bytes":1000,"snapshot_id":2,"sequence_number":1,)"
                    R"("file_sequence_number":1})");
  EXPECT_EQ(all[3], R"({"content":2,"file_path":"s3://b/e.parquet","file_format":"PARQUET",)"
                    R"("spec_id":0,"partition":{"kind":"y=/"},"record_count":1,)"
                    R"("file_size_in_bytes":100,"snapshot_id":3,"sequence_number":3,)"
                    R"("file_sequence_number":3,"equality_ids":[1]})");
}

TEST_F(TableCommands, FilesOfAnySnapshotRefOrTime) {
  register_history();
  const std::string first = out({"files", "a.t", "--snapshot", "1"});
  const std::string second = out({"files", "a.t", "--snapshot", "2"});
  EXPECT_THAT(first, HasSubstr("s3://b/b.parquet"));
  EXPECT_EQ(out({"files", "a.t", "--ref", "v1"}), first);
  EXPECT_EQ(out({"files", "a.t", "--ref", "audit"}), second);
  EXPECT_EQ(out({"files", "a.t", "--ref", "main"}), out({"files", "a.t"}));
  for (const std::string at :
       {"1699999990001", "2023-11-14T22:13:10.001Z", "2023-11-14 22:13:10.0019",
        "2023-11-15T00:13:10.001+02:00", "2023-11-14T16:43:10.001-0530"}) {
    EXPECT_EQ(out({"files", "a.t", "--as-of", at}), first) << at;
  }
  EXPECT_EQ(out({"files", "a.t", "--as-of", "1699999990002"}), second);
  EXPECT_EQ(out({"files", "a.t", "--as-of", "2023-11-15"}), out({"files", "a.t"}));
}

TEST_F(TableCommands, FilesOfWhatIsNotThereAreOne) {
  register_history();
  for (const auto& options : std::vector<std::vector<std::string>>{{"--snapshot", "4"},
                                                                   {"--ref", "none"},
                                                                   {"--as-of", "1699999990000"},
                                                                   {"--as-of", "2023-11-14"}}) {
    const Finished finished = run({"files", "a.t", options[0], options[1]});
    EXPECT_EQ(finished.exit_code, 1) << options[0];
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, StartsWith("iceblink: "));
  }
  for (const char* const command : {"table", "snapshots", "files"}) {
    const Finished finished = run({command, "a.none"});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_EQ(finished.err, "iceblink: Table does not exist: a.none\n");
  }
}

TEST_F(TableCommands, AnEmptyTableHasNoFiles) {
  register_table("a.e", v2());
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"files", "a.e"},
                                             {"files", "a.e", "--plan"},
                                             {"files", "a.e", "--json"},
                                             {"snapshots", "a.e"},
                                             {"snapshots", "a.e", "--json"}}) {
    EXPECT_EQ(out(arguments), "");
  }
}

TEST_F(TableCommands, TheirUsageIsTwo) {
  register_history();
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"files"},
           {"files", "a.t", "--snapshot", "1", "--ref", "main"},
           {"files", "a.t", "--snapshot", "1", "--as-of", "1"},
           {"files", "a.t", "--ref", "v1", "--as-of", "1"},
           {"files", "a.t", "--snapshot", "x"},
           {"files", "a.t", "--as-of", "now"},
           {"files", "a.t", "--as-of", "2023-02-29"},
           {"files", "a.t", "--as-of", "2023-11-14T24:00"},
           {"files", "a.t", "--as-of", "2023-11-14T22:13:10."},
           {"files", "a.t", "--as-of", "2023-11-14T22:13:10+02:0"},
           {"files", "a..t"},
           {"table"},
           {"snapshots"},
           {"diff", "a.t", "1"},
           {"diff", "a"}}) {
    EXPECT_EQ(run(arguments).exit_code, 2) << ::testing::PrintToString(arguments);
  }
}

// ---- files --plan

TEST_F(TableCommands, APlanHasTheDeletesThatApply) {
  register_history();
  EXPECT_EQ(out({"files", "a.t", "--plan"}),
            R"(content  format   records  bytes  partition  path
data     PARQUET       10   1000  kind=x     s3://b/a.parquet
  position deletes of sequence 3  s3://b/p.parquet
data     PARQUET        7     20  kind=y=/   s3://b/c c.parquet
  equality deletes of sequence 3  s3://b/e.parquet
2 data files (17 records, 1020 bytes), deletes applied 2 times
)");
  const auto tasks = objects({"files", "a.t", "--plan"});
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(boost::json::serialize(tasks[0].at("delete_files")),
            R"([{"content":1,"file_path":"s3://b/p.parquet","sequence_number":3}])");
  EXPECT_EQ(boost::json::serialize(tasks[1].at("delete_files")),
            R"([{"content":2,"file_path":"s3://b/e.parquet","sequence_number":3,)"
            R"("equality_ids":[1]}])");
  EXPECT_THAT(out({"files", "a.t", "--plan", "--ref", "v1"}),
              HasSubstr("2 data files (15 records, 1100 bytes), deletes applied 0 times\n"));
}

// ---- diff

TEST_F(TableCommands, DiffIsWhatWentAndCame) {
  register_history();
  EXPECT_EQ(out({"diff", "a.t", "v1", "2"}),
            R"(  content  format   records  bytes  partition  path
- data     PARQUET        5    100  kind=null  s3://b/b.parquet
+ data     PARQUET        7     20  kind=y=/   s3://b/c c.parquet
removed: 1 data file (5 records, 100 bytes)
added: 1 data file (7 records, 20 bytes)
)");
  EXPECT_EQ(out({"diff", "a.t", "2", "main"}),
            R"(  content           format   records  bytes  partition  path
+ position deletes  PARQUET        2    100  kind=x     s3://b/p.parquet
+ equality deletes  PARQUET        1    100  kind=y=/   s3://b/e.parquet
removed: 0 data files (0 records, 0 bytes)
added: 0 data files (0 records, 0 bytes), 2 delete files (3 records, 200 bytes)
)");
  EXPECT_THAT(out({"diff", "a.t", "main", "main"}), StartsWith("removed: 0 data files"));
  EXPECT_EQ(out({"diff", "a.t", "main", "main", "--json"}), "");
  const auto changes = objects({"diff", "a.t", "2", "1"});
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].at("change"), "removed");
  EXPECT_EQ(changes[0].at("file_path"), "s3://b/c c.parquet");
  EXPECT_EQ(changes[1].at("change"), "added");
  EXPECT_EQ(changes[1].at("file_path"), "s3://b/b.parquet");
  for (const auto& missing : {"4", "none"}) {
    EXPECT_EQ(run({"diff", "a.t", "1", missing}).exit_code, 1) << missing;
    EXPECT_EQ(run({"diff", "a.t", missing, "1"}).exit_code, 1) << missing;
  }
}

TEST_F(TableCommands, DiffTellsDeletionVectorsOfOneFileApart) {
  const auto vector = [](std::int64_t offset, const std::string& of) {
    return Entry{.path = "s3://b/v.puffin",
                 .content = 1,
                 .format = "PUFFIN",
                 .referenced_data_file = of,
                 .content_offset = offset};
  };
  const auto data = files_.manifest("d.avro", {{.path = "s3://b/1"}, {.path = "s3://b/2"}});
  const auto both =
      files_.manifest("v1.avro", {vector(4, "s3://b/1"), vector(44, "s3://b/2")}, 1, 1);
  const auto one =
      files_.manifest("v2.avro", {in_manifest_since(vector(44, "s3://b/2"), 0, 1)}, 2, 1);
  register_table("a.v",
                 partitioned_table()
                     .with("format-version", "3")
                     .with("next-row-id", "2")
                     .with("snapshots", '[' + written("1", "append", {data, both}).text() + ',' +
                                            written("2", "delete", {data, one}).text() + ']')
                     .with("current-snapshot-id", "2"));
  const auto changes = objects({"diff", "a.v", "1", "2"});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].at("change"), "removed");
  EXPECT_EQ(changes[0].at("content_offset"), 4);
  EXPECT_EQ(changes[0].at("referenced_data_file"), "s3://b/1");
  EXPECT_THAT(out({"files", "a.v"}), HasSubstr("deletion vector  PUFFIN"));
}

// ---- Damage

TEST_F(TableCommands, DamagedFilesAreFiveAndNamed) {
  register_history();
  const std::string manifest = directory_.path() + "/m3.avro";
  std::filesystem::resize_file(manifest, std::filesystem::file_size(manifest) - 20);
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"files", "a.t"}, {"files", "a.t", "--plan"}, {"diff", "a.t", "1", "2"}}) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 5);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, StartsWith("iceblink: " + manifest + ": "));
  }
  EXPECT_EQ(run({"diff", "a.t", "2", "3"}).exit_code, 0) << "both have it";
  const std::string list = files_.write("list1.avro", "Obj");
  const Finished finished = run({"files", "a.t", "--ref", "v1"});
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_THAT(finished.err, StartsWith("iceblink: " + list + ": "));
  std::filesystem::remove(list);
  EXPECT_EQ(run({"files", "a.t", "--ref", "v1"}).exit_code, 1);
}

TEST_F(TableCommands, ManyFilesAreAllPrinted) {
  std::vector<Entry> entries;
  for (int i = 0; i < 20000; ++i) {
    entries.push_back({.path = "s3://b/" + std::to_string(i) + ".parquet", .kind = "x"});
  }
  const auto manifest = files_.manifest("m.avro", std::move(entries));
  register_table("a.m",
                 partitioned_table()
                     .with("snapshots", '[' + written("1", "append", {manifest}).text() + ']')
                     .with("current-snapshot-id", "1"));
  const auto lines = lines_of(out({"files", "a.m"}));
  ASSERT_EQ(lines.size(), 20002U);
  EXPECT_THAT(lines[20000], HasSubstr("s3://b/19999.parquet"));
  EXPECT_EQ(lines[20001], "20000 data files (20000 records, 2000000 bytes)");
  EXPECT_EQ(lines_of(out({"files", "a.m", "--json"})).size(), 20000U);
}

}  // namespace
}  // namespace iceblink::testing
