// Making an arena: its size, the base copy (from a store at start, from the old arena at a flip)
// and the catching up with what was published meanwhile.
//
// The old arena is its own log: records after a captured tail are the changes since, in order.
// So a flip needs no store and no copy of the catalog in memory, and commits go on beside it.
//
// Thread safety: one thread builds; the source may be appended to meanwhile.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shm/arena_writer.h"
#include "shm/change.h"
#include "shm/file_mapping.h"

namespace iceblink::shm {

/// An arena file and its writer. Until it is published, the file goes with the object.
struct WritableArena {
  WritableArena() = default;
  WritableArena(const WritableArena&) = delete;
  WritableArena& operator=(const WritableArena&) = delete;
  ~WritableArena();

  std::string path;
  std::uint32_t epoch = 0;
  WriteMapping mapping;
  ArenaWriter writer;
  std::uint64_t headroom_bytes = 0;  // free when the base copy was done
  bool is_made = false;
  bool is_published = false;
};

/// What a base copy holds.
struct CatalogSize {
  std::uint64_t keys = 0;
  std::uint64_t record_bytes = 0;
};

/// The size of what `source` gives. One pass.
[[nodiscard]] Result<CatalogSize> measure(const CatalogSource& source);
/// An upper bound of the live part of an arena: exact but for tombstones' names and old tails.
[[nodiscard]] CatalogSize measure(const ArenaWriter& arena) noexcept;

/// Slots for `keys` keys and `extra` more: five for eight when new.
[[nodiscard]] std::uint64_t index_capacity_for(std::uint64_t keys, std::uint64_t extra) noexcept;
/// The arena asks to be replaced when more than four of five slots are in use.
[[nodiscard]] bool index_is_crowded(const ArenaWriter& arena) noexcept;

/// What a new arena is to hold.
struct ArenaDemand {
  CatalogSize live;
  std::uint64_t need_bytes = 0;  // room that is asked for besides
  std::uint64_t need_slots = 0;
  std::uint64_t headroom_bytes = 0;  // free room that is wanted
};
/// Least headroom of an arena where space is short.
inline constexpr std::uint64_t kHeadroomBytesFloor = 64 << 10;

/// Sets the sizes in `parameters`. The headroom gives way, down to the floor, for the file not to
/// be larger than `file_bytes_max`. Returns the file's size.
[[nodiscard]] std::uint64_t size_arena(const ArenaDemand& demand, std::uint64_t file_bytes_max,
                                       ArenaParameters* parameters) noexcept;

/// Largest arena for a directory that holds one of `old_bytes` and has `free_bytes` left: half of
/// both, so that a successor of the same size can be built beside it, at a restart too.
[[nodiscard]] constexpr std::uint64_t fair_share(std::uint64_t free_bytes,
                                                 std::uint64_t old_bytes) noexcept {
  return (free_bytes + old_bytes) / 2;
}
/// More than any arena needs where it cannot be told (a tmpfs without a limit, ramfs).
[[nodiscard]] std::uint64_t free_bytes_of(const std::string& directory) noexcept;

/// Makes and formats the file. Fault points arena.before-create, arena.after-create. The file is
/// gone again on failure. kNoSpace, kAlreadyExists, kNotAllowed, kIo.
[[nodiscard]] Result<std::unique_ptr<WritableArena>> create_arena(
    const std::string& directory, const ArenaParameters& parameters);

/// Fills the base copy from a store. Fault points arena.before-fill, arena.after-fill.
[[nodiscard]] Status fill_from(const CatalogSource& source, ArenaWriter& arena);

/// Fills the base copy with what is visible in `source` at `generation`. kCorrupt when the source
/// is damaged; kNoSpace when the new arena turns out too small. The same fault points.
[[nodiscard]] Status fill_from(const ArenaView& source, std::uint64_t generation,
                               ArenaWriter& arena);

/// Copies the records of `source` from *position up to `end`, and moves *position. At most
/// `records_max` of them. kCorrupt, kNoSpace as above.
[[nodiscard]] Status catch_up(const ArenaView& source, std::uint64_t* position, std::uint64_t end,
                              std::uint64_t records_max, ArenaWriter& arena);

/// Names of the arena files in `directory`.
[[nodiscard]] Result<std::vector<std::string>> list_arenas(const std::string& directory);

}  // namespace iceblink::shm
