// The blocks of an Avro object container file, inflated.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "iceberg/avro/byte_cursor.h"
#include "iceberg/avro/container_header.h"
#include "iceberg/byte_buffer.h"

struct libdeflate_decompressor;

namespace iceblink::iceberg::avro {

struct Block {
  std::size_t offset = 0;  // in the file
  std::uint64_t record_count = 0;
  std::string_view data;  // until the next block is read
};

class BlockReader {
 public:
  /// The file outlives it.
  BlockReader(std::string_view file, const ContainerHeader& header,
              std::size_t inflated_bytes_max) noexcept
      : header_(header),
        left_bytes_max_(inflated_bytes_max),
        bytes_max_(inflated_bytes_max),
        file_(file),
        cursor_(file, header.bytes) {}

  /// False: the file ends here. kCorrupt: cut short, a wrong sync marker, a count or size that
  /// cannot be, damaged data; kTooLarge: all blocks together; kOutOfMemory. Throws std::bad_alloc.
  [[nodiscard]] Result<bool> next(Block& block);

  /// Held for data that was inflated.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return inflated_.capacity(); }

 private:
  struct DecompressorFree {
    void operator()(libdeflate_decompressor* decompressor) const noexcept;
  };

  [[nodiscard]] Result<std::string_view> read_data(const Block& block);
  [[nodiscard]] Result<std::string_view> inflate(const Block& block, std::string_view data);
  [[nodiscard]] Error too_large() const;

  const ContainerHeader& header_;
  std::size_t left_bytes_max_;
  const std::size_t bytes_max_;
  const std::string_view file_;
  ByteCursor cursor_;
  ByteBuffer inflated_;
  std::unique_ptr<libdeflate_decompressor, DecompressorFree> decompressor_;
};

}  // namespace iceblink::iceberg::avro
