// The fingerprint of a metadata file: XXH3-128 of its bytes as stored, before any inflation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace iceblink::iceberg {

/// In XXH3's canonical form (big-endian), so that it prints as every other tool prints it.
using Fingerprint = std::array<std::uint8_t, 16>;

/// Never all zero, which stands for "not verified": a file that hashes to zero has a last byte
/// of 1.
[[nodiscard]] Fingerprint fingerprint_of(std::span<const std::byte> file) noexcept;

}  // namespace iceblink::iceberg
