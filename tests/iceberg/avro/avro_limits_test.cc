// Files that lie: no length, count or ratio takes memory or time that is not in the file, and
// nothing leaks.
#include <avro/allocation.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "tests/iceberg/avro/avro_writer.h"
#include "tests/iceberg/avro/read_values.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kLongMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLongMax = std::numeric_limits<std::int64_t>::max();

/// What avro-c allocates.
struct Allocations {
  std::size_t largest_bytes = 0;
  std::int64_t open_bytes = 0;
};

void* allocate(void* user_data, void* old, std::size_t old_bytes, std::size_t bytes) {
  auto& allocations = *static_cast<Allocations*>(user_data);
  allocations.largest_bytes = std::max(allocations.largest_bytes, bytes);
  allocations.open_bytes += static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(old_bytes);
  if (bytes == 0) {
    std::free(old);
    return nullptr;
  }
  return std::realloc(old, bytes);
}

void* allocate_plainly(void*, void* old, std::size_t, std::size_t bytes) {
  if (bytes != 0) return std::realloc(old, bytes);
  std::free(old);
  return nullptr;
}

class AvroLimits : public ::testing::Test {
 protected:
  AvroLimits() { avro_set_allocator(allocate, &allocations_); }
  ~AvroLimits() override {
    EXPECT_EQ(allocations_.open_bytes, 0);
    EXPECT_LE(allocations_.largest_bytes, 100'000);
    avro_set_allocator(allocate_plainly, nullptr);
  }

  /// The error of a file with one field, "x", of this type.
  ReadFile read_value(std::string_view type, const AvroBytes& value,
                      const avro::ReaderLimits& limits = {}) {
    AvroFile file(R"({"type":"record","name":"r","fields":[{"name":"x","type":)" +
                  std::string(type) + "}]}");
    return read_all(file.add_record(value).bytes(), limits);
  }
  void expect_corrupt(std::string_view type, const AvroBytes& value, const char* what) {
    const ReadFile read = read_value(type, value);
    EXPECT_EQ(read.kind, ErrorKind::kCorrupt) << type;
    EXPECT_THAT(read.error, HasSubstr(std::string("field 'x': ") + what)) << type;
    EXPECT_LE(read.scratch_bytes, 1000);
  }

  Allocations allocations_;
};

TEST_F(AvroLimits, LengthsThatLieTakeNoMemory) {
  for (const char* const type : {"\"string\"", "\"bytes\""}) {
    for (const std::int64_t length : {std::int64_t{3}, std::int64_t{1} << 40, kLongMax}) {
      expect_corrupt(type, AvroBytes().integer(length).append("ab"),
                     "a string or bytes that go beyond the block");
    }
    for (const std::int64_t length : {std::int64_t{-1}, kLongMin}) {
      expect_corrupt(type, AvroBytes().integer(length).append("ab"), "a length out of range");
    }
  }
  expect_corrupt(R"({"type":"fixed","name":"f","size":9223372036854775807})",
                 AvroBytes().append("ab"), "a value that goes beyond the block");
}

TEST_F(AvroLimits, CountsThatLieTakeNoMemory) {
  const char* const array = R"({"type":"array","items":"int"})";
  const char* const map = R"({"type":"map","values":"null"})";
  expect_corrupt(array, AvroBytes().integer(3).integer(1).integer(1),
                 "a number that goes beyond the block");
  expect_corrupt(array, AvroBytes().integer(kLongMin).integer(1), "a count out of range");
  expect_corrupt(array, AvroBytes().integer(-1).integer(-1), "a count out of range");
  expect_corrupt(map, AvroBytes().integer(1'000'000), "a string or bytes that go beyond the block");
  for (const std::int64_t count : {kLongMax, kLongMin + 1, std::int64_t{1} << 40}) {
    const ReadFile read = read_value(array, AvroBytes().integer(count).integer(1));
    EXPECT_EQ(read.kind, ErrorKind::kTooLarge);
    EXPECT_THAT(read.error, HasSubstr("more elements than one array or map may have"));
  }
}

TEST_F(AvroLimits, SizesOfPartsHaveToBeTrue) {
  const AvroBytes two = AvroBytes().integer(1).integer(2);
  for (const std::int64_t bytes : {0, 1, 3, 1000}) {
    expect_corrupt(R"({"type":"array","items":"int"})",
                   AvroBytes().integer(-2).integer(bytes).append(two).end_array(),
                   "a part of an array or a map is not as long as it says");
  }
}

TEST_F(AvroLimits, ElementsWithoutBytesAreNotWithoutEnd) {
  const char* const nulls = R"({"type":"array","items":"null"})";
  EXPECT_THAT(read_value(nulls, AvroBytes().integer(1000).end_array()).error, IsEmpty());
  const ReadFile read = read_value(nulls, AvroBytes().integer(10'000'000).end_array());
  EXPECT_EQ(read.kind, ErrorKind::kTooLarge);
  EXPECT_THAT(read.error, HasSubstr("more values than its bytes pay for"));
  AvroBytes parts;
  for (int i = 0; i < 1000; ++i) parts.integer(10'000);
  EXPECT_THAT(read_value(nulls, parts.end_array()).error, HasSubstr("pay for"));
}

TEST_F(AvroLimits, RecordsWithoutBytesAreNotWithoutEnd) {
  const std::string file =
      AvroFile(R"({"type":"record","name":"r","fields":[]})").add_block(kLongMax, "").bytes();
  auto reader = avro::ContainerReader::open(file);
  ASSERT_TRUE(reader.ok());
  std::size_t count = 0;
  auto record = (*reader)->next();
  for (; record.ok() && *record != nullptr; record = (*reader)->next()) ++count;
  EXPECT_FALSE(record.ok());
  EXPECT_EQ(record.error().kind(), ErrorKind::kTooLarge);
  EXPECT_EQ(count, 1 << 20);
}

TEST_F(AvroLimits, ElementsOfOneArrayAreLimited) {
  avro::ReaderLimits limits;
  limits.elements_max = 3;
  const char* const array = R"({"type":"array","items":"int"})";
  const AvroBytes two = AvroBytes().part({AvroBytes().integer(1), AvroBytes().integer(2)});
  const AvroBytes one = AvroBytes().part({AvroBytes().integer(3)});
  EXPECT_THAT(read_value(array, AvroBytes().append(two).append(one).end_array(), limits).error,
              IsEmpty());
  const ReadFile read = read_value(array, AvroBytes().append(two).append(two).end_array(), limits);
  EXPECT_EQ(read.kind, ErrorKind::kTooLarge);
  EXPECT_THAT(read.error, HasSubstr("more elements"));
}

TEST_F(AvroLimits, InflatedBytesAreLimitedOverAllBlocks) {
  AvroFile file("\"bytes\"", "deflate");
  const AvroBytes zeros = AvroBytes().text(std::string(50'000, '\0'));
  for (int i = 0; i < 3; ++i) file.add_record(zeros).end_block();
  const std::string bytes = file.bytes();
  EXPECT_LT(bytes.size(), 1000);
  avro::ReaderLimits limits;
  limits.inflated_bytes_max = 3 * zeros.bytes().size();
  EXPECT_THAT(read_all(bytes, limits).error, IsEmpty());
  --limits.inflated_bytes_max;
  const ReadFile read = read_all(bytes, limits);
  EXPECT_THAT(read.records, SizeIs(2));
  EXPECT_EQ(read.kind, ErrorKind::kTooLarge);
  EXPECT_THAT(read.error, HasSubstr("more than " + std::to_string(limits.inflated_bytes_max)));
  limits.inflated_bytes_max = 10'000;
  EXPECT_THAT(read_all(bytes, limits).records, IsEmpty());
  EXPECT_LE(read_all(bytes, limits).scratch_bytes, 11'000);
}

TEST_F(AvroLimits, StoredBytesAreLimitedAsInflatedOnesAre) {
  AvroFile file("\"bytes\"");
  file.add_record(AvroBytes().text(std::string(5000, 'x')));
  avro::ReaderLimits limits;
  limits.inflated_bytes_max = 5001;
  EXPECT_EQ(read_all(file.bytes(), limits).kind, ErrorKind::kTooLarge);
}

TEST_F(AvroLimits, TheMemoryOfOneRecordIsLimited) {
  AvroFile file(R"({"type":"array","items":"int"})");
  file.add_record(AvroBytes().integer(1000).append(std::string(1000, '\0')).end_array());
  avro::ReaderLimits limits;
  limits.inflated_bytes_max = 20'000;
  const ReadFile read = read_all(file.bytes(), limits);
  EXPECT_EQ(read.kind, ErrorKind::kTooLarge);
  EXPECT_THAT(read.error, HasSubstr("takes more than 20000 bytes once decoded"));
}

TEST_F(AvroLimits, ValuesThatAreNoneAreRefused) {
  expect_corrupt("\"boolean\"", AvroBytes().boolean(2), "a boolean that is neither 0 nor 1");
  expect_corrupt("\"boolean\"", AvroBytes(), "a value that goes beyond the block");
  expect_corrupt("\"int\"", AvroBytes().integer(std::int64_t{1} << 31),
                 "a number of more than 32 bits");
  expect_corrupt("\"int\"", AvroBytes().integer(-(std::int64_t{1} << 31) - 1),
                 "a number of more than 32 bits");
  const std::string nines(9, '\xff');
  expect_corrupt("\"long\"", AvroBytes().append(nines + '\x02'), "a number of more than 64 bits");
  expect_corrupt("\"long\"", AvroBytes().append(nines + "\xff\x01"),
                 "a number of more than 64 bits");
  expect_corrupt("\"long\"", AvroBytes().append("\xff"), "a number that goes beyond the block");
  expect_corrupt("\"float\"", AvroBytes().append("abc"), "a value that goes beyond the block");
  expect_corrupt("\"double\"", AvroBytes().append("abcdefg"), "a value that goes beyond");
  const char* const symbols = R"({"type":"enum","name":"e","symbols":["A"]})";
  for (const std::int64_t symbol : {std::int64_t{1}, std::int64_t{-1}, kLongMin}) {
    expect_corrupt(symbols, AvroBytes().integer(symbol), "a symbol that the schema does not have");
  }
  for (const std::int64_t branch : {std::int64_t{2}, std::int64_t{-1}, kLongMax}) {
    expect_corrupt(R"(["null","int"])", AvroBytes().branch(branch),
                   "a branch that the union does not have");
  }
  expect_corrupt("[]", AvroBytes().branch(0), "a branch that the union does not have");
}

TEST_F(AvroLimits, AKeyWithANulIsRefused) {
  const ReadFile read = read_value(
      R"({"type":"map","values":"null"})",
      AvroBytes().array({AvroBytes().text("ab"), AvroBytes().text(std::string_view("a\0", 2))}));
  EXPECT_EQ(read.kind, ErrorKind::kUnsupported);
  EXPECT_THAT(read.error, HasSubstr("a map's key with a NUL in it"));
}

/// A file with every kind of value.
std::string file_of_all_kinds(std::string_view codec) {
  AvroFile file(R"({"type":"record","name":"r","fields":[{"name":"a","type":"boolean"},)"
                R"({"name":"b","type":["null",{"type":"array","items":"string"}]},)"
                R"({"name":"c","type":{"type":"map","values":{"type":"fixed","name":"f",)"
                R"("size":2}}},{"name":"d","type":{"type":"enum","name":"e","symbols":["A"]}},)"
                R"({"name":"g","type":"double"},{"name":"h","type":["int","bytes"]}]})",
                codec);
  const AvroBytes strings = AvroBytes()
                                .part({AvroBytes().text("abc"), AvroBytes().text("")})
                                .sized_part({AvroBytes().text("d")})
                                .end_array();
  const AvroBytes map = AvroBytes().array({AvroBytes().text("k").append("xy")});
  for (int i = 0; i < 2; ++i) {
    file.add_record(AvroBytes()
                        .boolean(1)
                        .some_branch()
                        .append(strings)
                        .append(map)
                        .integer(0)
                        .float64(0.5)
                        .branch(1)
                        .text("bytes"));
    file.add_record(
        AvroBytes().boolean(0).null_branch().end_array().integer(0).float64(1).branch(0).integer(
            9));
    file.end_block();
  }
  return file.bytes();
}

TEST_F(AvroLimits, AnyChangedByteGivesValuesOrAnError) {
  avro::ReaderLimits limits;
  limits.inflated_bytes_max = 1 << 20;
  for (const char* const codec : {"null", "deflate"}) {
    const std::string whole = file_of_all_kinds(codec);
    EXPECT_THAT(read_all(whole).records, SizeIs(4)) << read_all(whole).error;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const char change : {'\x01', '\x02', '\x80', '\xff', '\x7f'}) {
        std::string file = whole;
        file[i] = static_cast<char>(file[i] ^ change);
        const ReadFile read = read_all(file, limits);
        EXPECT_NE(read.error.empty() ? ErrorKind::kCorrupt : read.kind, ErrorKind::kInternal)
            << read.error;
        (void)read_all(file, limits, {true, false, true, false, true, false});
      }
    }
  }
}

TEST_F(AvroLimits, AFileThatEndsAnywhereLeaksNothing) {
  const std::string whole = file_of_all_kinds("null");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const ReadFile read = read_all(std::string_view(whole).substr(0, size));
    EXPECT_EQ(read.error.empty() ? ErrorKind::kCorrupt : read.kind, ErrorKind::kCorrupt);
  }
}

}  // namespace
}  // namespace iceblink::iceberg::testing
