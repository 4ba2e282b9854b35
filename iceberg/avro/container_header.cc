#include "iceberg/avro/container_header.h"

#include <algorithm>
#include <string>

#include "iceberg/avro/byte_cursor.h"
#include "iceberg/avro/shown.h"

namespace iceblink::iceberg::avro {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;
using Fault = ByteCursor::Fault;

constexpr std::string_view kMagic("Obj\x01", 4);
constexpr std::string_view kEncryptedMagic("AGS1");
constexpr std::size_t kEntriesMax = 10'000;

Error corrupt(std::string_view what, std::size_t offset) {
  return {ErrorKind::kCorrupt,
          "the header: " + std::string(what) + " at byte " + std::to_string(offset)};
}

Error corrupt(Fault fault, std::string_view what, std::size_t offset) {
  return corrupt(std::string(what) + (fault == Fault::kCutShort ? " cut short" : " out of range"),
                 offset);
}

/// The count of one part of the map, at whose end it is 0.
Result<std::uint64_t> read_count(ByteCursor& cursor) {
  const std::size_t begin = cursor.offset();
  std::int64_t count = 0;
  if (const Fault fault = cursor.read_long(count); fault != Fault::kNone) {
    return corrupt(fault, "a count", begin);
  }
  if (count < 0) {
    // With the part's size, for who passes over it.
    std::int64_t bytes = 0;
    const Fault fault = cursor.read_long(bytes);
    if (fault != Fault::kNone) return corrupt(fault, "a size", begin);
    if (count == INT64_MIN || bytes < 0) return corrupt("a count out of range", begin);
    count = -count;
  }
  return static_cast<std::uint64_t>(count);
}

Status read_entries(ByteCursor& cursor, std::vector<Entry>& entries) {
  while (true) {
    ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t count, read_count(cursor));
    if (count == 0) return Ok{};
    for (std::uint64_t i = 0; i < count; ++i) {
      Entry entry;
      const std::size_t begin = cursor.offset();
      Fault fault = cursor.read_bytes(entry.first);
      if (fault == Fault::kNone) fault = cursor.read_bytes(entry.second);
      if (fault != Fault::kNone) return corrupt(fault, "an entry of the metadata", begin);
      if (entries.size() == kEntriesMax) {
        return {ErrorKind::kTooLarge,
                "the header: more than " + std::to_string(kEntriesMax) + " entries of metadata"};
      }
      entries.push_back(entry);
    }
  }
}

Status read_codec(ContainerHeader& header) {
  const auto codec = header.find("avro.codec");
  if (!codec || codec->empty() || *codec == "null") return Ok{};
  if (*codec != "deflate") {
    return {ErrorKind::kUnsupported, "compressed by the codec " + shown(*codec)};
  }
  header.codec = Codec::kDeflate;
  return Ok{};
}

}  // namespace

std::optional<std::string_view> ContainerHeader::find(std::string_view key) const noexcept {
  const auto found = std::ranges::lower_bound(metadata, key, {}, &Entry::first);
  if (found == metadata.end() || found->first != key) return std::nullopt;
  return found->second;
}

Result<ContainerHeader> read_header(std::string_view file) {
  if (file.starts_with(kEncryptedMagic)) {
    return {ErrorKind::kUnsupported, "the file is encrypted"};
  }
  if (!file.starts_with(kMagic)) {
    return {ErrorKind::kCorrupt, file.empty() ? "an empty file" : "not an Avro file"};
  }
  ContainerHeader header;
  ByteCursor cursor(file, kMagic.size());
  ICEBLINK_RETURN_IF_ERROR(read_entries(cursor, header.metadata));
  std::ranges::sort(header.metadata, {}, &Entry::first);
  const auto repeated = std::ranges::adjacent_find(header.metadata, {}, &Entry::first);
  if (repeated != header.metadata.end()) {
    return {ErrorKind::kCorrupt,
            "the header: two entries of metadata named " + shown(repeated->first)};
  }
  const std::size_t sync_begin = cursor.offset();
  if (cursor.skip(kSyncBytes) != Fault::kNone) {
    return corrupt(Fault::kCutShort, "the sync marker", sync_begin);
  }
  header.sync = file.substr(sync_begin, kSyncBytes);
  header.bytes = cursor.offset();
  ICEBLINK_RETURN_IF_ERROR(read_codec(header));
  const auto schema = header.find("avro.schema");
  if (!schema) return {ErrorKind::kCorrupt, "the header: no avro.schema"};
  header.schema = *schema;
  return header;
}

}  // namespace iceblink::iceberg::avro
