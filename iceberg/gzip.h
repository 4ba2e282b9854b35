// Gzip (RFC 1952), as metadata files are compressed.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "iceberg/byte_buffer.h"

namespace iceblink::iceberg {

inline constexpr std::size_t kInflatedBytesMaxDefault = std::size_t{512} << 20;

/// Told before memory for text is taken, so that it can be accounted for: how many bytes it takes
/// altogether, and how many the text has at least, unless the data is damaged.
using TextBytesWanted = std::function<void(std::size_t bytes, std::size_t text_bytes_min)>;

/// True for bytes that begin as a gzip member does (1f 8b).
[[nodiscard]] bool is_gzip(std::span<const std::byte> bytes) noexcept;

/// The text of all members, one after the other. kInvalidArgument: damaged, cut short, or followed
/// by bytes that are no member; kTooLarge: more than `inflated_bytes_max`; kOutOfMemory.
[[nodiscard]] Result<ByteBuffer> inflate_gzip(
    std::span<const std::byte> bytes, std::size_t inflated_bytes_max = kInflatedBytesMaxDefault,
    const TextBytesWanted& wanted = {});

/// One member. Fast rather than small. kOutOfMemory.
[[nodiscard]] Result<std::string> compress_gzip(std::string_view text);

}  // namespace iceblink::iceberg
