// A cache of shared immutable values, bounded in bytes, with one load per key at a time.
//
// Thread safety: all of it. find() takes no lock and writes nothing that another thread reads, but
// for a line of the caller's stripe of threads; whoever misses takes the one mutex. Nothing is
// loaded, and no value destroyed, under it.
//
// Invariants:
//  - kept_bytes + in_flight_bytes <= bytes_max, whenever the mutex is free.
//  - Entries and indexes that left are destroyed after a grace period (shm::Graveyard), so that
//    find() may read what it found; they are counted as pinned until then. While that cannot be
//    had (membarrier is refused, memory is short), no room is made: loads go unkept, and what
//    grows leaves.
//  - What left is, whenever both mutexes are free, in retired_ or in the graveyard.
//  - A value is counted once: in kept_bytes, or in pinned_bytes while somebody holds it after it
//    was evicted, or not at all when it was never kept.
//
// Fork: the mutexes are held while the process is copied. The child keeps what is kept and forgets
// what is being loaded. Lock order: grave_mutex_, mutex_, shm's registry.
//
// Lifetime: made by make(), ended by close(); payloads that are still held keep it in memory.
#pragma once

#include <iceblink/stats.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cache/entry.h"
#include "client/cache/flight.h"
#include "client/cache/index.h"
#include "client/cache/retired.h"
#include "client/cache/s3_fifo.h"
#include "shm/atomic_word.h"
#include "shm/read_section.h"

namespace iceblink::client::cache {

struct StoreOptions {
  std::size_t bytes_max = 0;  // 0: nothing is kept
  std::size_t entry_bytes_max = 0;
};

/// What a miss leads to: exactly one is set.
struct Ticket {
  Value value;                      // it was there after all
  std::optional<Load> load;         // the caller is to load
  std::shared_ptr<Flight> follows;  // somebody else loads: Store::wait
};

class Store : public std::enable_shared_from_this<Store> {
 public:
  /// Throws std::bad_alloc.
  [[nodiscard]] static std::shared_ptr<Store> make(const StoreOptions& options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// The value under this hash that was seen at `stamp`, or whose key `matches(std::string_view)`.
  /// Null: miss (start() knows better). Inside a marked section of the calling thread only.
  template <typename Matches>
  [[nodiscard]] Value find(std::uint64_t hash, Stamp stamp, std::uint32_t thread_index,
                           Matches&& matches) const noexcept {
    return find_handle(hash, thread_index, [&](Handle& candidate) {
      // relaxed: see Handle::stamp
      return candidate.stamp.load(std::memory_order_relaxed) == stamp ||
             is_same(candidate, stamp, matches);
    });
  }
  /// The same by its key alone.
  template <typename Matches>
  [[nodiscard]] Value find(std::uint64_t hash, std::uint32_t thread_index,
                           Matches&& matches) const noexcept {
    return find_handle(hash, thread_index, [&](Handle& candidate) {
      return matches(std::string_view(candidate.payload->key()));
    });
  }

  /// Of the calling thread: shm::ThreadSlot::index, or 0 where it cannot be registered.
  [[nodiscard]] static std::uint32_t thread_index() noexcept {
    const shm::ThreadSlot* const slot = shm::thread_slot();
    return slot != nullptr ? slot->index : 0;
  }

  /// Goes on after a miss. Throws std::bad_alloc.
  [[nodiscard]] Ticket start(std::uint64_t hash, std::string_view key, std::uint32_t thread_index);
  /// What is kept, whatever stripe has seen it; null: nothing. Leads no load.
  [[nodiscard]] Value find_kept(std::uint64_t hash, std::string_view key,
                                std::uint32_t thread_index) noexcept;
  /// What comes of the flight, once it has landed. Nothing where that cannot be waited for: the
  /// calling thread leads another load, for which the flight's leader may be waiting in turn; or
  /// the leader is a thread of the parent process. Then: start_alone(). kUnsupported: the calling
  /// thread leads the flight itself; the message begins with `named`.
  [[nodiscard]] std::optional<Result<Value>> wait(Flight& flight,
                                                  std::string_view named = "a load");
  /// A load that nobody follows, and of which nothing is kept. Throws std::bad_alloc.
  [[nodiscard]] Load start_alone(std::string_view key);

  /// A value ready to be kept. Throws std::bad_alloc.
  [[nodiscard]] std::shared_ptr<Payload> make_payload(std::shared_ptr<const void> value) {
    return std::make_shared<Payload>(shared_from_this(), std::move(value));
  }

  [[nodiscard]] CacheStats stats() noexcept;
  /// Lets go of everything. No other call may be under way, or come, but of payloads.
  void close() noexcept;

 private:
  friend class Load;
  friend class Payload;
  friend class ForkHandlers;
  class Lock;

  explicit Store(const StoreOptions& options) noexcept
      : options_(options), queue_(options.bytes_max) {}

  /// Of one stripe of threads.
  struct Stripe {
    std::unique_ptr<Index<Handle>> index;
    std::size_t handle_count = 0;
  };

  template <typename IsIt>
  [[nodiscard]] Value find_handle(std::uint64_t hash, std::uint32_t thread_index,
                                  IsIt&& is_it) const noexcept {
    // SYNC cache-index: acquires its slots; partner Store::grow_stripe
    const Index<Handle>* const index =
        indexes_[thread_index % kStripes].load(std::memory_order_acquire);
    if (index == nullptr) return {};
    Handle* const handle = index->find(hash, is_it);
    if (handle == nullptr) return {};
    handle->mark();
    return handle->value;
  }

  template <typename Matches>
  [[nodiscard]] static bool is_same(Handle& handle, Stamp stamp, Matches& matches) noexcept {
    if (!matches(std::string_view(handle.payload->key()))) return false;
    // relaxed, both: see Handle::stamp. A place of the same mapping stays: of two names on one key,
    // each would undo what the other wrote.
    if (handle.stamp.load(std::memory_order_relaxed) >> 32 < stamp >> 32) {
      handle.stamp.store(stamp, std::memory_order_relaxed);
    }
    return true;
  }

  // All under mutex_. What leaves goes into retired_.
  [[nodiscard]] Entry* find_entry(std::uint64_t hash, std::string_view key) const noexcept;
  [[nodiscard]] Value reference(Entry& entry, std::uint32_t stripe) noexcept;
  /// A handle, where there is room for it. Making that may take this very entry.
  void try_to_give_handle(Entry& entry, std::uint32_t stripe);
  /// True: `bytes` more fit now.
  [[nodiscard]] bool make_room(std::size_t bytes) noexcept;
  /// True: the index has a free place.
  [[nodiscard]] bool grow_entries();
  [[nodiscard]] bool grow_stripe(std::uint32_t number);
  void retire(Entry& entry) noexcept;
  void set_aside(Flight& flight, std::size_t bytes, std::size_t value_bytes_min) noexcept;
  [[nodiscard]] bool keep(Flight& flight, const std::shared_ptr<Payload>& payload,
                          std::size_t value_bytes);
  void land(const std::shared_ptr<Flight>& flight, Result<Value> outcome) noexcept;
  /// Kept or no longer kept: entries and their values, or what holds them.
  void keep_bytes(std::size_t more, std::size_t less) noexcept;
  void hold_bytes(std::size_t more, std::size_t less) noexcept;
  void note_peak() noexcept;

  void grew(Payload& payload, std::size_t bytes) noexcept;
  /// Buries what is retired, and destroys what was buried and is read by nobody. Without mutex_.
  void bury() noexcept;

  const StoreOptions options_;
  /// Of each stripe; owned by stripes_. Apart from what misses write.
  alignas(64) std::array<shm::Atomic<const Index<Handle>*>, kStripes> indexes_{};

  alignas(64) shm::Atomic<std::size_t> pinned_bytes_{0};  // relaxed: a count
  std::mutex mutex_;
  // Under mutex_.
  std::array<Stripe, kStripes> stripes_;
  S3Fifo queue_;
  std::unique_ptr<Index<Entry>> entries_;
  std::vector<std::shared_ptr<Flight>> flights_;
  std::size_t kept_bytes_ = 0;     // holding_bytes_ included
  std::size_t holding_bytes_ = 0;  // indexes and ghosts, which no eviction frees
  std::size_t in_flight_bytes_ = 0;
  CacheStats counts_;  // its counts and the peak; entry_count
  std::uint64_t life_ = 0;
  Retired retired_{pinned_bytes_};  // not buried yet
  bool cannot_bury_ = false;        // the last burial failed
  bool has_graves_ = false;         // after the last burial

  std::mutex grave_mutex_;
  shm::Graveyard graveyard_;  // under grave_mutex_

  // The fork handlers'.
  Store* next_in_process_ = nullptr;
  Store* previous_in_process_ = nullptr;
};

}  // namespace iceblink::client::cache
