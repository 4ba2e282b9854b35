#include "client/lookup.h"

namespace iceblink::client {

shm::RecordView find_exact(const shm::ArenaView& arena, const TableIdent& ident,
                           std::uint64_t generation) noexcept {
  return find_exact_inline(arena, ident, generation);
}

}  // namespace iceblink::client
