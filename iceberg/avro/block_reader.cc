#include "iceberg/avro/block_reader.h"

#include <libdeflate.h>

#include <algorithm>
#include <string>

namespace iceblink::iceberg::avro {
namespace {

using Fault = ByteCursor::Fault;

/// Deflate makes at most 1032 bytes of one.
constexpr std::size_t kRatioMax = 1032;
constexpr std::size_t kFirstBytesMin = 4096;
/// Libraries that deflate with zlib leave its checksum, or some of it, behind the data.
constexpr std::size_t kTrailingBytesMax = 4;

Error corrupt(const Block& block, std::string_view what) {
  return {ErrorKind::kCorrupt,
          "the block at byte " + std::to_string(block.offset) + ": " + std::string(what)};
}

}  // namespace

void BlockReader::DecompressorFree::operator()(
    libdeflate_decompressor* decompressor) const noexcept {
  libdeflate_free_decompressor(decompressor);
}

Result<bool> BlockReader::next(Block& block) {
  if (cursor_.at_end()) return false;
  block.offset = cursor_.offset();
  std::int64_t count = 0;
  if (const Fault fault = cursor_.read_long(count); fault != Fault::kNone || count < 0) {
    return corrupt(block, fault == Fault::kCutShort ? "its count is cut short"
                                                    : "its count of records is out of range");
  }
  block.record_count = static_cast<std::uint64_t>(count);
  ICEBLINK_ASSIGN_OR_RETURN(const std::string_view data, read_data(block));
  if (header_.codec == Codec::kNull) {
    if (data.size() > left_bytes_max_) return too_large();
    block.data = data;
  } else {
    ICEBLINK_ASSIGN_OR_RETURN(block.data, inflate(block, data));
  }
  left_bytes_max_ -= block.data.size();
  return true;
}

/// As stored, with the marker behind it.
Result<std::string_view> BlockReader::read_data(const Block& block) {
  std::string_view data;
  Fault fault = cursor_.read_bytes(data);
  if (fault == Fault::kTooLong) return corrupt(block, "its size is out of range");
  const std::size_t sync_begin = cursor_.offset();
  if (fault == Fault::kNone) fault = cursor_.skip(kSyncBytes);
  if (fault != Fault::kNone) {
    return corrupt(block, "is cut short: the file ends at byte " + std::to_string(file_.size()));
  }
  if (file_.substr(sync_begin, kSyncBytes) != header_.sync) {
    return corrupt(block, "a wrong sync marker at byte " + std::to_string(sync_begin));
  }
  return data;
}

Error BlockReader::too_large() const {
  return {ErrorKind::kTooLarge,
          "the blocks take more than " + std::to_string(bytes_max_) + " bytes together, inflated"};
}

Result<std::string_view> BlockReader::inflate(const Block& block, std::string_view data) {
  if (data.empty()) return data;
  if (decompressor_ == nullptr) {
    decompressor_.reset(libdeflate_alloc_decompressor());
    if (decompressor_ == nullptr) return {ErrorKind::kOutOfMemory, "out of memory"};
  }
  const std::size_t ratio_room =
      data.size() > SIZE_MAX / kRatioMax ? SIZE_MAX : data.size() * kRatioMax;
  const std::size_t room_max = std::min(left_bytes_max_, ratio_room);
  std::size_t room = std::max({inflated_.capacity(), data.size() * 4, kFirstBytesMin});
  while (true) {
    room = std::min(room, room_max);
    if (room > inflated_.capacity()) {
      inflated_ = ByteBuffer();
      inflated_ = ByteBuffer(room);
    }
    inflated_.resize(room);
    std::size_t taken = 0;
    std::size_t made = 0;
    const auto result = libdeflate_deflate_decompress_ex(
        decompressor_.get(), data.data(), data.size(), inflated_.data(), room, &taken, &made);
    if (result == LIBDEFLATE_SUCCESS) {
      if (data.size() - taken > kTrailingBytesMax) {
        return corrupt(block, "bytes follow its deflated data");
      }
      inflated_.resize(made);
      return inflated_.view();
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE) {
      return corrupt(block, "its deflated data is damaged or cut short");
    }
    if (room == room_max) return too_large();
    room = room > SIZE_MAX / 2 ? SIZE_MAX : room * 2;
  }
}

}  // namespace iceblink::iceberg::avro
