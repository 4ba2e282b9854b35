// From a hash to an object: open addressing, read without a lock while one thread writes.
//
// A slot is a tag of the hash and an address, so that a lookup takes one cache line of it. A reader
// that misses may have missed what is just being put in: a miss is a hint, and asked again under
// the mutex. A hit is true: the object it leads to is compared by the reader.
//
// Thread safety: find() from any thread inside a marked section; the rest under the store's mutex.
// An index does not grow: a larger one replaces it, and the old one is retired.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "client/cache/allocated_bytes.h"
#include "shm/atomic_word.h"

namespace iceblink::client::cache {

class Retired;

template <typename T>
class Index {
 public:
  /// Room for `count` objects and half as many that come and go. Throws std::bad_alloc.
  explicit Index(std::size_t count)
      : capacity_(capacity_for(count)), slots_(std::make_unique<shm::Atomic<Slot>[]>(capacity_)) {}

  [[nodiscard]] static std::size_t bytes_for(std::size_t count) noexcept {
    return allocated_bytes(sizeof(Index)) + allocated_bytes(capacity_for(count) * sizeof(Slot));
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return allocated_bytes(sizeof(Index)) + allocated_bytes(capacity_ * sizeof(Slot));
  }

  /// The first object of this hash for which `is_it(T&)`; null when there is none. That is asked of
  /// others, too, whose hashes have the same tag.
  template <typename IsIt>
  [[nodiscard]] T* find(std::uint64_t hash, IsIt&& is_it) const noexcept {
    const std::size_t mask = capacity_ - 1;
    // At least a quarter of the slots are empty, so every probe ends.
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      // SYNC cache-entry: acquires the object; partner Index::insert
      const Slot slot = slots_[at].load(std::memory_order_acquire);
      if (slot == kEmpty) return nullptr;
      if (slot >> kAddressBits != tag_of(hash)) continue;
      T* const object = object_of(slot);
      if (is_it(*object)) return object;
    }
  }

  [[nodiscard]] bool has_room() const noexcept { return used_ < capacity_ / 4 * 3; }

  /// There must be room.
  void insert(std::uint64_t hash, T& object) noexcept {
    const std::size_t mask = capacity_ - 1;
    std::size_t at = hash & mask;
    while (at_slot(at) > kErased) at = (at + 1) & mask;
    if (at_slot(at) == kEmpty) ++used_;
    // SYNC cache-entry: releases the object; partner Index::find
    slots_[at].store(slot_of(hash, object), std::memory_order_release);
  }

  /// It must be there.
  void erase(std::uint64_t hash, T& object) noexcept {
    const std::size_t mask = capacity_ - 1;
    std::size_t at = hash & mask;
    while (at_slot(at) != slot_of(hash, object)) at = (at + 1) & mask;
    // At the end of its run nothing lies behind it, and the slot is as good as new.
    const bool is_last = at_slot((at + 1) & mask) == kEmpty;
    if (is_last) --used_;
    // relaxed: who still sees the object may still read it
    slots_[at].store(is_last ? kEmpty : kErased, std::memory_order_relaxed);
  }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t at = 0; at < capacity_; ++at) {
      if (at_slot(at) > kErased) visit(*object_of(at_slot(at)));
    }
  }

 private:
  /// {tag: 16 bits | address: 48 bits}, as user space has them on x86-64 and AArch64.
  using Slot = std::uint64_t;
  static constexpr int kAddressBits = 48;
  static constexpr Slot kEmpty = 0;
  static constexpr Slot kErased = 1;  // something was here, and others lie behind it

  static std::size_t capacity_for(std::size_t count) noexcept {
    return std::bit_ceil(std::max<std::size_t>(count * 2, 32));
  }
  static Slot tag_of(std::uint64_t hash) noexcept { return hash >> kAddressBits | 1; }
  static Slot slot_of(std::uint64_t hash, T& object) noexcept {
    return tag_of(hash) << kAddressBits | reinterpret_cast<Slot>(&object);
  }
  static T* object_of(Slot slot) noexcept {
    return reinterpret_cast<T*>(slot & ((Slot{1} << kAddressBits) - 1));
  }
  [[nodiscard]] Slot at_slot(std::size_t at) const noexcept {
    return slots_[at].load(std::memory_order_relaxed);  // relaxed: the writer's own
  }

  friend class Retired;

  const std::size_t capacity_;  // a power of two
  const std::unique_ptr<shm::Atomic<Slot>[]> slots_;
  std::size_t used_ = 0;          // slots that are not empty
  std::unique_ptr<Index> older_;  // retired before it, and not buried yet
};

}  // namespace iceblink::client::cache
