// The program's commands about metadata: of files, and of names in a catalog.
#include <boost/json/parse.hpp>
#include <fstream>

#include "iceberg/fingerprint.h"
#include "tests/client/program.h"
#include "tests/client/segment_fixture.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::testing {
namespace {

using iceberg::testing::Document;
using iceberg::testing::field;
using iceberg::testing::gzipped;
using iceberg::testing::kUuid;
using iceberg::testing::schema;
using iceberg::testing::snapshot;
using iceberg::testing::v1;
using iceberg::testing::v2;
using iceberg::testing::v3;
using iceberg::testing::view;
using iceberg::testing::with_schema;
using iceberg::testing::with_snapshot;
using ::testing::AllOf;
using ::testing::HasSubstr;

Finished run(const std::vector<std::string>& arguments) {
  return Program("iceblink", arguments).wait();
}

boost::json::value json_of(const std::string& text) {
  boost::system::error_code failed;
  auto value = boost::json::parse(text, failed);
  EXPECT_FALSE(failed) << text;
  return value;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

class MetadataCommands : public SegmentTest {
 protected:
  /// Its path.
  std::string write(const std::string& name, const std::string& content) {
    const std::string path = files_.path() + '/' + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  Finished in_dir(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--dir", dir_.path()});
    return run(arguments);
  }

  TempDir files_;
};

// ---- check

TEST_F(MetadataCommands, CheckIsSilentAboutWhatIsValid) {
  const std::string table = write("t.metadata.json", v2().text());
  const std::string stored = write("t.gz.metadata.json", gzipped(v1().text()));
  const std::string of_view = write("v.json", view().text());
  const std::string response = write("r.json", R"({"metadata":)" + v3().text() + "}");
  const Finished finished = run({"check", table, stored, of_view, response});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "");
}

TEST_F(MetadataCommands, CheckSaysAllThatIsWrongALineEach) {
  const std::string table = write(
      "t", with_snapshot(v2(), snapshot("7").with("summary", "5")).without("location").text());
  const std::string of_view = write("v", view().with("current-version-id", "9").text());
  const std::string empty = write("e", "");
  const Finished finished = run({"check", table, of_view, empty});
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_EQ(finished.out, table + ": location: is missing\n" + table +
                              ": snapshots[0].summary: expected an object, found a number\n" +
                              of_view +
                              ": current-version-id: 9 is the id of none of the versions\n" +
                              empty + ": the file is empty\n");
  EXPECT_EQ(finished.err, "");
}

TEST_F(MetadataCommands, CheckNeedsNeitherSegmentNorDaemon) {
  const std::string table = write("t", v2().text());
  EXPECT_EQ(run({"--dir", "/nonexistent", "check", table}).exit_code, 0);
}

TEST_F(MetadataCommands, CheckOfUnreadableFilesIsOneAndInvalidOnesAreWorse) {
  const std::string valid = write("t", v2().text());
  const std::string invalid = write("i", "{}");
  const std::string missing = files_.path() + "/none";
  const Finished finished = run({"check", missing, valid, files_.path()});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "iceblink: " + missing + ": no such file\niceblink: " + files_.path() +
                              ": not a regular file\n");
  EXPECT_EQ(run({"check", missing, invalid}).exit_code, 5);
  EXPECT_EQ(run({"check", invalid, missing}).exit_code, 5);
}

TEST_F(MetadataCommands, CheckPrintsAnObjectForEachFile) {
  const std::string valid = write("t", v2().text());
  const std::string invalid = write("i", v2().without("location").text());
  const std::string missing = files_.path() + "/none";
  const Finished finished = run({"check", "--json", valid, invalid, missing});
  EXPECT_EQ(finished.exit_code, 5);
  const auto lines = lines_of(finished.out);
  ASSERT_EQ(lines.size(), 3U) << finished.out;
  EXPECT_EQ(lines[0], R"({"file":")" + valid + R"(","valid":true,"problems":[]})");
  EXPECT_EQ(lines[1],
            R"({"file":")" + invalid +
                R"(","valid":false,"problems":[{"path":"location","what":"is missing"}]})");
  EXPECT_EQ(lines[2],
            R"({"file":")" + missing + R"(","error":")" + missing + R"(: no such file"})");
}

TEST_F(MetadataCommands, CheckKeepsALineWhateverNamesHold) {
  const std::string file = write("a\nb", v2().with("properties", R"({"x\ny":[]})").text());
  const Finished finished = run({"check", file});
  EXPECT_EQ(finished.out, files_.path() +
                              "/a\\x0ab: properties.x\\x0ay: expected a string, found "
                              "an array\n");
  const Finished as_json = run({"check", "--json", write("\xff", "{}")});
  EXPECT_EQ(as_json.exit_code, 5);
  EXPECT_EQ(json_of(as_json.out).at("file").as_string(), files_.path() + "/\\xff");
}

TEST_F(MetadataCommands, PathsAreThoseOfTheWorkingDirectory) {
  // From wherever this test runs, the way up to the root.
  std::string up;
  for (const char c : std::filesystem::current_path().string()) up += c == '/' ? "../" : "";
  const std::string relative = up + write("t", "{}").substr(1);
  EXPECT_EQ(lines_of(run({"check", relative}).out).at(0),
            relative + ": format-version: is missing");
  EXPECT_EQ(run({"check", "none"}).err, "iceblink: none: no such file\n");
}

// ---- metadata of a file

TEST_F(MetadataCommands, MetadataOfATableIsSummedUp) {
  const auto columns = field(1, "id").with("required", "true").with("doc", R"("the\nkey")").text() +
                       ',' +
                       field(2, "tags",
                             R"({"type":"list","element-id":3,"element":"string",)"
                             R"("element-required":false})")
                           .text();
  const auto table =
      with_snapshot(with_schema(v3(), columns), snapshot("7"))
          .with("current-snapshot-id", "7")
          .with("properties", R"({"owner":"me"})")
          .with("partition-specs", R"([{"spec-id":0,"fields":[{"name":"b","transform":"bucket[4]",)"
                                   R"("source-id":1,"field-id":1000}]}])")
          .with("sort-orders", R"([{"order-id":1,"fields":[{"transform":"identity","source-id":1,)"
                               R"("direction":"desc","null-order":"nulls-last"}]}])")
          .with("default-sort-order-id", "1");
  const Finished finished = run({"metadata", write("t", table.text())});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, R"(table           format version 3
uuid            )" + kUuid + R"(
location        s3://b/t
last updated    2023-11-14T22:13:20Z
last sequence   9
next row id     0
schema          id 0
     1  id         long, required  -- the\x0akey
     2  tags       list
     3    element  string
partition spec  id 0
  b = bucket[4](id)
sort order      id 1
  identity(id) descending, nulls last
snapshots       1
current         7, append, 2023-11-14T22:13:20Z
manifest list   s3://b/t/m7.avro
refs            1
  main, branch: 7
statistics      0
properties      1
  owner = me
)");
}

TEST_F(MetadataCommands, MetadataOfAnEmptyTableSaysSo) {
  const Finished finished = run({"metadata", write("t", v1().text())});
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("format version 1\n"), HasSubstr("uuid            none\n"),
                    HasSubstr("id 0, unpartitioned\n"), HasSubstr("id 0, unsorted\n"),
                    HasSubstr("current         none: the table is empty\n")));
  EXPECT_THAT(run({"metadata", write("u", v2().with("table-uuid", R"("x")").text())}).out,
              HasSubstr("uuid            'x', which is none\n"));
  EXPECT_THAT(run({"metadata", write("w", v3().without("next-row-id").text())}).out,
              HasSubstr("next row id     missing: no base for a commit\n"));
}

TEST_F(MetadataCommands, MetadataOfAViewIsSummedUp) {
  EXPECT_EQ(run({"metadata", write("v", view().text())}).out, R"(view            format version 1
uuid            )" + kUuid + R"(
location        s3://b/v
version         id 1, 2023-11-14T22:13:20Z
namespace       n
schema          id 0
     1  x  long
representations 1
  spark: SELECT 1 x
properties      0
)");
}

TEST_F(MetadataCommands, LinesStayWithinEightyColumns) {
  const std::string long_text = "ä" + std::string(200, 'x');
  std::string many = "{";
  for (int i = 0; i < 30; ++i)
    many += (i == 0 ? "\"" : ",\"") + long_text + std::to_string(i) + R"(":"v")";
  const auto table =
      with_schema(v2(), field(1, long_text).with("doc", '"' + long_text + '"').text())
          .with("properties", many + "}");
  const Finished finished = run({"metadata", write("t", table.text())});
  EXPECT_THAT(finished.out, HasSubstr("  … and 20 more\n"));
  for (const auto& line : lines_of(finished.out)) {
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    });
    EXPECT_LE(columns, 80) << line;
  }
}

TEST_F(MetadataCommands, MetadataAsJsonIsTheWholeDocument) {
  const auto table =
      with_snapshot(v2(), snapshot("9007199254740993")).with("current-snapshot-id", "-1");
  const Finished finished = run({"metadata", "--json", write("t", gzipped(table.text()))});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(lines_of(finished.out).size(), 1U);
  EXPECT_EQ(json_of(finished.out).at("snapshots").at(0).at("snapshot-id"), 9007199254740993);
  EXPECT_EQ(json_of(run({"--json", "metadata", write("v", view().text())}).out)
                .at("versions")
                .at(0)
                .at("default-namespace")
                .at(0),
            "n");
}

TEST_F(MetadataCommands, MetadataThatIsWrongIsAnErrorThatNamesTheFile) {
  const std::string invalid = write("i", v2().without("location").text());
  const Finished finished = run({"metadata", invalid});
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "iceblink: " + invalid + ": location: is missing\n");
  const auto deep =
      with_snapshot(v2(), snapshot("7").with("summary", "5")).with("current-snapshot-id", "7");
  const std::string faulty = write("f", deep.text());
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"metadata", faulty}, {"metadata", "--json", faulty}}) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 5);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(refused.err, "iceblink: " + faulty +
                               ": snapshots[0].summary: expected an object, found a number\n");
  }
  EXPECT_EQ(run({"metadata", "/nonexistent/x"}).exit_code, 1);
  EXPECT_EQ(run({"metadata", files_.path()}).exit_code, 5);
}

// ---- metadata of a name

TEST_F(MetadataCommands, NamesAreResolvedThroughTheCatalog) {
  const std::string table = v2().text();
  const std::string of_view = view().text();
  store_.put_namespace({"a"});
  store_.put_table(ident({"a"}, "t"), write("t", table),
                   iceberg::fingerprint_of(std::as_bytes(std::span(table))));
  store_.put(encode(ident({"a"}, "v")), RecordKind::kView, write("v", of_view),
             iceberg::fingerprint_of(std::as_bytes(std::span(of_view))));
  store_.put_table(ident({"a"}, "gone"), files_.path() + "/gone");
  commit();
  EXPECT_THAT(in_dir({"metadata", "a.t"}).out, HasSubstr("location        s3://b/t\n"));
  EXPECT_THAT(in_dir({"metadata", "a.v"}).out, HasSubstr("location        s3://b/v\n"));
  EXPECT_EQ(json_of(in_dir({"metadata", "a.t", "--json"}).out).at("table-uuid").as_string(), kUuid);
  const Finished missing = in_dir({"metadata", "a.x"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(missing.err, "iceblink: Table does not exist: a.x\n");
  EXPECT_EQ(in_dir({"metadata", "a.gone"}).exit_code, 1);
  EXPECT_EQ(in_dir({"metadata", "a"}).exit_code, 2);
  EXPECT_EQ(run({"--dir", "/nonexistent", "metadata", "a.t"}).exit_code, 3);
}

TEST_F(MetadataCommands, TheirUsageIsTwo) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"metadata"}, {"check"}, {"metadata", "a.b", "c.d"}, {"metadata", "a..b"}}) {
    EXPECT_EQ(in_dir(arguments).exit_code, 2) << ::testing::PrintToString(arguments);
  }
}

}  // namespace
}  // namespace iceblink::testing
