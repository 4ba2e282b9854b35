// Writing one arena: formatting it, appending records, storing slots, publishing the tail.
//
// Order (docs/memory-model.md): a record is complete before its slot or the chain of its parent
// names it (release); the tail is stored after the slots (release); the root word, which is not
// here but in the control page, after the tail.
//
// Invariants:
//  - A slot is never emptied and never moves; a key's slot always names its newest record.
//  - Records are appended in the order of their generations.
//  - At least one slot stays empty, so that every probe ends.
//  - A namespace's record is appended before those of its children.
//
// Thread safety: one writer at a time; any number of ArenaViews beside it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shm/arena_view.h"
#include "shm/change.h"
#include "shm/key.h"

namespace iceblink::shm {

/// What stands in the header of a new arena.
struct ArenaParameters {
  Id control_id{};
  Id store_uuid{};
  std::uint64_t incarnation = 0;
  std::uint32_t epoch = 0;
  std::uint32_t daemon_pid = 0;
  std::uint64_t daemon_started_s = 0;
  std::string daemon_version;
  std::uint64_t base_generation = 0;
  std::uint64_t hash_seed = 0;
  std::uint64_t index_capacity = 0;  // slots
  std::uint64_t record_bytes = 0;    // room for records
};

/// The size of an arena with these parameters, in bytes: a multiple of 4096.
[[nodiscard]] std::uint64_t arena_file_bytes(const ArenaParameters& parameters) noexcept;

/// The check of an arena's append_limit word.
[[nodiscard]] std::uint64_t checked_offset(std::uint64_t offset) noexcept;
/// What one slot adds to the sum of its block. An empty slot adds nothing.
[[nodiscard]] std::uint64_t slot_digest(std::uint64_t slot_index, Slot slot) noexcept;

class ArenaWriter {
 public:
  ArenaWriter() = default;

  /// Formats zeroed memory of arena_file_bytes(parameters).
  ArenaWriter(std::span<std::byte> bytes, const ArenaParameters& parameters);

  /// A record that is written and linked into its parent's chain, but not yet in the index.
  struct Pending {
    std::uint64_t slot_index;
    Slot slot;
  };
  /// Appends a version made by `change.generation`. There must be room (free_bytes, free_slots)
  /// and the parent namespace; else std::abort, since a caller that got here has committed.
  [[nodiscard]] Pending append(const Change& change) noexcept {
    return append(change, hash_of(change.key));
  }
  [[nodiscard]] Pending append(const Change& change, std::uint64_t hash) noexcept;
  [[nodiscard]] std::uint64_t hash_of(std::string_view key) const noexcept {
    return hash_encoded(key, header_->hash_seed);
  }
  /// Hints of what append() will read: first the slot, then the record that it names. In a large
  /// catalog each comes from memory, which other work can overlap.
  void fetch_slot(std::uint64_t hash) const noexcept;
  void fetch_record(std::uint64_t hash, std::size_t key_bytes) const noexcept;
  void store_slot(Pending pending) noexcept;
  /// False: no writer made this, so that it cannot be appended: a key that is none, or not one of
  /// its kind's class, or whose namespace is not here. For what comes from another arena.
  [[nodiscard]] bool accepts(const Change& change) noexcept;

  /// Says that the next `bytes` bytes may be in the writing.
  void announce_append(std::uint64_t bytes) noexcept;
  /// Makes everything appended so far part of `generation`.
  void publish_tail(std::uint64_t generation) noexcept;
  /// Ends the base copy: completes the checksummed header. Once, before the arena is published.
  void seal() noexcept;

  [[nodiscard]] std::uint64_t free_bytes() const noexcept { return header_->file_bytes - tail_; }
  [[nodiscard]] std::uint64_t free_slots() const noexcept {
    return header_->index_capacity - 1 - used_slots_;
  }
  [[nodiscard]] std::uint64_t tail() const noexcept { return tail_; }
  [[nodiscard]] std::uint64_t used_slots() const noexcept { return used_slots_; }
  /// Superseded versions and tombstones, in bytes.
  [[nodiscard]] std::uint64_t garbage_bytes() const noexcept { return garbage_bytes_; }
  [[nodiscard]] std::uint64_t longest_probe() const noexcept { return longest_probe_; }
  [[nodiscard]] std::uint64_t table_count() const noexcept { return table_count_; }
  [[nodiscard]] std::uint64_t view_count() const noexcept { return view_count_; }
  [[nodiscard]] std::uint64_t namespace_count() const noexcept { return namespace_count_; }
  [[nodiscard]] const ArenaView& view() const noexcept { return view_; }

 private:
  struct Place {
    std::uint64_t slot_index;
    RecordView newest;  // empty: the key is new here
  };
  [[nodiscard]] Place locate(std::string_view key, std::uint64_t hash) noexcept;
  /// Null when the namespace is not here.
  [[nodiscard]] ChildHeads* find_children_of(std::string_view namespace_key) noexcept;
  void link_into_parent(const Change& change, Record* record, std::uint64_t offset) noexcept;
  void count(RecordKind kind, std::int64_t by) noexcept;

  std::byte* bytes_ = nullptr;
  ArenaHeader* header_ = nullptr;
  Atomic<Slot>* slots_ = nullptr;
  Atomic<std::uint64_t>* sums_ = nullptr;
  ArenaView view_;
  std::uint64_t tail_ = 0;
  std::uint64_t used_slots_ = 0;
  std::uint64_t garbage_bytes_ = 0;
  std::uint64_t longest_probe_ = 0;
  std::uint64_t table_count_ = 0;
  std::uint64_t view_count_ = 0;
  std::uint64_t namespace_count_ = 0;
  // The parent of the last key: a bulk load comes namespace by namespace.
  std::string parent_key_;
  ChildHeads* parent_heads_ = nullptr;
};

}  // namespace iceblink::shm
