#include "iceberg/gzip.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace iceblink::iceberg {
namespace {

/// Deflate makes at most 1032 bytes of one: what claims more is lying.
constexpr std::size_t kRatioMax = 1032;
constexpr std::size_t kMemberBytesMin = 18;

struct DecompressorFree {
  void operator()(libdeflate_decompressor* decompressor) const noexcept {
    libdeflate_free_decompressor(decompressor);
  }
};
struct CompressorFree {
  void operator()(libdeflate_compressor* compressor) const noexcept {
    libdeflate_free_compressor(compressor);
  }
};
using Decompressor = std::unique_ptr<libdeflate_decompressor, DecompressorFree>;

/// The size that the last four bytes claim for the last member, modulo 2^32.
std::size_t claimed_bytes(std::span<const std::byte> bytes) noexcept {
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    size |= std::to_integer<std::uint32_t>(bytes[bytes.size() - 4 + i]) << (8 * i);
  }
  return size;
}

Error too_large(std::size_t inflated_bytes_max) {
  return {ErrorKind::kTooLarge,
          "gzip: more than " + std::to_string(inflated_bytes_max) + " bytes once inflated"};
}

Error out_of_memory() {
  return {ErrorKind::kOutOfMemory, "gzip: out of memory"};
}

/// While it grows, the old memory and the new.
void grow(ByteBuffer& out, std::size_t size, std::size_t text_bytes_min,
          const TextBytesWanted& wanted) {
  if (wanted && size > out.capacity()) wanted(size + out.capacity(), text_bytes_min);
  out.resize(size);
}

/// Appends one member to `out`, and returns its compressed size.
Result<std::size_t> inflate_member(libdeflate_decompressor* decompressor,
                                   std::span<const std::byte> bytes, std::size_t guess,
                                   std::size_t inflated_bytes_max, const TextBytesWanted& wanted,
                                   ByteBuffer& out) {
  const std::size_t begin = out.size();
  const std::size_t room_max = inflated_bytes_max - begin;
  // Of many members each takes what is left, and memory grows by parts of itself.
  std::size_t made_min = std::min(guess, room_max);
  std::size_t room = std::min(std::max(guess, out.capacity() - begin), room_max);
  while (true) {
    grow(out, begin + room, begin + made_min, wanted);
    std::size_t taken = 0;
    std::size_t made = 0;
    const auto result = libdeflate_gzip_decompress_ex(decompressor, bytes.data(), bytes.size(),
                                                      out.data() + begin, room, &taken, &made);
    if (result == LIBDEFLATE_SUCCESS) {
      out.resize(begin + made);
      return taken;
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE) {
      return {ErrorKind::kInvalidArgument, "gzip: the data is damaged or cut short"};
    }
    if (room == room_max) return too_large(inflated_bytes_max);
    made_min = room;
    room = std::min(std::max({room * 2, out.capacity() / 2, std::size_t{4096}}), room_max);
  }
}

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

Result<ByteBuffer> inflate_gzip(std::span<const std::byte> bytes, std::size_t inflated_bytes_max,
                                const TextBytesWanted& wanted) try {
  const Decompressor decompressor(libdeflate_alloc_decompressor());
  if (decompressor == nullptr) return out_of_memory();
  ByteBuffer out;
  do {
    if (!is_gzip(bytes)) {
      const char* const what =
          out.size() == 0 ? "gzip: no member" : "gzip: bytes after the last member";
      return {ErrorKind::kInvalidArgument, what};
    }
    if (bytes.size() < kMemberBytesMin) {
      return {ErrorKind::kInvalidArgument, "gzip: the data is cut short"};
    }
    // What the end claims is of the last member, which most often is the only one.
    const bool is_first = out.size() == 0;
    const std::size_t guess =
        is_first ? std::min(claimed_bytes(bytes), bytes.size() * kRatioMax) : 0;
    ICEBLINK_ASSIGN_OR_RETURN(
        const std::size_t taken,
        inflate_member(decompressor.get(), bytes, guess, inflated_bytes_max, wanted, out));
    bytes = bytes.subspan(taken);
  } while (!bytes.empty());
  return out;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::string> compress_gzip(std::string_view text) try {
  constexpr int kLevel = 1;
  const std::unique_ptr<libdeflate_compressor, CompressorFree> compressor(
      libdeflate_alloc_compressor(kLevel));
  if (!compressor) return out_of_memory();
  std::string out;
  out.resize(libdeflate_gzip_compress_bound(compressor.get(), text.size()));
  out.resize(
      libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), out.data(), out.size()));
  return out;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace iceblink::iceberg
