// A table's name in either form that callers have it in, TableIdent or PreparedKey, on the way that
// hits and on the long one.
//
// Thread safety: free functions.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/prepared_key.h>
#include <iceblink/result.h>

#include <cstdint>

#include "client/lookup.h"
#include "client/messages.h"
#include "client/preparing.h"
#include "shm/segment.h"

namespace iceblink::client {

[[nodiscard]] inline shm::RecordView find_either(const shm::ArenaView& arena,
                                                 const TableIdent& ident,
                                                 std::uint64_t generation) noexcept {
  return find_exact_inline(arena, ident, generation);
}
[[nodiscard]] inline shm::RecordView find_either(const shm::ArenaView& arena,
                                                 const PreparedKey& key,
                                                 std::uint64_t generation) noexcept {
  return find_record(arena, key, generation);
}

[[nodiscard]] inline const TableIdent& ident_of(const TableIdent& ident) noexcept {
  return ident;
}

/// Why there is nothing: the segment is damaged, or the identifier cannot name anything. Else ok.
template <typename Identifier>
[[nodiscard]] Status explain(Presence presence, const Identifier& identifier) {
  if (presence == Presence::kCorrupt) return damaged(format(identifier));
  return check(identifier);
}

[[nodiscard]] inline std::uint64_t heartbeat_of(const shm::Segment::Section& section) noexcept {
  // relaxed: for showing health; nothing correct depends on it
  return section.mapping().page->heartbeat_ns.load(std::memory_order_relaxed);
}

}  // namespace iceblink::client
