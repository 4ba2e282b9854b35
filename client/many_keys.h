// Lookups of many tables at one generation, with the memory accesses of a block of keys under way
// at once: a lookup that leaves the caches spends its time waiting, and here it waits for several.
//
// Thread safety: pure over an arena.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "client/lookup.h"

namespace iceblink::client {

/// Keys in flight: enough to cover a memory access, few enough for the core's miss buffers.
inline constexpr std::size_t kKeysInFlight = 24;

/// Calls `visit(index, Lookup)` for each identifier, in order; stops when it returns false.
template <typename Visit>
void find_tables(const shm::ArenaView& arena, std::span<const TableIdent> idents,
                 std::uint64_t generation, Visit&& visit) {
  std::array<std::uint64_t, kKeysInFlight> hashes;
  const std::uint64_t seed = arena.hash_seed();
  for (std::size_t begin = 0; begin < idents.size(); begin += kKeysInFlight) {
    const std::size_t count = std::min(kKeysInFlight, idents.size() - begin);
    const auto block = idents.subspan(begin, count);
    // The next block's names lie behind two pointers: begin to fetch the first.
    const auto next = idents.subspan(begin + count);
    for (std::size_t i = 0; i < std::min(kKeysInFlight, next.size()); ++i) {
      __builtin_prefetch(next[i].levels.data());
    }
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = hash_of(block[i], seed);
      arena.prefetch_slot(hashes[i]);
    }
    for (std::size_t i = 0; i < count; ++i) arena.prefetch_record(hashes[i]);
    for (std::size_t i = 0; i < count; ++i) {
      if (!visit(begin + i, find_table(arena, block[i], hashes[i], generation))) return;
    }
  }
}

}  // namespace iceblink::client
