// Object container files: headers and blocks, whole and damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "tests/iceberg/avro/avro_writer.h"
#include "tests/iceberg/avro/read_values.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::int64_t kLongMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLongMax = std::numeric_limits<std::int64_t>::max();

void expect_error(const std::string& file, ErrorKind kind, const char* what) {
  const ReadFile read = read_all(file);
  EXPECT_THAT(read.error, HasSubstr(what));
  EXPECT_EQ(read.kind, kind) << read.error;
}

void expect_corrupt(const std::string& file, const char* what) {
  expect_error(file, ErrorKind::kCorrupt, what);
}

/// A file of two blocks with two and one numbers.
AvroFile numbers(std::string_view codec = "null") {
  AvroFile file("\"long\"", codec);
  file.add_record(AvroBytes().integer(1)).add_record(AvroBytes().integer(1'000'000)).end_block();
  file.add_record(AvroBytes().integer(3)).end_block();
  return file;
}

TEST(AvroContainer, GivesTheMetadataOfItsHeader) {
  AvroFile file("\"int\"");
  file.add_metadata("format-version", "2").add_metadata("a", "").add_metadata("z", "\xff");
  const std::string bytes = file.bytes();
  const auto reader = avro::ContainerReader::open(bytes);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->metadata("format-version"), "2");
  EXPECT_EQ((*reader)->metadata("a"), "");
  EXPECT_EQ((*reader)->metadata("z"), "\xff");
  EXPECT_EQ((*reader)->metadata("avro.schema"), "\"int\"");
  EXPECT_EQ((*reader)->metadata("format"), std::nullopt);
  EXPECT_EQ((*reader)->schema().kind, avro::Kind::kInt);
}

TEST(AvroContainer, TakesAHeaderInSeveralParts) {
  const std::string header = AvroBytes()
                                 .append(AvroFile::kMagic)
                                 .sized_part({AvroBytes().text("avro.codec").text("null")})
                                 .part({AvroBytes().text("avro.schema").text("\"int\"")})
                                 .end_array()
                                 .append(AvroFile::kSync)
                                 .bytes();
  const ReadFile read = read_all(header);
  EXPECT_THAT(read.error, IsEmpty());
  EXPECT_THAT(read.records, IsEmpty());
}

TEST(AvroContainer, RefusesWhatIsNoAvroFile) {
  expect_corrupt("", "an empty file");
  expect_corrupt("Obj", "not an Avro file");
  expect_corrupt("Obj\x02 and more", "not an Avro file");
  expect_corrupt("{\"format-version\":2}", "not an Avro file");
}

TEST(AvroContainer, RefusesAnEncryptedFile) {
  expect_error("AGS1\x01\x02\x03", ErrorKind::kUnsupported, "the file is encrypted");
}

TEST(AvroContainer, RefusesOtherCodecsByName) {
  for (const char* const codec : {"snappy", "zstandard", "bzip2", "xz", "Deflate"}) {
    expect_error(AvroFile("\"int\"", codec).bytes(), ErrorKind::kUnsupported,
                 ("compressed by the codec '" + std::string(codec) + '\'').c_str());
  }
}

std::string file_of_header(const AvroBytes& map) {
  return AvroBytes().append(AvroFile::kMagic).append(map).append(AvroFile::kSync).bytes();
}

TEST(AvroContainer, RefusesADamagedHeader) {
  expect_corrupt(file_of_header(AvroBytes().end_array()), "the header: no avro.schema");
  expect_corrupt(file_of_header(AvroBytes().integer(kLongMin).integer(1)),
                 "the header: a count out of range at byte 4");
  expect_corrupt(file_of_header(AvroBytes().integer(-1).integer(-1)), "a count out of range");
  expect_corrupt(file_of_header(AvroBytes().integer(kLongMax)), "an entry of the metadata");
  expect_corrupt(file_of_header(AvroBytes().integer(1).integer(-7)),
                 "an entry of the metadata out of range at byte 5");
  expect_corrupt(file_of_header(AvroBytes().integer(1).integer(kLongMax)),
                 "an entry of the metadata cut short at byte 5");
  expect_corrupt(file_of_header(AvroBytes().append(std::string(11, '\xff'))),
                 "a count out of range at byte 4");
  expect_corrupt(AvroFile("\"int\"").add_metadata("a", "").add_metadata("a", "").bytes(),
                 "two entries of metadata named 'a'");
  expect_corrupt(AvroFile("\"in\"").bytes(), "the header: avro.schema: 'in' is not the name");
  expect_error(
      file_of_header(AvroBytes().integer(20'000).append(std::string(40'000, '\0')).end_array()),
      ErrorKind::kTooLarge, "more than 10000 entries");
}

TEST(AvroContainer, RefusesAWrongSyncMarker) {
  AvroFile file = numbers();
  std::string bytes = file.bytes();
  bytes[bytes.size() - 1] ^= 1;
  const ReadFile read = read_all(bytes);
  EXPECT_THAT(read.records, SizeIs(2));
  EXPECT_EQ(read.kind, ErrorKind::kCorrupt);
  const std::string offset = std::to_string(bytes.size() - AvroFile::kSync.size());
  EXPECT_THAT(read.error, HasSubstr("a wrong sync marker at byte " + offset));
}

TEST(AvroContainer, RefusesCountsAndSizesOfBlocksThatCannotBe) {
  const auto with = [](const AvroBytes& block) {
    return AvroFile("\"long\"").append(block.bytes()).bytes();
  };
  expect_corrupt(with(AvroBytes().integer(-1).text("")), "its count of records is out of range");
  expect_corrupt(with(AvroBytes().append(std::string(11, '\xff'))), "is out of range");
  expect_corrupt(with(AvroBytes().integer(1).integer(-1)), "its size is out of range");
  expect_corrupt(with(AvroBytes().integer(1).integer(kLongMax)), "is cut short");
  expect_corrupt(with(AvroBytes().integer(1).text("\x02")), "is cut short");
}

TEST(AvroContainer, RefusesBlocksThatRecordsDoNotFill) {
  expect_corrupt(AvroFile("\"long\"").add_block(1, "\x02\x04\x06").bytes(),
                 "2 bytes behind its last record");
  expect_corrupt(AvroFile("\"long\"").add_block(0, "\x02").bytes(),
                 "1 bytes behind its last record");
  expect_corrupt(AvroFile("\"long\"").add_block(3, "\x02\x04").bytes(),
                 "record 2: a number that goes beyond the block, at byte 2");
}

TEST(AvroContainer, TakesBlocksWithoutRecords) {
  for (const char* const codec : {"null", "deflate"}) {
    AvroFile file("\"long\"", codec);
    file.end_block().add_block(0, "").add_record(AvroBytes().integer(5)).end_block().end_block();
    const ReadFile read = read_all(file.bytes());
    EXPECT_THAT(read.error, IsEmpty());
    EXPECT_THAT(read.records, ElementsAre("5"));
  }
}

TEST(AvroContainer, TakesDeflatedDataWithTheRestOfAChecksumBehindIt) {
  const std::string data = deflated(AvroBytes().integer(7).bytes());
  for (std::size_t count = 0; count <= 4; ++count) {
    const ReadFile read = read_all(
        AvroFile("\"long\"", "deflate").add_block(1, data + std::string(count, 'c')).bytes());
    EXPECT_THAT(read.records, ElementsAre("7")) << read.error;
  }
  expect_corrupt(AvroFile("\"long\"", "deflate").add_block(1, data + "12345").bytes(),
                 "bytes follow its deflated data");
}

TEST(AvroContainer, RefusesDamagedDeflatedData) {
  const std::string data = deflated(std::string(1000, '\x02'));
  const auto with = [](std::string_view stored) {
    return AvroFile("\"long\"", "deflate").add_block(1000, stored).bytes();
  };
  EXPECT_THAT(read_all(with(data)).records, SizeIs(1000));
  expect_corrupt(with(data.substr(0, data.size() - 1)), "damaged or cut short");
  expect_corrupt(with("\x07"), "damaged or cut short");
  expect_corrupt(with(""), "beyond the block");
}

TEST(AvroContainer, CutShortAnywhereIsAnErrorOrEndsAtABlock) {
  for (const char* const codec : {"null", "deflate"}) {
    AvroFile first("\"long\"", codec);
    first.add_record(AvroBytes().integer(1)).add_record(AvroBytes().integer(1'000'000));
    AvroFile both = numbers(codec);
    const std::string file = both.bytes();
    const std::size_t header_bytes = first.header().size();
    const std::size_t first_bytes = first.bytes().size();
    for (std::size_t size = 0; size < file.size(); ++size) {
      const ReadFile read = read_all(std::string_view(file).substr(0, size));
      EXPECT_THAT(read.records, SizeIs(size < first_bytes ? 0 : 2)) << size;
      if (size == header_bytes || size == first_bytes) {
        EXPECT_THAT(read.error, IsEmpty()) << size;
      } else {
        EXPECT_EQ(read.kind, ErrorKind::kCorrupt) << size;
        EXPECT_THAT(read.error, Not(IsEmpty())) << size;
      }
    }
    EXPECT_THAT(read_all(file).records, SizeIs(3));
  }
}

TEST(AvroContainer, SaysTheSameErrorAgain) {
  AvroFile file = numbers();
  std::string bytes = file.bytes();
  bytes.pop_back();
  auto reader = avro::ContainerReader::open(bytes);
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE((*reader)->next().ok());
  ASSERT_TRUE((*reader)->next().ok());
  const auto first = (*reader)->next();
  ASSERT_FALSE(first.ok());
  EXPECT_THAT(first.error().message(), StartsWith("the block at byte "));
  for (int i = 0; i < 2; ++i) {
    const auto again = (*reader)->next();
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().kind(), first.error().kind());
    EXPECT_EQ(again.error().message(), first.error().message());
  }
}

}  // namespace
}  // namespace iceblink::iceberg::testing
