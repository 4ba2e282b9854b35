// Names below a namespace, from an arena.
//
// Thread safety: pure over an arena, which the caller has pinned.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <cstdint>
#include <string>
#include <vector>

#include "shm/arena_view.h"

namespace iceblink::client {

/// The tables or views of a namespace, sorted. kNotFound, kInvalidArgument, kCorrupt.
[[nodiscard]] Result<std::vector<std::string>> names_of_kind(const shm::ArenaView& arena,
                                                             const Namespace& levels,
                                                             shm::RecordKind kind,
                                                             std::uint64_t generation);

/// The last levels of the direct children, sorted. Errors as above; the root is always there.
[[nodiscard]] Result<std::vector<std::string>> names_of_children(const shm::ArenaView& arena,
                                                                 const Namespace& parent,
                                                                 std::uint64_t generation);

}  // namespace iceblink::client
