// What is written for each format, to the byte where it matters, and that nothing gets lost.
#include "iceberg/metadata_writer.h"

#include "iceberg/json_scan.h"
#include "iceberg/json_writer.h"
#include "tests/iceberg/metadata_equality.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string written(std::string_view text) {
  const auto document = parse_metadata(ByteBuffer(text));
  if (!document) return document.error().message();
  const auto json = (*document)->kind() == MetadataDocument::Kind::kView
                        ? write_view_metadata(static_cast<const ViewMetadata&>(**document))
                        : write_table_metadata(static_cast<const TableMetadata&>(**document));
  return json ? *json : json.error().message();
}
std::string written(const Document& document) {
  return written(document.text());
}

/// Written, read again, and no different.
MATCHER(IsWrittenWithoutALoss, "") {
  const std::string json = written(arg);
  const auto before = parse_metadata(ByteBuffer(std::string_view(arg)));
  const auto after = parse_metadata(ByteBuffer(std::string_view(json)));
  if (!before || !after) {
    *result_listener << json;
    return false;
  }
  const std::string differs = difference(**before, **after);
  *result_listener << differs << " in " << json;
  return differs.empty() && problems_of(json).empty() && written(json) == json;
}

// Every member that the specification has, by hand.

const std::string kEverySchema = R"json({
  "type": "struct", "schema-id": 1, "identifier-field-ids": [1, 3],
  "fields": [
    {"id": 1, "name": "id", "required": true, "type": "long", "doc": "the \"id\"\n\u0001",
     "initial-default": 34, "write-default": -9223372036854775808},
    {"id": 2, "name": "p", "required": false, "type": {"type": "struct", "fields": [
      {"id": 4, "name": "lat", "required": true, "type": "float"},
      {"id": 5, "name": "d", "required": false, "type": "decimal(9,2)", "write-default": "14.20"}]},
     "initial-default": { "4" : 1.0 , "5" : null }},
    {"id": 3, "name": "s", "required": true, "type": "string", "doc": ""},
    {"id": 6, "name": "m", "required": false, "type": {"type": "map", "key-id": 7,
      "key": "string", "value-id": 8, "value-required": false, "value": {"type": "list",
      "element-id": 9, "element-required": true, "element": "timestamptz_ns"}}},
    {"id": 10, "name": "f", "required": false, "type": "fixed[16]"},
    {"id": 11, "name": "g", "required": false, "type": "geometry(srid:5070)"},
    {"id": 12, "name": "h", "required": false, "type": "geography(srid:4326, vincenty)"},
    {"id": 13, "name": "i", "required": false, "type": "geography"},
    {"id": 14, "name": "v", "required": false, "type": "variant"},
    {"id": 15, "name": "u", "required": false, "type": "unknown"},
    {"id": 16, "name": "q", "required": false, "type": "string",
     "initial-default": "a \" b \\", "write-default": "\u00e4  "}]})json";

const std::string kEveryMember = R"json({
  "format-version": 3, "table-uuid": "9C12D441-03FE-4693-9A96-A0705DDF69C1",
  "location": "s3://b/t/", "last-sequence-number": 34, "last-updated-ms": 1700000000000,
  "last-column-id": 16, "current-schema-id": 1, "schemas": [
    {"type": "struct", "schema-id": 0, "fields": []}, )json" +
                                 kEverySchema + R"json(],
  "default-spec-id": 3, "last-partition-id": 1003, "partition-specs": [
    {"spec-id": 0, "fields": []},
    {"spec-id": 3, "fields": [
      {"name": "b", "transform": "bucket[16]", "source-id": 1, "field-id": 1001},
      {"name": "z", "transform": "zorder[2]", "source-ids": [1, 3], "field-id": 1003}]}],
  "default-sort-order-id": 2, "sort-orders": [
    {"order-id": 0, "fields": []},
    {"order-id": 2, "fields": [
      {"transform": "identity", "source-id": 3, "direction": "asc", "null-order": "nulls-last"},
      {"transform": "bucket[4]", "source-ids": [1, 3], "direction": "desc",
       "null-order": "nulls-first"}]}],
  "properties": {"": "empty", "owner": "ä", "n": 5, "write.x": "\\\"\b\f\r\t"},
  "current-snapshot-id": 9007199254740993,
  "refs": {
    "main": {"snapshot-id": 9007199254740993, "type": "branch", "min-snapshots-to-keep": 3,
             "max-snapshot-age-ms": 5, "max-ref-age-ms": 9223372036854775807},
    "v 1.0": {"snapshot-id": 1, "type": "tag", "max-ref-age-ms": 7}},
  "snapshots": [
    {"snapshot-id": 1, "sequence-number": 0, "timestamp-ms": 1600000000000,
     "manifests": ["s3://b/m1.avro", "s3://b/m2.avro"]},
    {"snapshot-id": 9007199254740993, "parent-snapshot-id": 1, "sequence-number": 34,
     "timestamp-ms": 1700000000000, "manifest-list": "s3://b/l.avro",
     "summary": {"operation": "append", "added-records": "5"}, "schema-id": 1,
     "first-row-id": 0, "added-rows": 5, "key-id": "k2"}],
  "snapshot-log": [{"timestamp-ms": 1600000000000, "snapshot-id": 1},
                   {"timestamp-ms": 1700000000000, "snapshot-id": 9007199254740993}],
  "metadata-log": [{"timestamp-ms": 1600000000000, "metadata-file": "s3://b/t/v1.metadata.json"}],
  "statistics": [{"snapshot-id": 1, "statistics-path": "s3://b/s.puffin",
    "file-size-in-bytes": 413, "file-footer-size-in-bytes": 42, "key-metadata": "a2V5",
    "blob-metadata": [{"type": "ndv", "snapshot-id": 1, "sequence-number": 0, "fields": [1, 3],
                       "properties": {"ndv": "7"}},
                      {"type": "x", "snapshot-id": 1, "sequence-number": 0, "fields": []}]}],
  "partition-statistics": [{"snapshot-id": 1, "statistics-path": "s3://b/p.parquet",
                            "file-size-in-bytes": 43}],
  "next-row-id": 5,
  "encryption-keys": [
    {"key-id": "k1", "encrypted-key-metadata": "a2V5", "encrypted-by-id": "kms",
     "properties": {"a": "b"}},
    {"key-id": "k2", "encrypted-key-metadata": "a2V5"}]})json";

const std::string kEveryMemberOfAView = R"json({
  "view-uuid": "fa6506c3-7681-40c8-86dc-e36561f83385", "format-version": 1,
  "location": "s3://b/v", "current-version-id": 2, "properties": {"comment": "daily \"counts\""},
  "schemas": [)json" + kEverySchema + R"json(],
  "versions": [
    {"version-id": 1, "timestamp-ms": 1573518431292, "schema-id": 1,
     "default-catalog": "prod", "default-namespace": ["a.b", "c"],
     "summary": {"engine-name": "Spark", "engine-version": "3.3.2"},
     "representations": [
       {"type": "sql", "sql": "SELECT\n COUNT(1)", "dialect": "spark"},
       {"type": "sql", "sql": "SELECT 1", "dialect": "trino"}]},
    {"version-id": 2, "timestamp-ms": 1573518981593, "schema-id": 1, "default-namespace": [],
     "summary": {}, "representations": []}],
  "version-log": [{"timestamp-ms": 1573518431292, "version-id": 1},
                  {"timestamp-ms": 1573518981593, "version-id": 2}]})json";

TEST(MetadataWriter, LosesNothingOfACompleteTable) {
  EXPECT_THAT(kEveryMember, IsWrittenWithoutALoss());
}

TEST(MetadataWriter, LosesNothingOfACompleteView) {
  EXPECT_THAT(kEveryMemberOfAView, IsWrittenWithoutALoss());
}

TEST(MetadataWriter, LosesNothingOfTheSmallest) {
  for (const Document& document : {v1(), v2(), v3(), view(), v3().without("next-row-id"),
                                   v2().with("table-uuid", R"("no uuid")")}) {
    EXPECT_THAT(document.text(), IsWrittenWithoutALoss());
  }
}

TEST(MetadataWriter, WritesCompactJson) {
  EXPECT_EQ(written(v3().with("next-row-id", "7")),
            R"({"format-version":3,"table-uuid":")" + kUuid +
                R"(","location":"s3://b/t","last-sequence-number":9,)"
                R"("last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,)"
                R"("schemas":[{"type":"struct","schema-id":0,"fields":[)"
                R"({"id":1,"name":"x","required":false,"type":"long"}]}],"default-spec-id":0,)"
                R"("partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
                R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],)"
                R"("properties":{},"current-snapshot-id":null,"next-row-id":7,"refs":{},)"
                R"("snapshots":[],"statistics":[],"partition-statistics":[],"snapshot-log":[],)"
                R"("metadata-log":[]})");
  EXPECT_EQ(written(kEveryMember).find('\n'), std::string::npos);
}

// ---- What each format has

TEST(MetadataWriter, FormatOneHasItsOldMembersBesideTheLists) {
  const std::string json = written(
      with_snapshot(v1(), snapshot("7").without("manifest-list").with("manifests", R"(["m"])"))
          .with("partition-spec",
                R"([{"name":"p","transform":"day","source-id":1,"field-id":1000}])"));
  EXPECT_THAT(json, HasSubstr(R"("schema":{"type":"struct","schema-id":0,"fields":[{)"));
  EXPECT_THAT(json, HasSubstr(R"("schemas":[{"type":"struct","schema-id":0,"fields":[{)"));
  EXPECT_THAT(json, HasSubstr(R"("partition-spec":[{"name":"p","transform":"day","source-id":1,)"));
  EXPECT_THAT(json, HasSubstr(R"("partition-specs":[{"spec-id":0,"fields":[{"name":"p",)"));
  EXPECT_THAT(json, HasSubstr(R"("last-partition-id":1000)"));
  EXPECT_THAT(json, HasSubstr(R"("current-snapshot-id":-1,)"));
  EXPECT_THAT(json, HasSubstr(R"("manifests":["m"])"));
  EXPECT_THAT(json, Not(HasSubstr("sequence-number")));
  EXPECT_THAT(json, Not(HasSubstr("table-uuid")));
  EXPECT_THAT(written(v1().with("table-uuid", kQuotedUuid)),
              HasSubstr(R"("table-uuid":")" + kUuid + '"'));
}

TEST(MetadataWriter, NewerFormatsHaveTheListsAloneAndSequenceNumbers) {
  for (const Document& table : {v2(), v3()}) {
    const std::string json =
        written(with_snapshot(table, snapshot("7").without("sequence-number")));
    EXPECT_THAT(json, Not(HasSubstr("\"schema\":")));
    EXPECT_THAT(json, Not(HasSubstr("\"partition-spec\":")));
    EXPECT_THAT(json, HasSubstr(R"("last-sequence-number":9,)"));
    EXPECT_THAT(json, HasSubstr(R"({"sequence-number":0,"snapshot-id":7,)"));
  }
  EXPECT_THAT(written(v2()), HasSubstr(R"("current-snapshot-id":-1,)"));
  EXPECT_THAT(written(v3()), HasSubstr(R"("current-snapshot-id":null,)"));
}

TEST(MetadataWriter, RowLineageAndEncryptionAreOfFormatThree) {
  const std::string three = written(kEveryMember);
  for (const char* name : {"next-row-id", "first-row-id", "added-rows", "encryption-keys"}) {
    EXPECT_THAT(three, HasSubstr('"' + std::string(name) + '"'));
  }
  const auto table = load(kEveryMember);
  ASSERT_TRUE(table) << table.error().message();
  TableValues values = **table;
  values.format_version = 2;
  TableHistory history;
  history.snapshots = *(*table)->snapshots();
  const auto json = write_table_metadata(values, history);
  ASSERT_TRUE(json) << json.error().message();
  for (const char* name :
       {"next-row-id", "first-row-id", "added-rows", "encryption-keys", R"("key-id":")"}) {
    EXPECT_THAT(*json, Not(HasSubstr(name)));
  }
  EXPECT_EQ(error_of(*json), "accepted");
}

TEST(MetadataWriter, ANextRowIdThatIsMissingIsNotMadeUp) {
  EXPECT_THAT(written(v3().without("next-row-id")), Not(HasSubstr("next-row-id")));
}

TEST(MetadataWriter, MainIsWrittenWhereItWasNot) {
  EXPECT_THAT(written(with_snapshot(v1(), snapshot("7")).with("current-snapshot-id", "7")),
              HasSubstr(R"("refs":{"main":{"snapshot-id":7,"type":"branch"}})"));
}

TEST(MetadataWriter, OneSourceIsWrittenAsOneAndSeveralAsSeveral) {
  const std::string json = written(kEveryMember);
  EXPECT_THAT(json, HasSubstr(R"("transform":"bucket[16]","source-id":1,"field-id":1001})"));
  EXPECT_THAT(json, HasSubstr(R"("transform":"zorder[2]","source-ids":[1,3],"field-id":1003})"));
  EXPECT_THAT(json, HasSubstr(R"("transform":"bucket[4]","source-ids":[1,3],"direction":"desc")"));
}

TEST(MetadataWriter, Case12IntegersAreExact) {
  for (const char* id : {"9007199254740993", "9223372036854775807", "-9223372036854775808"}) {
    const std::string json =
        written(with_snapshot(v2(), snapshot(id)).with("current-snapshot-id", id));
    EXPECT_THAT(json, AllOf(HasSubstr("\"current-snapshot-id\":" + std::string(id) + ','),
                            HasSubstr("\"snapshot-id\":" + std::string(id) + ',')));
  }
}

TEST(MetadataWriter, KeepsUuidsDocsAndDefaultsAsTheyStood) {
  const std::string json = written(kEveryMember);
  EXPECT_THAT(json, HasSubstr(R"("table-uuid":"9C12D441-03FE-4693-9A96-A0705DDF69C1")"));
  EXPECT_THAT(json, HasSubstr(R"("doc":"the \"id\"\n\u0001")"));
  EXPECT_THAT(json, HasSubstr(R"("doc":"")"));
  EXPECT_THAT(json, HasSubstr(R"("initial-default":{"4":1.0,"5":null})"));
  EXPECT_THAT(json, HasSubstr(R"("initial-default":"a \" b \\","write-default":"\u00e4  ")"));
  EXPECT_THAT(written(v2().with("table-uuid", R"("no uuid")")), HasSubstr(R"("no uuid")"));
}

TEST(MetadataWriter, Case14EmptyMembersAreWrittenWhereTheyWereNullAndUnknownOnesAreGone) {
  const std::string json = written(v2().with("properties", "null")
                                       .with("snapshot-log", "null")
                                       .with("metadata-log", "null")
                                       .with("new", "1"));
  for (const char* empty : {R"("properties":{})", R"("snapshot-log":[])", R"("metadata-log":[])",
                            R"("statistics":[])", R"("refs":{})"}) {
    EXPECT_THAT(json, HasSubstr(empty));
  }
  EXPECT_THAT(json, Not(HasSubstr("new")));
}

// ---- What cannot be written

TEST(MetadataWriter, ALazyFaultIsAnError) {
  const auto table = load(with_snapshot(v2(), snapshot("7").with("summary", "[]")));
  ASSERT_TRUE(table) << table.error().message();
  const auto json = write_table_metadata(**table);
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(json.error().message(), "snapshots[0].summary: expected an object, found an array");
}

TEST(MetadataWriter, RefusesValuesThatNoReaderWouldTake) {
  const auto table = load(v2());
  ASSERT_TRUE(table) << table.error().message();
  const auto error_of_writing = [](const TableValues& values) {
    const auto json = write_table_metadata(values, {});
    return json ? "written"
                : std::string(to_string(json.error().kind())) + ": " + json.error().message();
  };
  const std::string begin = "invalid_argument: table metadata cannot be written: ";
  TableValues values = **table;
  EXPECT_EQ(error_of_writing(values), "written");
  values.table_uuid_text = {};
  EXPECT_EQ(error_of_writing(values), "written") << "from its bytes";
  values.table_uuid.reset();
  EXPECT_EQ(error_of_writing(values), begin + "it has no table-uuid");
  values.format_version = 1;
  EXPECT_EQ(error_of_writing(values), "written");
  values.default_spec_id = 7;
  EXPECT_EQ(error_of_writing(values), begin + "its default partition spec is not there");
  values.current_schema_id = 7;
  EXPECT_EQ(error_of_writing(values), begin + "its current schema is not there");
  values.format_version = 4;
  EXPECT_EQ(error_of_writing(values), begin + "its format-version is 4");
}

TEST(MetadataWriter, TwoTextsOfOneDialectMayBeReadAndNotWritten) {
  const auto with_dialects = [](const std::string& first, const std::string& second) {
    const auto sql = [](const std::string& dialect) {
      return R"({"type":"sql","sql":"SELECT 1","dialect":")" + dialect + "\"}";
    };
    return view().with("versions",
                       R"([{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},)"
                       R"("default-namespace":[],"representations":[)" +
                           sql(first) + ',' + sql(second) + "]}]");
  };
  EXPECT_THAT(with_dialects("spark", "SPARK"), IsAccepted());
  EXPECT_EQ(written(with_dialects("spark", "SPARK")),
            "view metadata cannot be written: the version 1 has two SQL representations of the "
            "dialect 'spark'");
  EXPECT_THAT(with_dialects("spark", "trino").text(), IsWrittenWithoutALoss());
}

// ---- The writer of JSON below it

TEST(JsonWriter, SetsCommasAndEscapes) {
  JsonWriter json;
  json.begin_object();
  json.string("a\"\\", std::string("\b\f\n\r\t\x01\x1f/ä\x7f", 11) + std::string(1, '\0'));
  json.begin_array("b");
  json.begin_array();
  json.end_array();
  json.integer(INT64_MIN);
  json.boolean(true);
  json.null();
  json.begin_object();
  json.boolean("c", false);
  json.end_object();
  json.raw(" [ 1 , \"x  \\\" y\" ] ");
  json.end_array();
  json.integer("d", -1);
  json.end_object();
  EXPECT_EQ(json.take(),
            R"({"a\"\\":"\b\f\n\r\t\u0001\u001f/ä)"
            "\x7f"
            R"(\u0000","b":[[],-9223372036854775808,true,null,{"c":false},[1,"x  \" y"]],"d":-1})");
}

TEST(JsonWriter, EscapesWhereverItStands) {
  const std::string plain = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t size = 1; size <= plain.size(); ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text = plain.substr(0, size);
        text[at] = static_cast<char>(byte);
        JsonWriter json;
        json.string(text);
        const std::string quoted = json.take();
        const bool is_escaped = byte < 0x20 || byte == '"' || byte == '\\';
        ASSERT_EQ(quoted.find('\\') == at + 1, is_escaped) << quoted;
        ASSERT_EQ(unescape_json_string(quoted), text) << quoted;
      }
    }
  }
}

}  // namespace
}  // namespace iceblink::iceberg::testing
