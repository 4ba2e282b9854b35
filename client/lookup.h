// One lookup: from an identifier to the record that it names, and nothing but that record.
//
// Identifiers come unchecked, since checking costs a tenth of a lookup that hits. A record's key
// is valid, so an identifier can only hit by mistake where its parts, though invalid, assemble to
// a valid key: a level "a\x1Fb" reads like the levels "a", "b"; the name "a\0t" in no namespace
// reads like the table t in a. Their hashes differ (they are made part by part), but a tag and a
// probe may agree by chance. Two rules make hits exact:
//   - the key has as many levels as the identifier, so that all its separators are between parts;
//   - the record's kind is of the class that was asked for.
// Only after a miss is the identifier checked, to tell "absent" from "cannot exist".
//
// Thread safety: pure functions over an arena.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/prepared_key.h>
#include <iceblink/table_view.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "client/plain_text.h"
#include "shm/arena_view.h"

namespace iceblink {

/// Fills the public views, whose members are theirs alone.
class TableViewMaker {
 public:
  [[nodiscard]] static TableView make(const shm::RecordView& record) noexcept {
    TableView view;
    view.record_ = &record.raw();
    view.location_ = record.location().data();
    view.location_bytes_ = static_cast<std::uint16_t>(record.location().size());
    view.generation_ = record.generation();
    view.kind_ = record.kind() == shm::RecordKind::kView ? ObjectKind::kView : ObjectKind::kTable;
    view.format_version_ = record.format_version();
    return view;
  }
};

}  // namespace iceblink

namespace iceblink::client {

/// What an index says about a name.
enum class Presence : std::uint8_t { kAbsent, kTable, kView, kNamespace, kCorrupt };

struct Lookup {
  Presence presence = Presence::kAbsent;
  shm::RecordView record;  // of a table, view or namespace
};

[[nodiscard]] inline Lookup lookup_of(const shm::RecordView& record) noexcept {
  if (!record) {
    return {record.miss() == shm::FindStatus::kAbsent ? Presence::kAbsent : Presence::kCorrupt, {}};
  }
  switch (record.kind()) {
    case shm::RecordKind::kTable:
      return {Presence::kTable, record};
    case shm::RecordKind::kView:
      return {Presence::kView, record};
    case shm::RecordKind::kNamespace:
      return {Presence::kNamespace, record};
    case shm::RecordKind::kTombstone:
    case shm::RecordKind::kNamespaceTombstone:
      break;
  }
  return {Presence::kCorrupt, {}};
}

/// `record` if it is a table or view of exactly this identifier, whose key it has.
[[nodiscard]] inline shm::RecordView exactly(const TableIdent& ident,
                                             const shm::RecordView& record) noexcept {
  if (!record) return record;
  const bool exact = !ident.levels.empty() && record.kind() != shm::RecordKind::kNamespace &&
                     record.level_count() == static_cast<std::uint8_t>(ident.levels.size());
  return exact ? record : shm::RecordView(shm::FindStatus::kAbsent);
}

/// The record of a table or view with exactly this identifier, or an empty view that says why.
/// `hash` is that of the identifier's TableKey. Inlined into few places only.
[[nodiscard]] inline shm::RecordView find_exact(const shm::ArenaView& arena,
                                                const TableIdent& ident, std::uint64_t hash,
                                                std::uint64_t generation) noexcept {
  const shm::TableKey key{ident.levels, ident.name};
  return exactly(ident, arena.find_record(key, hash, generation));
}

[[nodiscard]] inline std::uint64_t hash_of(const TableIdent& ident, std::uint64_t seed) noexcept {
  return shm::TableKey{ident.levels, ident.name}.hash(seed);
}

/// A key whose size came with its hash.
struct SizedKey {
  shm::TableKey parts;
  std::size_t bytes;

  [[nodiscard]] std::size_t size() const noexcept { return bytes; }
  [[nodiscard]] bool equals(const char* encoded) const noexcept { return parts.equals(encoded); }
};

/// The same, hashed here.
[[nodiscard]] inline shm::RecordView find_exact_inline(const shm::ArenaView& arena,
                                                       const TableIdent& ident,
                                                       std::uint64_t generation) noexcept {
  const std::uint64_t seed = arena.hash_seed();
  std::uint64_t hash = seed;
  std::size_t bytes = ident.levels.size() + ident.name.size();
  for (const auto& level : ident.levels) {
    hash = shm::hash_level_below(hash, level, seed);
    bytes += level.size();
  }
  hash = shm::hash_name_below(hash, ident.name, seed);
  const SizedKey key{{ident.levels, ident.name}, bytes};
  return exactly(ident, arena.find_record(key, hash, generation));
}

/// The same as a function of its own, for callers that keep much in registers.
[[nodiscard]] shm::RecordView find_exact(const shm::ArenaView& arena, const TableIdent& ident,
                                         std::uint64_t generation) noexcept;

/// kTable, kView, kAbsent or kCorrupt. `hash` is that of the identifier's TableKey.
[[nodiscard]] inline Lookup find_table(const shm::ArenaView& arena, const TableIdent& ident,
                                       std::uint64_t hash, std::uint64_t generation) noexcept {
  return lookup_of(find_exact(arena, ident, hash, generation));
}

[[nodiscard]] inline Lookup find_table(const shm::ArenaView& arena, const TableIdent& ident,
                                       std::uint64_t generation) noexcept {
  return lookup_of(find_exact(arena, ident, generation));
}

/// The same for a key that is known to be valid.
[[nodiscard]] inline shm::RecordView find_record(const shm::ArenaView& arena,
                                                 const PreparedKey& prepared,
                                                 std::uint64_t generation) noexcept {
  const shm::EncodedKey key{prepared.encoded()};
  const std::uint64_t seed = arena.hash_seed();
  const std::uint64_t hash =
      prepared.seed() == seed ? prepared.hash() : key.hash(seed);  // another store's, or re-seeded
  return arena.find_record(key, hash, generation);
}

[[nodiscard]] inline Lookup find_table(const shm::ArenaView& arena, const PreparedKey& prepared,
                                       std::uint64_t generation) noexcept {
  return lookup_of(find_record(arena, prepared, generation));
}

/// A namespace's key by its levels. Borrows.
struct NamespaceKey {
  std::span<const std::string> levels;

  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t size = levels.empty() ? 0 : levels.size() - 1;
    for (const auto& level : levels) size += level.size();
    return size;
  }
  [[nodiscard]] bool equals(const char* encoded) const noexcept {
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (i > 0 && *encoded++ != shm::kKeyLevelSeparator) return false;
      if (!shm::key_internal::equal_bytes(encoded, levels[i].data(), levels[i].size())) {
        return false;
      }
      encoded += levels[i].size();
    }
    return true;
  }
};

/// kNamespace, kAbsent or kCorrupt. `hash` is that of the levels.
[[nodiscard]] inline Lookup find_namespace(const shm::ArenaView& arena, const Namespace& levels,
                                           std::uint64_t hash, std::uint64_t generation) noexcept {
  if (levels.empty()) return {};
  const Lookup found = lookup_of(arena.find_record(NamespaceKey{levels}, hash, generation));
  if (found.presence == Presence::kCorrupt) return found;
  const bool exact = found.presence == Presence::kNamespace &&
                     found.record.level_count() == static_cast<std::uint8_t>(levels.size());
  return exact ? found : Lookup{};
}

[[nodiscard]] inline Lookup find_namespace(const shm::ArenaView& arena, const Namespace& levels,
                                           std::uint64_t generation) noexcept {
  return find_namespace(arena, levels, shm::hash_levels(levels, arena.hash_seed()), generation);
}

}  // namespace iceblink::client
