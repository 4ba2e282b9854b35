// Bodies as texts: what is JSON, what is too much of it, and that a request owns what it says.
#include <string>
#include <vector>

#include "tests/iceberg/commit/request_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kCommit = R"({"requirements":[],"updates":[]})";

/// What each of the parsers says.
std::vector<std::string> outcomes_of(std::string_view body) {
  return {table_commit(body), view_commit(body), transaction(body), table_creation(body),
          view_creation(body)};
}

TEST(RequestText, IsOneObject) {
  for (const std::string body :
       {"", " ", "[]", "null", "7", "\"{}\"", "{", "{}{}", "{},", "{\"requirements\":[],}",
        "{'a':1}", "{\"a\":01}", "{\"a\":tru}", "<html>", "\xef\xbb\xbf"}) {
    for (const auto& outcome : outcomes_of(body)) {
      EXPECT_THAT(outcome, StartsWith("invalid_argument: ")) << body;
    }
  }
  EXPECT_EQ(table_commit("[]"), "invalid_argument: expected an object, found an array");
  EXPECT_THAT(table_commit(kCommit + "x"), HasSubstr("something follows"));
  EXPECT_THAT(table_commit(kCommit + kCommit), HasSubstr("something follows"));
  EXPECT_EQ(table_commit(" \r\n\t" + kCommit + "\n "), "accepted");
}

TEST(RequestText, MayBeginWithOneByteOrderMark) {
  EXPECT_EQ(table_commit("\xef\xbb\xbf" + kCommit), "accepted");
  EXPECT_THAT(table_commit("\xef\xbb\xbf\xef\xbb\xbf" + kCommit), StartsWith("invalid_argument: "));
}

TEST(RequestText, IsUtf8) {
  for (const auto& outcome : outcomes_of("{\"a\":\"\xff\"}")) {
    EXPECT_EQ(outcome, "invalid_argument: not valid JSON: the text is not UTF-8");
  }
}

TEST(RequestText, HasNoMemberTwiceHoweverItIsWritten) {
  EXPECT_EQ(table_commit(R"({"requirements":[],"updates":[],"\u0075pdates":[]})"),
            "invalid_argument: updates: occurs twice");
  EXPECT_EQ(table_commit(R"({"x":1,"x":2,"requirements":[],"updates":[]})"), "accepted");
}

TEST(RequestText, SaysWhereItIsNoJson) {
  EXPECT_THAT(table_commit(R"({"requirements":[],"updates":[{"action":"set-location","x":nul}]})"),
              StartsWith("invalid_argument: updates[0].x: not valid JSON at byte 59"));
}

auto TooDeep() {
  return ::testing::AllOf(StartsWith("invalid_argument: "),
                          HasSubstr("nested deeper than 256 levels"));
}

TEST(RequestText, IsRefusedWhereItIsNestedTooDeep) {
  for (const std::size_t depth : {300U, 1'000'000U}) {
    const std::string nested = std::string(depth, '[') + std::string(depth, ']');
    for (const std::string& body :
         {R"({"x":)" + nested + "}", R"({"updates":[{"x":)" + nested + "}]}",
          R"({"requirements":[{"x":)" + nested + "}]}"}) {
      EXPECT_THAT(table_commit(body), TooDeep()) << depth;
      EXPECT_THAT(view_commit(body), TooDeep()) << depth;
    }
  }
  std::string type = "\"int\"";
  for (int depth = 0; depth < 300; ++depth) {
    type = R"({"type":"list","element-id":)" + std::to_string(depth + 2) +
           R"(,"element-required":true,"element":)" + type + "}";
  }
  const Document creation{{"name", "\"t\""}, {"schema", schema(field(1, "x", type).text()).text()}};
  EXPECT_THAT(table_creation(creation.text()), TooDeep());
}

TEST(RequestText, HasNoHalfSurrogateInAnyString) {
  for (const std::string half :
       {R"(\ud800)", R"(\uDFFF)", R"(\udbffx)", R"(\ud800\u0041)", R"(\udc00\ud800)",
        R"(\ud83d\ude00\ud83d)", R"(\\\ud800)", R"(\ud83d\\ude00)", R"(\ud800\n)"}) {
    for (const std::string& body :
         {R"({"requirements":[],"updates":[{"action":"set-location","location":")" + half + "\"}]}",
          R"({"requirements":[],"updates":[],"x":{"y":[")" + half + "\"]}}",
          R"({"requirements":[],"updates":[],")" + half + R"(":1})"}) {
      for (const auto& outcome : outcomes_of(body)) {
        EXPECT_THAT(outcome, ::testing::AllOf(StartsWith("invalid_argument: "),
                                              HasSubstr("is half of a surrogate pair")))
            << body;
      }
    }
  }
  for (const std::string whole : {R"(\ud83d\ude00)", R"(\uDBFF\uDFFF)", R"(\\ud800)", R"(\ue000)",
                                  R"(\ud7ff)", R"(\\\\udfff)", R"(\"\\)"}) {
    EXPECT_EQ(table_commit(R"({"requirements":[],"updates":[],"x":")" + whole + "\"}"), "accepted")
        << whole;
  }
  // An escape that the text ends in is none.
  for (const std::string cut : {R"({"x":"\ud8)", R"({"x":"\)", R"({"x":"\ud800\udc)"}) {
    EXPECT_THAT(table_commit(cut), StartsWith("invalid_argument: ")) << cut;
  }
}

TEST(RequestText, IsTheRequestsOwn) {
  std::string body = R"({"requirements":[{"type":"assert-table-uuid","uuid":")" + kUuid +
                     R"("}],"updates":[{"action":"set-location","location":"s3://b/t"}]})";
  const auto request = parse_table_commit(body);
  ASSERT_TRUE(request);
  body.assign(body.size(), '#');
  body.shrink_to_fit();
  EXPECT_EQ(std::get<AssertTableUuid>((*request)->commit.requirements.at(0)).uuid, kUuid);
  EXPECT_EQ(std::get<SetLocation>((*request)->commit.updates.at(0)).location, "s3://b/t");
}

TEST(RequestText, MayHaveVeryManyElements) {
  std::string removals;
  for (int i = 0; i < 100'000; ++i) removals += R"({"action":"remove-schemas","schema-ids":[]},)";
  removals.pop_back();
  EXPECT_THAT(accepted(parse_table_commit(updates(removals))).commit.updates, SizeIs(100'000));
}

// As the Java library sends an append, its members in its order.
TEST(RequestText, IsWhatTheJavaLibrarySends) {
  const auto& commit =
      accepted(
          parse_table_commit(
              R"({"identifier":{"namespace":["db"],"name":"t"},"requirements":[)"
              R"({"type":"assert-table-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"},)"
              R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}],"updates":[)"
              R"({"action":"add-snapshot","snapshot":{"sequence-number":1,)"
              R"("snapshot-id":6527190000000000123,"timestamp-ms":1700000000000,"summary":{)"
              R"("operation":"append","added-data-files":"1"},"manifest-list":"s3://b/t/l.avro",)"
              R"("schema-id":0}},{"action":"set-snapshot-ref","ref-name":"main",)"
              R"("snapshot-id":6527190000000000123,"type":"branch"}]})"))
          .commit;
  EXPECT_EQ(commit.identifier, (TableIdent{{"db"}, "t"}));
  EXPECT_EQ(std::get<AssertRefSnapshotId>(commit.requirements.at(1)).snapshot_id, std::nullopt);
  const auto& added = std::get<AddSnapshot>(commit.updates.at(0));
  EXPECT_EQ(added.snapshot.snapshot_id, 6527190000000000123);
  EXPECT_EQ(std::get<SetSnapshotRef>(commit.updates.at(1)).ref.snapshot_id,
            added.snapshot.snapshot_id);
}

// As PyIceberg completes a staged creation.
TEST(RequestText, IsWhatPyIcebergSends) {
  const auto& commit =
      accepted(
          parse_table_commit(
              R"({"identifier":{"namespace":["db","x"],"name":"t"},"requirements":[)"
              R"({"type":"assert-create"}],"updates":[)"
              R"({"action":"assign-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"},)"
              R"({"action":"upgrade-format-version","format-version":2},)"
              R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":1,"name":"x",)"
              R"("type":"long","required":false}],"schema-id":0,"identifier-field-ids":[]}},)"
              R"({"action":"set-current-schema","schema-id":-1},)"
              R"({"action":"add-spec","spec":{"spec-id":0,"fields":[]}},)"
              R"({"action":"set-default-spec","spec-id":-1},)"
              R"({"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}},)"
              R"({"action":"set-default-sort-order","sort-order-id":-1},)"
              R"({"action":"set-location","location":"s3://b/t"},)"
              R"({"action":"set-properties","updates":{}}]})"))
          .commit;
  EXPECT_THAT(commit.updates, SizeIs(10));
  EXPECT_EQ(std::get<SetCurrentSchema>(commit.updates.at(3)).schema_id, kLastAdded);
}

// As the Rust library sends a creation: what it has not is null.
TEST(RequestText, IsWhatTheRustLibrarySends) {
  const auto& request = accepted(parse_table_creation(
      R"({"name":"t","location":null,"schema":{"schema-id":0,"type":"struct","fields":[{"id":1,)"
      R"("name":"x","required":true,"type":"int"}],"identifier-field-ids":null},)"
      R"("partition-spec":{"spec-id":null,"fields":[{"source-id":1,"field-id":null,)"
      R"("name":"x_bucket","transform":"bucket[4]"}]},"write-order":null,"stage-create":null,)"
      R"("properties":{}})"));
  EXPECT_EQ(request.partition_spec.value().fields[0].field_id, std::nullopt);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
