// Every name that a pinned segment has, in the order of its index.
//
// Thread safety: free functions over what is pinned.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <string>

#include "iceberg/utf8.h"
#include "shm/segment.h"

namespace iceblink::cli {

/// The dotted form of an encoded key; where it is damaged, its bytes.
[[nodiscard]] inline std::string name_of_key(std::string_view key) {
  if (key.find(kNameSeparator) == std::string_view::npos) {
    const auto levels = decode_namespace(key);
    return levels ? format(*levels) : on_one_line(key);
  }
  const auto ident = decode_table(key);
  return ident ? format(*ident) : on_one_line(key);
}

[[nodiscard]] inline shm::RecordView find_key(const shm::PinnedView& view, std::string_view key,
                                              std::uint64_t generation) {
  const shm::EncodedKey encoded{key};
  const shm::ArenaView& arena = view.mapping->arena;
  return arena.find_record(encoded, encoded.hash(arena.hash_seed()), generation);
}

/// Calls `visit(RecordView)` for each; false when some could not be read.
template <typename Visit>
[[nodiscard]] bool visit_live_objects(const shm::PinnedView& view, Visit&& visit) {
  const shm::ArenaView& arena = view.mapping->arena;
  bool is_whole = true;
  for (const auto& entry : arena.slots()) {
    // SYNC slot-publish: acquires the record it names; partner ArenaWriter::store_slot
    const shm::Slot slot = entry.load(std::memory_order_acquire);
    if (slot == 0) continue;
    const shm::Found found = arena.find_version(slot & shm::kOffsetMask, view.generation);
    if (found.status == shm::FindStatus::kFound) {
      visit(found.record);
    } else if (found.status == shm::FindStatus::kCorrupt) {
      is_whole = false;
    }
  }
  return is_whole;
}

}  // namespace iceblink::cli
