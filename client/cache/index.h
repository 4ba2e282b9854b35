// From a hash to an entry: open addressing, read without a lock while one thread writes.
//
// A reader that misses may have missed what is just being moved or put in: a miss is a hint, and
// asked again under the mutex. A hit is true: the entry it leads to is compared by the reader.
//
// Thread safety: find() from any thread inside a marked section; the rest under the store's mutex.
// An index does not grow: a larger one replaces it, and the old one is retired.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "client/cache/entry.h"

namespace iceblink::client::cache {

class Index {
 public:
  /// Room for `entry_count` entries and half as many that come and go. Throws std::bad_alloc.
  explicit Index(std::size_t entry_count)
      : capacity_(capacity_for(entry_count)), slots_(std::make_unique<Slot[]>(capacity_)) {}

  [[nodiscard]] static std::size_t bytes_for(std::size_t entry_count) noexcept {
    return allocated_bytes(sizeof(Index)) +
           allocated_bytes(capacity_for(entry_count) * sizeof(Slot));
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return allocated_bytes(sizeof(Index)) + allocated_bytes(capacity_ * sizeof(Slot));
  }

  /// The first entry of this hash for which `is_it(Entry&)`; null when there is none.
  template <typename IsIt>
  [[nodiscard]] Entry* find(std::uint64_t hash, IsIt&& is_it) const noexcept {
    const std::size_t mask = capacity_ - 1;
    // At least a quarter of the slots are empty, so every probe ends.
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      // SYNC cache-entry: acquires the entry; partner Index::insert
      Entry* const entry = slots_[at].entry.load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      // relaxed: written before the entry; if it is of a later one, this entry is going
      if (slots_[at].hash.load(std::memory_order_relaxed) != hash || entry == erased()) continue;
      if (is_it(*entry)) return entry;
    }
  }

  [[nodiscard]] bool has_room() const noexcept { return used_ < capacity_ / 4 * 3; }

  /// There must be room.
  void insert(Entry& entry) noexcept {
    const std::size_t mask = capacity_ - 1;
    std::size_t at = entry.hash & mask;
    Entry* there = at_slot(at);
    while (there != nullptr && there != erased()) {
      at = (at + 1) & mask;
      there = at_slot(at);
    }
    if (there == nullptr) ++used_;
    slots_[at].hash.store(entry.hash, std::memory_order_relaxed);  // relaxed: see find()
    // SYNC cache-entry: releases the entry and its hash; partner Index::find
    slots_[at].entry.store(&entry, std::memory_order_release);
  }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t at = 0; at < capacity_; ++at) {
      Entry* const entry = at_slot(at);
      if (entry != nullptr && entry != erased()) visit(*entry);
    }
  }

  void erase(const Entry& entry) noexcept {
    const std::size_t mask = capacity_ - 1;
    std::size_t at = entry.hash & mask;
    while (at_slot(at) != &entry) at = (at + 1) & mask;
    // At the end of its run nothing lies behind it, and the slot is as good as new.
    const bool is_last = at_slot((at + 1) & mask) == nullptr;
    if (is_last) --used_;
    // SYNC cache-entry: nothing to release; partner Index::find
    slots_[at].entry.store(is_last ? nullptr : erased(), std::memory_order_release);
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> hash{0};
    std::atomic<Entry*> entry{nullptr};
  };

  static std::size_t capacity_for(std::size_t entry_count) noexcept {
    return std::bit_ceil(std::max<std::size_t>(entry_count * 2, 32));
  }
  [[nodiscard]] Entry* at_slot(std::size_t at) const noexcept {
    return slots_[at].entry.load(std::memory_order_relaxed);  // relaxed: the writer's own
  }
  /// What stands where an entry was, with others behind it.
  static Entry* erased() noexcept {
    alignas(Entry) static unsigned char nobody[sizeof(Entry)];
    return reinterpret_cast<Entry*>(nobody);
  }

  const std::size_t capacity_;  // a power of two
  const std::unique_ptr<Slot[]> slots_;
  std::size_t used_ = 0;  // slots that are not empty
};

}  // namespace iceblink::client::cache
