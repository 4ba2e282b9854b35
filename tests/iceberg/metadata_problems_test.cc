// What `check` says of a document that is wrong: all that is, once, and nothing that merely
// follows.
#include <set>
#include <string>
#include <vector>

#include "iceberg/lazy_table_parts.h"
#include "iceberg/utf8.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(MetadataProblems, AColumnOfAnUnknownTypeIsOneProblem) {
  EXPECT_THAT(problems_of(with_schema(
                  v2(), R"({"id":1,"name":"x","required":true,"type":"x","initial-default":1})")),
              ElementsAre("schemas[0].fields[0].type: the type 'x' is not known"));
}

TEST(MetadataProblems, LogsAreNotComparedWithATimeThatIsMissing) {
  EXPECT_THAT(problems_of(v2().without("last-updated-ms")
                              .with("metadata-log",
                                    R"([{"timestamp-ms":1700000000000,"metadata-file":"m"}])")),
              ElementsAre("last-updated-ms: is missing"));
}

TEST(MetadataProblems, WhatIsNoNumberIsNotSaidToBeNotPositive) {
  EXPECT_THAT(
      problems_of(
          with_snapshot(v2(), snapshot("7"))
              .with("current-snapshot-id", "7")
              .with("refs", R"({"t":{"snapshot-id":7,"type":"tag","max-ref-age-ms":"x"}})")),
      ElementsAre("refs.t.max-ref-age-ms: expected an integer, found a string"));
}

TEST(MetadataProblems, AnOrderWithoutItsIdIsNotComparedWithOthers) {
  EXPECT_THAT(
      problems_of(v2().with("sort-orders", R"([{"fields":[]},{"order-id":0,"fields":[]}])")),
      ElementsAre("sort-orders[0].order-id: is missing"));
}

TEST(MetadataProblems, TextThatIsNoJsonIsOneProblem) {
  EXPECT_THAT(problems_of(std::string("<html>error</html>")),
              ElementsAre(HasSubstr("not valid JSON at byte 0")));
}

TEST(MetadataProblems, EveryPropertyThatOccursTwiceIsNamed) {
  std::string properties = "{";
  for (int i = 0; i < 100; ++i) properties += '"' + std::to_string(i) + R"(":"v",)";
  properties += R"("1":"1","2":"2"})";
  EXPECT_THAT(problems_of(v2().with("properties", properties)),
              ElementsAre("properties.1: occurs twice", "properties.2: occurs twice"));
}

TEST(MetadataProblems, ALateFaultIsFoundAtItsByteInTheDocument) {
  const std::string text =
      with_snapshot(v2(), snapshot("7").with("q", "tru")).with("current-snapshot-id", "7").text();
  const std::string where = "byte " + std::to_string(text.find(R"("q":tru)") + 4);
  EXPECT_THAT(problems_of(text), ElementsAre(HasSubstr(where)));
  const auto table = parse_table_metadata(ByteBuffer(std::string_view(text)));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_THAT((*table)->current_snapshot().error().message(), HasSubstr(where));
}

TEST(MetadataProblems, ATerminalIsToldNothing) {
  EXPECT_EQ(on_one_line("a\x1b[2J\n"), "a\\x1b[2J\\x0a");
  EXPECT_EQ(on_one_line("\xc2\x9b"
                        "2J\xc2\x85"),
            "\\xc2\\x9b2J\\xc2\\x85");
  EXPECT_EQ(on_one_line("\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6"),
            "\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6");
  EXPECT_EQ(on_one_line("Z\xc3\xbcrich \xe2\x80\xa6"), "Z\xc3\xbcrich \xe2\x80\xa6");
}

TEST(MetadataProblems, IdsOfSnapshotsFallApartHoweverTheyAreChosen) {
  constexpr std::size_t kBuckets = 65'536;
  for (const int shift : {0, 16, 32, 48}) {
    std::set<std::size_t> buckets;
    for (std::int64_t i = 0; i < 10'000; ++i) {
      buckets.insert(
          snapshot_bucket(static_cast<std::int64_t>(static_cast<std::uint64_t>(i) << shift),
                          0x7f0012345678, kBuckets));
    }
    EXPECT_GT(buckets.size(), 8'000U) << shift;
  }
}

}  // namespace
}  // namespace iceblink::iceberg::testing
