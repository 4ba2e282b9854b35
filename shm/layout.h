// The bytes of the segment: the contract between the daemon and every reader process.
// docs/segment-format.md describes every byte; this header is its machine-readable half.
//
// A runtime directory holds one control page and one arena (two for the moment of a flip):
//
//   control          4096 bytes: static header | root word | heartbeat
//   arena.<epoch>    ArenaHeader (4096) | index slots | block sums | records ... free room
//
// Invariants:
//  - Every field above a `checksum` is constant once the file is visible; the checksum covers it.
//  - What changes after that is naturally aligned, at most 8 bytes wide, and accessed atomically.
//  - Readers never write: their mappings are PROT_READ.
//  - All integers have the host's byte order; `byte_order` says which that was.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "shm/atomic_word.h"

namespace iceblink::shm {

inline constexpr std::uint64_t kControlMagic = 0x4c54434b4e4c4249;  // "IBLNKCTL"
inline constexpr std::uint64_t kArenaMagic = 0x4e52414b4e4c4249;    // "IBLNKARN"
inline constexpr std::uint32_t kLayoutVersion = 1;
inline constexpr std::uint32_t kByteOrderMark = 0x01020304;
/// Feature bits a reader must know to read at all. None is defined in layout 1.
inline constexpr std::uint32_t kKnownRequiredFeatures = 0;

inline constexpr std::size_t kControlBytes = 4096;
inline constexpr std::size_t kArenaHeaderBytes = 4096;
inline constexpr const char* kControlName = "control";
inline constexpr const char* kArenaPrefix = "arena.";
inline constexpr const char* kSocketName = "catalog.sock";
inline constexpr const char* kLockName = "daemon.lock";

using Id = std::array<std::uint8_t, 16>;

/// {arena epoch: high 32 bits, low half of the generation: low 32 bits}. Loaded and stored whole.
using RootWord = std::uint64_t;
/// This control page was replaced on purpose: attach anew.
inline constexpr RootWord kRetired = ~RootWord{0};
inline constexpr std::uint32_t kEpochMax = 0xfffffffe;

[[nodiscard]] constexpr std::uint32_t epoch_of(RootWord root) noexcept {
  return static_cast<std::uint32_t>(root >> 32);
}
[[nodiscard]] constexpr RootWord make_root(std::uint32_t epoch, std::uint64_t generation) noexcept {
  return (RootWord{epoch} << 32) | (generation & 0xffffffff);
}
/// The full generation of `root` in an arena whose oldest readable generation is `base`.
[[nodiscard]] constexpr std::uint64_t generation_of(RootWord root, std::uint64_t base) noexcept {
  return base + static_cast<std::uint32_t>(static_cast<std::uint32_t>(root) -
                                           static_cast<std::uint32_t>(base));
}
/// An arena is replaced before it has seen this many generations, so that generation_of is exact.
inline constexpr std::uint64_t kGenerationsPerArenaMax = std::uint64_t{1} << 31;

struct ControlPage {
  Atomic<std::uint64_t> magic;  // stored last
  std::uint32_t layout_version;
  std::uint32_t byte_order;
  std::uint32_t features_required;
  std::uint32_t features_optional;
  Id control_id;  // random; every arena made for this page carries it
  Id store_uuid;
  std::uint64_t checksum;  // XXH3-64 of the bytes between magic and here
  std::uint8_t reserved_0[64];

  alignas(64) Atomic<RootWord> root;

  /// CLOCK_MONOTONIC nanoseconds of the daemon's last sign of life; for showing health only.
  alignas(64) Atomic<std::uint64_t> heartbeat_ns;
  /// 0 after an orderly stop.
  Atomic<std::uint32_t> daemon_pid;
  std::uint8_t reserved_1[kControlBytes - 204];
};
static_assert(sizeof(ControlPage) == kControlBytes);
static_assert(offsetof(ControlPage, checksum) == 56);
static_assert(offsetof(ControlPage, root) == 128);
static_assert(offsetof(ControlPage, heartbeat_ns) == 192);

/// Zero as long as no feature uses them: [from, to).
inline constexpr std::pair<std::size_t, std::size_t> kControlReserved[] = {
    {64, 128}, {136, 192}, {204, kControlBytes}};

/// Heads of the chains that list a namespace's children: offsets of records, 0 = none. Each key
/// is linked by its first record in the arena, newest first.
struct ChildHeads {
  Atomic<std::uint64_t> tables;      // tables and views
  Atomic<std::uint64_t> namespaces;  // direct child namespaces
};
static_assert(sizeof(ChildHeads) == 16);

struct ArenaHeader {
  std::uint64_t magic;
  std::uint32_t layout_version;
  std::uint32_t byte_order;
  std::uint32_t features_required;
  std::uint32_t features_optional;
  Id control_id;
  Id store_uuid;
  std::uint64_t incarnation;  // of the store; another one after a restore from backup
  std::uint32_t epoch;
  std::uint32_t daemon_pid;        // who built this arena
  std::uint64_t daemon_started_s;  // seconds since 1970-01-01T00:00:00Z, for showing
  std::uint64_t base_generation;   // of the base copy: the oldest generation readable here
  std::uint64_t hash_seed;
  std::uint64_t file_bytes;
  std::uint64_t index_offset;
  std::uint64_t index_capacity;  // slots
  std::uint64_t sums_offset;     // one 64-bit sum per block of kSlotsPerBlock slots
  std::uint64_t records_offset;
  std::uint64_t base_copy_end;  // records below are the base copy, those above are later changes
  std::array<char, 32> daemon_version;  // NUL-padded text
  std::uint64_t checksum;               // XXH3-64 of everything above

  /// Records below are complete and belong to generations up to published_generation.
  alignas(64) Atomic<std::uint64_t> published_tail;
  /// {16-bit check, 48-bit offset}: bytes between published_tail and this may be in the writing.
  Atomic<std::uint64_t> append_limit;
  Atomic<std::uint64_t> published_generation;
  /// Live at published_generation; for showing only.
  Atomic<std::uint64_t> table_count;
  Atomic<std::uint64_t> view_count;
  Atomic<std::uint64_t> namespace_count;

  alignas(64) ChildHeads root_children;
  std::uint8_t reserved[kArenaHeaderBytes - 272];
};
static_assert(sizeof(ArenaHeader) == kArenaHeaderBytes);
static_assert(offsetof(ArenaHeader, checksum) == 176);
static_assert(offsetof(ArenaHeader, published_tail) == 192);
static_assert(offsetof(ArenaHeader, root_children) == 256);

/// Index slot: {tag: 16 bits | record offset: 48 bits}, 0 = empty. Never emptied, never moved.
/// A probe starts at home_slot(hash) and goes up by one, wrapping, until an empty slot.
using Slot = std::uint64_t;
inline constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << 48) - 1;
inline constexpr std::uint64_t kSlotsPerBlock = 512;

[[nodiscard]] constexpr std::uint16_t tag_of(std::uint64_t hash) noexcept {
  return static_cast<std::uint16_t>(hash);
}
[[nodiscard]] constexpr Slot make_slot(std::uint64_t hash, std::uint64_t offset) noexcept {
  return (std::uint64_t{tag_of(hash)} << 48) | offset;
}
[[nodiscard]] constexpr std::uint64_t home_slot(std::uint64_t hash,
                                                std::uint64_t capacity) noexcept {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * capacity) >> 64);
}

enum class RecordKind : std::uint8_t {
  kTable = 1,
  kView = 2,
  kNamespace = 3,
  kTombstone = 4,           // of a table or view
  kNamespaceTombstone = 5,  // tombstones keep the class of their key
};
[[nodiscard]] constexpr bool is_namespace_class(RecordKind kind) noexcept {
  return kind == RecordKind::kNamespace || kind == RecordKind::kNamespaceTombstone;
}
[[nodiscard]] constexpr bool is_tombstone(RecordKind kind) noexcept {
  return kind == RecordKind::kTombstone || kind == RecordKind::kNamespaceTombstone;
}

inline constexpr std::uint64_t kRecordAlignment = 8;

/// One version of one key; immutable once its slot is stored. The key's bytes follow the fields
/// (at kRecordKeyOffset), then the location's; then, for the first record of a namespace, padding
/// to 8 and a ChildHeads. The cold fields stand first, so that what a lookup reads is contiguous
/// with the key.
struct Record {
  Id table_uuid;                // zero when unknown
  Id metadata_fingerprint;      // XXH3-128 of the metadata file as stored; zero = unverified
  std::uint64_t location_hash;  // XXH3-64 of the location; for namespaces: offset of ChildHeads
  std::uint64_t generation;     // of the change that made this version
  std::uint32_t checksum;       // low half of XXH3-64 of the record but this field and ChildHeads
  std::uint32_t previous;       // in units of 8 bytes: the older version of the key, 0 = none
  std::uint32_t next_sibling;   // in units of 8 bytes; used in a key's first record only
  std::uint16_t key_bytes;
  std::uint16_t location_bytes;
  RecordKind kind;
  std::uint8_t format_version;  // of the table metadata; 0 = unknown
  std::uint8_t level_count;     // of the key's namespace, modulo 256: makes a match by parts exact
};
inline constexpr std::size_t kRecordKeyOffset = 67;
static_assert(offsetof(Record, level_count) == 66);
static_assert(offsetof(Record, generation) == 40);

inline constexpr std::size_t kKeyBytesMax = 511;
inline constexpr std::size_t kLocationBytesMax = 65535;
/// `previous` counts units of 8 bytes in 32 bits.
inline constexpr std::uint64_t kArenaBytesMax = std::uint64_t{1} << 35;

[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t to) noexcept {
  return (value + to - 1) / to * to;
}
/// Bytes of a record in the arena, ChildHeads included where it has them.
[[nodiscard]] constexpr std::uint64_t record_span(std::size_t key_bytes, std::size_t location_bytes,
                                                  bool has_child_heads) noexcept {
  return align_up(kRecordKeyOffset + key_bytes + location_bytes, kRecordAlignment) +
         (has_child_heads ? sizeof(ChildHeads) : 0);
}

}  // namespace iceblink::shm
