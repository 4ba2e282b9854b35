// Values of every kind, from files of both codecs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "tests/iceberg/avro/avro_writer.h"
#include "tests/iceberg/avro/read_values.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string record_of(std::string_view fields) {
  return R"({"type":"record","name":"r","fields":[)" + std::string(fields) + "]}";
}

/// The one value of a file that has it in the field "x" of this type.
std::string value_of(std::string_view type, const AvroBytes& value) {
  AvroFile file(record_of(R"({"name":"x","type":)" + std::string(type) + "}"));
  const ReadFile read = read_all(file.add_record(value).bytes());
  EXPECT_THAT(read.error, IsEmpty()) << type;
  return read.records.size() == 1 ? read.records[0] : "not one record";
}

class AvroCodecs : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, AvroCodecs, ::testing::Values("null", "deflate", ""),
                         [](const auto& codec) {
                           return std::string(*codec.param == '\0' ? "unnamed" : codec.param);
                         });

TEST_P(AvroCodecs, GiveTheRecordsOfAllBlocks) {
  AvroFile file(record_of(R"({"name":"a","type":"long"},{"name":"b","type":"string"})"),
                GetParam());
  file.add_record(AvroBytes().integer(1).text("one")).add_record(AvroBytes().integer(2).text(""));
  file.end_block().end_block();
  file.add_record(AvroBytes().integer(-3).text(std::string(5000, 'x')));
  const ReadFile read = read_all(file.bytes());
  EXPECT_THAT(read.error, IsEmpty());
  EXPECT_THAT(read.records,
              ElementsAre("{1,\"one\"}", "{2,\"\"}", "{-3,\"" + std::string(5000, 'x') + "\"}"));
}

TEST_P(AvroCodecs, GiveNoRecordsOfAFileWithoutBlocks) {
  AvroFile file("\"int\"", GetParam());
  const ReadFile read = read_all(file.bytes());
  EXPECT_THAT(read.error, IsEmpty());
  EXPECT_THAT(read.records, IsEmpty());
}

TEST(AvroValues, HaveEveryPrimitiveKind) {
  using Limits32 = std::numeric_limits<std::int32_t>;
  using Limits64 = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(value_of("\"null\"", AvroBytes()), "{null}");
  EXPECT_EQ(value_of("\"boolean\"", AvroBytes().boolean(1)), "{true}");
  EXPECT_EQ(value_of("\"boolean\"", AvroBytes().boolean(0)), "{false}");
  EXPECT_EQ(value_of("\"float\"", AvroBytes().float32(-1.5F)), "{-1.500000}");
  EXPECT_EQ(value_of("\"double\"", AvroBytes().float64(0.25)), "{0.250000}");
  EXPECT_EQ(value_of("\"string\"", AvroBytes().text("grüße")), "{\"grüße\"}");
  EXPECT_EQ(value_of("\"bytes\"", AvroBytes().text("\xff")), "{\"\xff\"}");
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{64},
                                   std::int64_t{Limits32::min()}, std::int64_t{Limits32::max()}}) {
    EXPECT_EQ(value_of("\"int\"", AvroBytes().integer(value)), '{' + std::to_string(value) + '}');
  }
  for (const std::int64_t value : {Limits64::min(), Limits64::max(), Limits64::min() + 1}) {
    EXPECT_EQ(value_of("\"long\"", AvroBytes().integer(value)), '{' + std::to_string(value) + '}');
  }
}

TEST(AvroValues, KeepTheNulBytesOfStrings) {
  const std::string text("a\0b\0", 4);
  EXPECT_EQ(value_of("\"string\"", AvroBytes().text(text)), "{\"" + text + "\"}");
  EXPECT_EQ(value_of("\"bytes\"", AvroBytes().text(text)), "{\"" + text + "\"}");
}

TEST(AvroValues, HaveEnumsFixedsAndRecords) {
  EXPECT_EQ(value_of(R"({"type":"enum","name":"e","symbols":["A","B"]})", AvroBytes().integer(1)),
            "{#1}");
  EXPECT_EQ(value_of(R"({"type":"fixed","name":"f","size":3})", AvroBytes().append("abc")),
            "{\"abc\"}");
  EXPECT_EQ(value_of(R"({"type":"fixed","name":"f","size":0})", AvroBytes()), "{\"\"}");
  EXPECT_EQ(value_of(R"({"type":"record","name":"e","fields":[]})", AvroBytes()), "{{}}");
  EXPECT_EQ(value_of(R"({"type":"record","name":"e","fields":[{"name":"a","type":"int"},)"
                     R"({"name":"b","type":{"type":"fixed","name":"f","size":1}}]})",
                     AvroBytes().integer(7).append("x")),
            "{{7,\"x\"}}");
}

TEST(AvroValues, AreOfTheBranchThatAUnionHas) {
  const char* const type = R"(["null",{"type":"array","items":["int","string","null"]}])";
  EXPECT_EQ(value_of(type, AvroBytes().null_branch()), "{null}");
  EXPECT_EQ(value_of(type, AvroBytes().some_branch().array({AvroBytes().branch(1).text("a"),
                                                            AvroBytes().branch(2),
                                                            AvroBytes().branch(0).integer(5)})),
            "{[\"a\",null,5]}");
}

TEST(AvroValues, HaveArraysAndMapsInSeveralParts) {
  const auto number = [](int value) { return AvroBytes().integer(value); };
  const auto pair = [](const char* key, int value) { return AvroBytes().text(key).integer(value); };
  const char* const array = R"({"type":"array","items":"int"})";
  const char* const map = R"({"type":"map","values":"int"})";
  EXPECT_EQ(value_of(array, AvroBytes().array({})), "{[]}");
  EXPECT_EQ(value_of(array, AvroBytes().array({number(1), number(2)})), "{[1,2]}");
  EXPECT_EQ(value_of(array, AvroBytes()
                                .part({number(1)})
                                .sized_part({number(2), number(300)})
                                .part({number(4)})
                                .end_array()),
            "{[1,2,300,4]}");
  EXPECT_EQ(value_of(map, AvroBytes().array({pair("k", 1)})), "{<\"k\",1>}");
  EXPECT_EQ(value_of(map, AvroBytes()
                              .sized_part({pair("a", 1), pair("b", 2)})
                              .part({pair("", 3), pair("a", 4)})
                              .end_array()),
            "{<\"a\",1,\"b\",2,\"\",3,\"a\",4>}");
}

TEST(AvroValues, NestArraysAndMapsInEachOther) {
  const char* const type =
      R"({"type":"array","items":{"type":"map","values":{"type":"array","items":"string"}}})";
  const AvroBytes strings = AvroBytes().array({AvroBytes().text("x"), AvroBytes().text("yz")});
  const AvroBytes map = AvroBytes().array(
      {AvroBytes().text("k").append(strings), AvroBytes().text("l").append(AvroBytes().array({}))});
  EXPECT_EQ(value_of(type, AvroBytes().array({map, AvroBytes().array({}), map})),
            "{[<\"k\",[\"x\",\"yz\"],\"l\",[]>,<>,<\"k\",[\"x\",\"yz\"],\"l\",[]>]}");
}

TEST(AvroValues, MayBeOfARootThatIsNoRecord) {
  AvroFile file(R"({"type":"array","items":"int"})");
  file.add_record(AvroBytes().array({AvroBytes().integer(1)})).add_record(AvroBytes().array({}));
  EXPECT_THAT(read_all(file.bytes()).records, ElementsAre("[1]", "[]"));
}

TEST(AvroValues, AreDecodedOfWantedFieldsAlone) {
  AvroFile file(record_of(R"({"name":"a","type":{"type":"array","items":"string"}},)"
                          R"({"name":"b","type":{"type":"array","items":"string"}},)"
                          R"({"name":"c","type":"int"},{"name":"d","type":["null","string"]})"));
  const AvroBytes a = AvroBytes().array({AvroBytes().text("a1"), AvroBytes().text("a2")});
  const AvroBytes b = AvroBytes().array({AvroBytes().text("b1")});
  file.add_record(AvroBytes().append(a).append(b).integer(3).some_branch().text("d"));
  file.add_record(AvroBytes().append(b).append(a).integer(4).null_branch());
  const std::string bytes = file.bytes();
  EXPECT_THAT(read_all(bytes, {}, {false, true, false, true}).records,
              ElementsAre("{null,[\"b1\"],null,\"d\"}", "{null,[\"a1\",\"a2\"],null,null}"));
  EXPECT_THAT(read_all(bytes, {}, {false, false, false, false}).records,
              ElementsAre("{null,null,null,null}", "{null,null,null,null}"));
  EXPECT_THAT(read_all(bytes, {}, {false, false, true}).records,
              ElementsAre("{null,null,3,null}", "{null,null,4,null}"));
}

TEST(AvroValues, OfARecordLiveUntilTheNextOne) {
  AvroFile file(R"({"type":"array","items":"string"})", "deflate");
  file.add_record(AvroBytes().array({AvroBytes().text("first")})).end_block();
  file.add_record(AvroBytes().array({AvroBytes().text("second")}));
  const std::string bytes = file.bytes();
  auto reader = avro::ContainerReader::open(bytes);
  ASSERT_TRUE(reader.ok());
  const auto first = (*reader)->next();
  ASSERT_TRUE(first.ok());
  EXPECT_GT((*reader)->scratch_bytes(), 0);
  EXPECT_EQ(text_of(**first), "[\"first\"]");
  const auto second = (*reader)->next();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(text_of(**second), "[\"second\"]");
  for (int i = 0; i < 3; ++i) {
    const auto end = (*reader)->next();
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(*end, nullptr);
  }
}

TEST(AvroValues, OfTheFilesOfOtherImplementationsAreReadToTheEnd) {
  const std::string data = std::string(ICEBLINK_SOURCE_DIR) + "/../shared/data";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no files of other implementations";
  std::size_t whole_count = 0;
  std::size_t encrypted_count = 0;
  std::size_t refused_count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().extension() != ".avro") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const ReadFile read = read_all(bytes);
    if (read.error.empty()) {
      ++whole_count;
    } else if (read.kind == ErrorKind::kUnsupported) {
      EXPECT_THAT(read.error, HasSubstr("encrypted")) << entry.path();
      ++encrypted_count;
    } else {
      // A snapshot id above 2^63, for which the table's metadata is refused, too.
      EXPECT_THAT(read.error, HasSubstr("snapshot_id': a number of more than 64 bits"))
          << entry.path();
      EXPECT_THAT(entry.path().string(), HasSubstr("equality_delete_extra_column"));
      ++refused_count;
    }
  }
  EXPECT_EQ(whole_count, 64);
  EXPECT_EQ(encrypted_count, 1);
  EXPECT_EQ(refused_count, 2);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
