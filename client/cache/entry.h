// A kept value, and how it is referred to.
//
// Who holds a value holds its Payload, which knows what the value weighs and where that is counted.
// A hit hands out a std::shared_ptr without touching a count that other threads touch: each entry
// has a handle for each stripe of threads, made when that stripe first hits, whose control block
// holds the payload and is that stripe's own. A stripe finds its handles by an index of its own, so
// that a hit takes two cache lines: a slot and a handle.
//
//   stripe's index ──▶ Handle (control block, stamp, marks of use) ──▶ Payload (key) ──▶ value
//                        ▲                                              ▲
//            Entry ──────┴── of each stripe ────────────────────────────┘
//
// Lifetime: a Handle is reached through an index inside a marked section only; its entry, which
// owns it, is retired first. A Payload lives as long as anybody holds the value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "client/cache/allocated_bytes.h"
#include "client/cache/s3_fifo.h"
#include "shm/atomic_word.h"

namespace iceblink::client::cache {

class Store;
struct Entry;

/// Where a key was last seen, as a word that is quicker to compare than the key; 0: nowhere. The
/// high half orders them: a later place replaces an earlier one.
using Stamp = std::uint64_t;

/// A value with its place in the accounts.
class Payload {
 public:
  Payload(std::shared_ptr<Store> store, std::shared_ptr<const void> value) noexcept
      : store_(std::move(store)), value_(std::move(value)) {}
  ~Payload();
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;

  /// The value's weight has grown, by whoever calls: somebody who holds it. Evicts what no longer
  /// fits; that may be this value itself.
  void grew(std::size_t bytes) noexcept;

  [[nodiscard]] const void* value() const noexcept { return value_.get(); }
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

 private:
  friend class Store;

  const std::shared_ptr<Store> store_;
  const std::shared_ptr<const void> value_;
  std::string key_;  // constant once the value is kept

  // Under the store's mutex; read by the destructor, when nobody else is left.
  std::size_t weight_bytes_ = 0;  // value, payload, key, handles
  Entry* entry_ = nullptr;        // while it is kept
  bool is_pinned_ = false;        // counted in pinned_bytes
};

/// One stripe's reference. Fills, with its control block, one cache line.
struct Handle {
  explicit Handle(std::shared_ptr<Payload> of) noexcept : payload(std::move(of)) {}

  const std::shared_ptr<Payload> payload;
  /// Of the value, counted here. Constant while the handle can be reached.
  std::shared_ptr<const void> value;
  /// relaxed: a word that either is the reader's own or leads to the long comparison
  shm::Atomic<Stamp> stamp{0};
  /// Uses since the last collection, up to kMarksMax.
  /// relaxed: a hint; threads of one stripe may lose each other's marks
  shm::Atomic<std::uint8_t> marks{0};

  /// Writes only what changes.
  void mark() noexcept {
    // relaxed, both: see `marks`
    const std::uint8_t seen = marks.load(std::memory_order_relaxed);
    if (seen < kMarksMax) {
      marks.store(static_cast<std::uint8_t>(seen + 1), std::memory_order_relaxed);
    }
  }
};

/// Gives each object, with the control block before it, a cache line of its own.
template <typename T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::size_t kLineBytes = 64;

  LineAllocator() noexcept = default;
  template <typename U>
  LineAllocator(const LineAllocator<U>& /*other*/) noexcept {}  // NOLINT: as allocators convert

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(sizeof(T) <= kLineBytes);
    return static_cast<T*>(::operator new (count* kLineBytes, std::align_val_t{kLineBytes}));
  }
  void deallocate(T* object, std::size_t /*count*/) noexcept {
    ::operator delete (object, std::align_val_t{kLineBytes});
  }
  template <typename U>
  friend bool operator==(const LineAllocator&, const LineAllocator<U>&) noexcept {
    return true;
  }
};

inline constexpr std::size_t kStripes = 16;
inline constexpr std::size_t kHandleBytes = 80;  // a line, and what the allocator adds

/// Under the store's mutex, or retired.
struct Entry : QueueNode {
  std::array<Handle*, kStripes> handles{};  // null: none yet
  std::shared_ptr<Payload> payload;

  Entry() = default;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry();

  /// Throws std::bad_alloc.
  Handle& make_handle(std::uint32_t stripe);
  /// The marks of all stripes since the last call.
  [[nodiscard]] unsigned collect_marks() noexcept;
};
inline constexpr std::size_t kEntryBytes = allocated_bytes(sizeof(Entry));

}  // namespace iceblink::client::cache
