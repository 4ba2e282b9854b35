// Avro files: any bytes, and files made of a schema and the data of a block. Whatever is read of
// one is read again with other codecs, blocks and fields, and has to be the same.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/avro/block_reader.h"
#include "iceberg/avro/container_header.h"
#include "iceberg/avro/container_reader.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/iceberg/avro/avro_writer.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kBytes;

namespace {

using iceberg::avro::ContainerReader;
using iceberg::avro::Kind;
using iceberg::avro::Value;
using iceberg::testing::AvroBytes;
using iceberg::testing::AvroFile;

constexpr std::size_t kInflatedBytesMax = 1 << 20;
constexpr iceberg::avro::ReaderLimits kLimits = {kInflatedBytesMax, 1 << 12};
/// Records without bytes are many.
constexpr std::size_t kRecordsMax = 2000;

/// Of all that is in a value; what it views is looked at, byte by byte.
std::uint64_t hash_of(const Value& value) {
  std::uint64_t hash = static_cast<std::uint64_t>(value.kind) + 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t part) { hash = (hash ^ part) * 0x100000001b3; };
  switch (value.kind) {
    case Kind::kNull:
      break;
    case Kind::kBoolean:
    case Kind::kInt:
    case Kind::kLong:
    case Kind::kEnum:
      add(static_cast<std::uint64_t>(value.integer));
      break;
    case Kind::kFloat:
    case Kind::kDouble:
      add(value.number == value.number ? static_cast<std::uint64_t>(value.number > 0) : 2);
      break;
    case Kind::kBytes:
    case Kind::kString:
    case Kind::kFixed:
      for (const char c : value.bytes) add(static_cast<unsigned char>(c));
      add(value.bytes.size());
      break;
    case Kind::kRecord:
    case Kind::kArray:
    case Kind::kMap:
      for (const Value& child : value.children) add(hash_of(child));
      add(value.children.size());
      break;
    case Kind::kUnion:
      fuzz_check(false, "a value is of a branch, and no union");
  }
  return hash;
}

struct Read {
  std::vector<std::uint64_t> records;  // their hashes; up to the end, kRecordsMax or an error
  std::vector<std::vector<std::uint64_t>> fields;  // of each record, where the root is one
  bool failed = false;
  ErrorKind kind = ErrorKind::kInternal;
};

void check_error(const Error& error) {
  const auto kind = error.kind();
  fuzz_check(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported ||
                 kind == ErrorKind::kTooLarge,
             "an error is of a kind that is promised", error.message());
  fuzz_check(!error.message().empty(), "an error says what is wrong");
}

Read read_file(std::string_view file, const std::vector<bool>& wanted = {}) {
  Read read;
  const auto fail = [&](const Error& error) {
    check_error(error);
    read.failed = true;
    read.kind = error.kind();
  };
  const auto opened = ContainerReader::open(file, kLimits);
  if (!opened) {
    fail(opened.error());
    return read;
  }
  ContainerReader& reader = **opened;
  if (!wanted.empty()) reader.project(wanted);
  while (read.records.size() < kRecordsMax) {
    const auto record = reader.next();
    fuzz_check(reader.scratch_bytes() <= 4 * kInflatedBytesMax + (1 << 24),
               "memory is limited as the bytes are");
    if (!record) {
      fail(record.error());
      const auto again = reader.next();
      fuzz_check(!again && again.error().message() == record.error().message(),
                 "an error stays as it is");
      break;
    }
    if (*record == nullptr) break;
    read.records.push_back(hash_of(**record));
    if ((*record)->kind != Kind::kRecord) continue;
    auto& fields = read.fields.emplace_back();
    for (const Value& field : (*record)->children) fields.push_back(hash_of(field));
  }
  return read;
}

/// Half of the fields are the same when they are read without the others.
void check_projected(std::string_view file, const Read& whole) {
  if (whole.fields.empty() || (whole.failed && whole.kind == ErrorKind::kTooLarge)) return;
  const std::size_t field_count = whole.fields[0].size();
  for (std::size_t first = 0; first < 2; ++first) {
    std::vector<bool> wanted(field_count);
    for (std::size_t i = first; i < field_count; i += 2) wanted[i] = true;
    if (wanted.empty()) return;
    const Read projected = read_file(file, wanted);
    fuzz_check(projected.failed == whole.failed && projected.fields.size() == whole.fields.size(),
               "fields that are not wanted are checked");
    const std::uint64_t null_hash = hash_of(Value{});
    for (std::size_t record = 0; record < whole.fields.size(); ++record) {
      for (std::size_t i = 0; i < field_count; ++i) {
        fuzz_check(projected.fields[record][i] == (wanted[i] ? whole.fields[record][i] : null_hash),
                   "a wanted field has its value, and others are null");
      }
    }
  }
}

/// The same blocks with another codec hold the same records.
void check_recoded(std::string_view file, const Read& whole) {
  const auto header = iceberg::avro::read_header(file);
  if (!header) return;
  iceberg::avro::BlockReader blocks(file, *header, kInflatedBytesMax);
  const bool is_deflated = header->codec == iceberg::avro::Codec::kDeflate;
  AvroFile recoded(header->schema, is_deflated ? "null" : "deflate");
  iceberg::avro::Block block;
  while (true) {
    const auto is_there = blocks.next(block);
    if (!is_there) return;
    if (!*is_there) break;
    recoded.add_block(
        static_cast<std::int64_t>(block.record_count),
        is_deflated ? std::string(block.data) : iceberg::testing::deflated(block.data));
  }
  const Read again = read_file(recoded.bytes());
  fuzz_check(again.records == whole.records && again.failed == whole.failed,
             "the codec changes nothing");
}

void check_file(std::string_view file) {
  const Read whole = read_file(file);
  check_projected(file, whole);
  check_recoded(file, whole);
}

/// Of a byte that says how many records, a schema, a line's end, and a block's data.
std::string made_file(std::string_view input) {
  const std::int64_t count = static_cast<unsigned char>(input[0]);
  input.remove_prefix(1);
  const std::size_t end = std::min(input.find('\n'), input.size());
  AvroFile file(input.substr(0, end));
  input.remove_prefix(std::min(end + 1, input.size()));
  return file.add_block(count, input).bytes();
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool is_file = input.empty() || input[0] == 'O' || input[0] == 'A';
  if (is_file) {
    iceblink::test::check_file(input);
  } else {
    iceblink::test::check_file(iceblink::test::made_file(input));
  }
  return 0;
}
