#include "client/lookup.h"

namespace iceblink::client {

namespace {

/// A key whose size came with its hash.
struct MeasuredKey {
  shm::TableKey parts;
  std::size_t bytes;

  [[nodiscard]] std::size_t size() const noexcept { return bytes; }
  [[nodiscard]] bool equals(const char* encoded) const noexcept { return parts.equals(encoded); }
};

}  // namespace

shm::RecordView find_exact(const shm::ArenaView& arena, const TableIdent& ident,
                           std::uint64_t generation) noexcept {
  std::uint64_t hash = arena.hash_seed();
  std::size_t bytes = ident.levels.size() + ident.name.size();
  for (const auto& level : ident.levels) {
    hash = shm::hash_level_below(hash, level);
    bytes += level.size();
  }
  hash = shm::hash_name_below(hash, ident.name);
  const MeasuredKey key{{ident.levels, ident.name}, bytes};
  return exactly(ident, arena.find_record(key, hash, generation));
}

}  // namespace iceblink::client
