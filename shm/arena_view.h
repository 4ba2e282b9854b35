// Reading one arena: lookups, listing and the records after a generation.
//
// The bytes are input, not an invariant: the header is checked once, at open; every offset and
// length found later is copied once and checked against the mapping before it is followed. Damage
// is kCorrupt, never a crash or an endless walk: a chain goes to strictly lower offsets and
// generations that do not rise, a probe ends after index_capacity slots.
//
// Thread safety: const and lock-free; any number of readers beside one ArenaWriter.
//
// Lifetime: borrows the mapping. What it returns points into it.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "shm/key.h"
#include "shm/layout.h"

namespace iceblink::shm {

/// Reads a field that damage or another process may change under us: once, relaxed (it orders
/// nothing; the record was published by the slot's or tail's release).
template <typename T>
[[nodiscard]] inline T load_once(const T& field) noexcept {
  if constexpr (std::is_enum_v<T>) {
    using Number = std::underlying_type_t<T>;
    return static_cast<T>(load_once(reinterpret_cast<const Number&>(field)));
  } else {
    return __atomic_load_n(&field, __ATOMIC_RELAXED);
  }
}

enum class FindStatus : std::uint8_t { kAbsent, kCorrupt, kFound };

/// A record whose fields and bytes lie inside the mapping. The lengths are copies, since what was
/// checked must not change; other fields lead nowhere and are read where they are. 16 bytes.
class RecordView {
 public:
  RecordView() = default;
  /// No record, and why: kAbsent or kCorrupt.
  explicit RecordView(FindStatus miss) noexcept : offset_units_(static_cast<std::uint32_t>(miss)) {}

  explicit operator bool() const noexcept { return record_ != nullptr; }
  /// Of an empty view.
  [[nodiscard]] FindStatus miss() const noexcept { return static_cast<FindStatus>(offset_units_); }
  [[nodiscard]] const Record& raw() const noexcept { return *record_; }
  [[nodiscard]] std::uint64_t offset() const noexcept {
    return std::uint64_t{offset_units_} * kRecordAlignment;
  }
  /// The same, in units of kRecordAlignment.
  [[nodiscard]] std::uint32_t offset_units() const noexcept { return offset_units_; }
  [[nodiscard]] RecordKind kind() const noexcept { return load_once(record_->kind); }
  [[nodiscard]] std::uint64_t generation() const noexcept { return load_once(record_->generation); }
  [[nodiscard]] std::uint64_t previous_offset() const noexcept {
    return std::uint64_t{load_once(record_->previous)} * kRecordAlignment;
  }
  [[nodiscard]] std::uint64_t next_sibling_offset() const noexcept {
    return std::uint64_t{load_once(record_->next_sibling)} * kRecordAlignment;
  }
  [[nodiscard]] std::string_view key() const noexcept { return {bytes(), key_bytes_}; }
  [[nodiscard]] std::string_view location() const noexcept {
    return {bytes() + key_bytes_, location_bytes_};
  }
  [[nodiscard]] const Id& table_uuid() const noexcept { return record_->table_uuid; }
  [[nodiscard]] const Id& metadata_fingerprint() const noexcept {
    return record_->metadata_fingerprint;
  }
  [[nodiscard]] std::uint64_t location_hash() const noexcept {
    return load_once(record_->location_hash);
  }
  [[nodiscard]] std::uint8_t format_version() const noexcept {
    return load_once(record_->format_version);
  }
  /// Levels of the namespace that the key names or lies in, modulo 256 (a table has at most 255).
  [[nodiscard]] std::uint8_t level_count() const noexcept {
    return load_once(record_->level_count);
  }
  /// Bytes in the arena.
  [[nodiscard]] std::uint64_t span_bytes() const noexcept {
    return record_span(key_bytes_, location_bytes_,
                       is_namespace_class(kind()) && load_once(record_->previous) == 0);
  }

 private:
  friend class ArenaView;
  [[nodiscard]] const char* bytes() const noexcept {
    return reinterpret_cast<const char*>(record_) + kRecordKeyOffset;
  }

  const Record* record_ = nullptr;
  std::uint32_t offset_units_ = 0;
  std::uint16_t key_bytes_ = 0;
  std::uint16_t location_bytes_ = 0;
};

struct Found {
  FindStatus status = FindStatus::kAbsent;
  RecordView record;  // set when found
};

/// What an arena must say of itself to be the one that was looked for.
struct ArenaExpectation {
  Id control_id{};
  Id store_uuid{};
  std::uint32_t epoch = 0;
};

class ArenaView {
 public:
  ArenaView() = default;

  /// Checks the header. kCorrupt, kIncompatible (prints both versions). `name` is for messages.
  [[nodiscard]] static Result<ArenaView> open(std::span<const std::byte> bytes,
                                              std::string_view name);
  /// True when the header names this control page, store and epoch.
  [[nodiscard]] bool is(const ArenaExpectation& expected) const noexcept;

  [[nodiscard]] const ArenaHeader& header() const noexcept { return *header_; }
  [[nodiscard]] std::uint64_t hash_seed() const noexcept { return hash_seed_; }
  [[nodiscard]] std::uint64_t base_generation() const noexcept { return base_generation_; }
  [[nodiscard]] std::uint64_t generation_at(RootWord root) const noexcept {
    return generation_of(root, base_generation_);
  }

  /// The version of `key` (hash `hash`) visible at `generation`. A tombstone is absent.
  /// O(1) expected, plus one step for each newer version.
  template <typename Key>
  [[nodiscard]] Found find(const Key& key, std::uint64_t hash,
                           std::uint64_t generation) const noexcept {
    return found_of(find_record(key, hash, generation));
  }
  /// The same as a record, or an empty view that says why: 16 bytes, which travel in registers.
  template <typename Key>
  [[nodiscard]] RecordView find_record(const Key& key, std::uint64_t hash,
                                       std::uint64_t generation) const noexcept;

  /// Hints the cache: the slot that a lookup of `hash` starts at; then, after a while, the record
  /// that slot names, if its tag matches.
  void prefetch_slot(std::uint64_t hash) const noexcept {
    __builtin_prefetch(&slots_[home_slot(hash, capacity_)]);
  }
  void prefetch_record(std::uint64_t hash) const noexcept;

  /// Calls `visit(RecordView)` for each table and view below `levels_key` that is visible at
  /// `generation`, in no order. kNotFound when the namespace is not; kCorrupt.
  template <typename Visit>
  [[nodiscard]] FindStatus visit_tables(std::string_view namespace_key, std::uint64_t generation,
                                        Visit&& visit) const;
  /// The same for direct child namespaces.
  template <typename Visit>
  [[nodiscard]] FindStatus visit_namespaces(std::string_view namespace_key,
                                            std::uint64_t generation, Visit&& visit) const;

  /// Calls `visit(RecordView)` for the records after the base copy up to `tail`, oldest first.
  /// `tail` must have been loaded after the root (published_tail()).
  template <typename Visit>
  [[nodiscard]] FindStatus visit_changes(std::uint64_t tail, Visit&& visit) const;

  [[nodiscard]] std::uint64_t published_tail() const noexcept {
    // SYNC tail-publish: acquires the records below; partner ArenaWriter::publish_tail
    return header_->published_tail.load(std::memory_order_acquire);
  }

  /// The version visible at `generation` of the key whose newest record is at `offset`.
  [[nodiscard]] Found find_version(std::uint64_t offset, std::uint64_t generation) const noexcept {
    const RecordView newest = record_at(offset);
    return newest ? found_of(walk_back(newest, generation)) : Found{FindStatus::kCorrupt, {}};
  }

  /// The record at `offset`, or an empty view when it does not lie inside the record area.
  [[nodiscard]] RecordView record_at(std::uint64_t offset) const noexcept;
  /// The record's checksum, computed from its bytes.
  [[nodiscard]] static std::uint32_t checksum_of(const Record& record, std::size_t key_bytes,
                                                 std::size_t location_bytes) noexcept;
  /// The heads of the children of the namespace whose record this is; null when damaged.
  [[nodiscard]] const ChildHeads* child_heads(const RecordView& record) const noexcept;
  [[nodiscard]] std::span<const Atomic<Slot>> slots() const noexcept { return {slots_, capacity_}; }

 private:
  enum class Chain : std::uint8_t { kTables, kNamespaces };
  template <typename Visit>
  FindStatus visit_children(Chain chain, std::string_view namespace_key, std::uint64_t generation,
                            Visit&& visit) const;
  /// The version of the key of `newest` visible at `generation`.
  [[nodiscard]] RecordView walk_back(RecordView newest, std::uint64_t generation) const noexcept;
  [[nodiscard]] static Found found_of(const RecordView& record) noexcept {
    return record ? Found{FindStatus::kFound, record} : Found{record.miss(), {}};
  }

  const std::byte* bytes_ = nullptr;
  const ArenaHeader* header_ = nullptr;
  const Atomic<Slot>* slots_ = nullptr;
  // Copies of checked header fields: a lookup must not trust the mapping twice.
  std::uint64_t capacity_ = 0;
  std::uint64_t records_offset_ = ~std::uint64_t{0};  // of an empty view: it has no records
  std::uint64_t last_offset_ = 0;                     // where the last record can begin
  std::uint64_t file_bytes_ = 0;
  std::uint64_t hash_seed_ = 0;
  std::uint64_t base_generation_ = 0;
};

// ------------------------------------------------------------------------------------------------

inline RecordView ArenaView::record_at(std::uint64_t offset) const noexcept {
  RecordView view;
  // No sum of `offset`, which a chain may lead anywhere, before it is known to be small.
  if (offset < records_offset_ || offset % kRecordAlignment != 0 || offset > last_offset_) {
    return view;
  }
  const auto* record = reinterpret_cast<const Record*>(bytes_ + offset);
  const std::uint16_t key_bytes = load_once(record->key_bytes);
  const std::uint16_t location_bytes = load_once(record->location_bytes);
  if (offset + kRecordKeyOffset + key_bytes + location_bytes > file_bytes_) return view;
  view.record_ = record;
  view.offset_units_ = static_cast<std::uint32_t>(offset / kRecordAlignment);
  view.key_bytes_ = key_bytes;
  view.location_bytes_ = location_bytes;
  return view;
}

template <typename Key>
inline RecordView ArenaView::find_record(const Key& key, std::uint64_t hash,
                                         std::uint64_t generation) const noexcept {
  const std::size_t key_size = key.size();
  std::uint64_t at = home_slot(hash, capacity_);
  for (std::uint64_t probes = 0; probes < capacity_; ++probes) {
    // SYNC slot-publish: acquires the record it names; partner ArenaWriter::store_slot
    const Slot slot = slots_[at].load(std::memory_order_acquire);
    if (slot == 0) return RecordView(FindStatus::kAbsent);
    if ((slot >> 48) == tag_of(hash)) {
      const RecordView record = record_at(slot & kOffsetMask);
      if (!record) return RecordView(FindStatus::kCorrupt);
      if (record.key().size() == key_size && key.equals(record.key().data())) {
        if (record.generation() > generation) [[unlikely]]
          return walk_back(record, generation);
        return is_tombstone(record.kind()) ? RecordView(FindStatus::kAbsent) : record;
      }
    }
    if (++at == capacity_) at = 0;
  }
  return RecordView(FindStatus::kAbsent);  // a full index: legal for damage only, and it ended
}

inline void ArenaView::prefetch_record(std::uint64_t hash) const noexcept {
  // relaxed: a hint; the lookup that follows loads the slot again
  std::uint64_t at = home_slot(hash, capacity_);
  for (int probe = 0; probe < 4; ++probe) {
    const Slot slot = slots_[at].load(std::memory_order_relaxed);
    if (slot == 0) return;
    if ((slot >> 48) == tag_of(hash)) {
      const std::uint64_t offset = slot & kOffsetMask;
      if (offset >= file_bytes_) return;
      __builtin_prefetch(bytes_ + offset + offsetof(Record, generation));
      __builtin_prefetch(bytes_ + offset + offsetof(Record, generation) + 64);
      return;
    }
    if (++at == capacity_) at = 0;
  }
}

template <typename Visit>
FindStatus ArenaView::visit_children(Chain chain, std::string_view namespace_key,
                                     std::uint64_t generation, Visit&& visit) const {
  const std::uint64_t parent_hash = hash_encoded(namespace_key, hash_seed_);
  const ChildHeads* heads = &header_->root_children;
  if (!namespace_key.empty()) {
    const Found parent = find(EncodedKey{namespace_key}, parent_hash, generation);
    if (parent.status != FindStatus::kFound) return parent.status;
    heads = child_heads(parent.record);
    if (heads == nullptr) return FindStatus::kCorrupt;
  }
  const auto& head = chain == Chain::kTables ? heads->tables : heads->namespaces;
  // SYNC child-publish: acquires the records of the chain; partner ArenaWriter::link_into_parent
  std::uint64_t offset = head.load(std::memory_order_acquire);
  while (offset != 0) {
    const RecordView first = record_at(offset);
    if (!first || parent_of(first.key()) != namespace_key) return FindStatus::kCorrupt;
    const std::string_view leaf = leaf_of(first.key());
    const std::uint64_t hash = chain == Chain::kTables
                                   ? hash_name_below(parent_hash, leaf, hash_seed())
                                   : hash_level_below(parent_hash, leaf, hash_seed());
    const Found found = find(EncodedKey{first.key()}, hash, generation);
    if (found.status == FindStatus::kCorrupt) return FindStatus::kCorrupt;
    if (found.status == FindStatus::kFound) visit(found.record);
    const std::uint64_t next = first.next_sibling_offset();
    if (next >= offset) return FindStatus::kCorrupt;
    offset = next;
  }
  return FindStatus::kFound;
}

template <typename Visit>
FindStatus ArenaView::visit_tables(std::string_view namespace_key, std::uint64_t generation,
                                   Visit&& visit) const {
  return visit_children(Chain::kTables, namespace_key, generation, visit);
}

template <typename Visit>
FindStatus ArenaView::visit_namespaces(std::string_view namespace_key, std::uint64_t generation,
                                       Visit&& visit) const {
  return visit_children(Chain::kNamespaces, namespace_key, generation, visit);
}

template <typename Visit>
FindStatus ArenaView::visit_changes(std::uint64_t tail, Visit&& visit) const {
  std::uint64_t offset = header_->base_copy_end;
  if (tail > file_bytes_ || tail < offset) return FindStatus::kCorrupt;
  while (offset < tail) {
    const RecordView record = record_at(offset);
    if (!record || record.span_bytes() > tail - offset) return FindStatus::kCorrupt;
    visit(record);
    offset += record.span_bytes();
  }
  return FindStatus::kFound;
}

}  // namespace iceblink::shm
