// What `iceblink backup` puts behind the last page of a store's file, and `iceblinkd --restore`
// compares: the SHA-256 of all before it, by which a bit that flipped in between is seen.
//
//   "iceblink-sha256:"  16 bytes
//   64 hexadecimal digits, in lower case
//
// A store's file alone is a whole number of pages, so that what has a trailer is known by its size.
#pragma once

#include <cstdint>
#include <string_view>

namespace iceblink::shm {

inline constexpr std::string_view kBackupTrailerMagic = "iceblink-sha256:";
inline constexpr std::size_t kBackupTrailerBytes = kBackupTrailerMagic.size() + 64;
/// What the size of a page is a multiple of.
inline constexpr std::uint64_t kBackupPageBytes = 4096;

}  // namespace iceblink::shm
