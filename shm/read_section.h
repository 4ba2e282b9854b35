// Safe access to memory that another thread of the process may retire: a slot per thread and a
// grace period that costs readers nothing.
//
// A reader marks its own slot (two stores to a line no other thread writes), loads the current
// mapping, reads, and unmarks. Who retires a mapping first makes it unreachable, then issues
// membarrier(PRIVATE_EXPEDITED), which orders every running thread's mark before its load, and
// then looks at all slots: a thread that is inside may still use the mapping, one that is not
// can only find its successor. Where membarrier is not offered, readers use a real fence; where it
// is refused later, what is retired waits until it is granted.
//
// Thread safety: enter and leave touch the calling thread's slot only; sections do not nest.
// Not for signal handlers: one that interrupts a section would end it.
// After fork, the child's registry holds the forking thread alone (reset_after_fork).
#pragma once

#include <iceblink/result.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "shm/atomic_word.h"

namespace iceblink::shm {

/// What became of a read by name, as far as it is counted.
enum class ReadOutcome : std::uint8_t {
  kFound,        // in the segment, and what more was needed was not cached
  kAbsent,       // not in the segment
  kMetadataHit,  // found, and its metadata was cached
  kTableHit,     // found, and its handle was cached
};
inline constexpr std::size_t kReadOutcomes = 4;

struct alignas(64) ThreadSlot {
  /// Odd: inside a section. Written by its thread only.
  Atomic<std::uint64_t> sequence{0};
  // The owner's own:
  std::uint64_t check_at = 0;  // the sequence at whose entry the place is to be checked
  /// By ReadOutcome. Written by its thread only, in the line that it has written anyway; whoever
  /// has the slot after it counts on.
  std::array<Atomic<std::uint64_t>, kReadOutcomes> reads{};
  // The owner's own, again:
  std::uint64_t check_interval = 1;  // sections
  std::uint64_t last_check_ns = 0;
  std::optional<Error> failure;  // of the section that could not be entered
  /// Below the number of threads that were ever registered at once. Constant.
  std::uint32_t index = 0;
  // Under the registry's mutex:
  bool in_use = false;
};

namespace read_section_internal {
// initial-exec: 1.8 ns less per lookup than the default model of position-independent code.
extern constinit thread_local ThreadSlot* current_slot __attribute__((tls_model("initial-exec")));
extern Atomic<bool> readers_fence;
/// Gives the calling thread a slot. Null when out of memory.
[[nodiscard]] ThreadSlot* register_thread() noexcept;
}  // namespace read_section_internal

/// The calling thread's slot, made at its first use. Null when out of memory.
[[nodiscard]] inline ThreadSlot* thread_slot() noexcept {
  ThreadSlot* slot = read_section_internal::current_slot;
  return slot != nullptr ? slot : read_section_internal::register_thread();
}

/// Marks the slot; returns the sequence before, for leave_section.
inline std::uint64_t enter_section(ThreadSlot& slot) noexcept {
  // relaxed: only this thread writes it. The order of the mark against the load of the mapping
  // that follows is made by the retirer's membarrier, and by the compiler fence here.
  const std::uint64_t sequence = slot.sequence.load(std::memory_order_relaxed);
  // SYNC section-leave: whoever sees this mark has seen the end of the section before; partner
  // Graveyard::count_open
  slot.sequence.store(sequence + 1, std::memory_order_release);
  // SYNC section-enter: orders the mark before the load of the mapping; partner Graveyard::ask
  compiler_fence(std::memory_order_seq_cst);
  if (read_section_internal::readers_fence.load(std::memory_order_relaxed)) [[unlikely]] {
    thread_fence(std::memory_order_seq_cst);
  }
  return sequence;
}

inline void leave_section(ThreadSlot& slot, std::uint64_t sequence) noexcept {
  // SYNC section-leave: releases the section's reads; partner Graveyard::count_open
  slot.sequence.store(sequence + 2, std::memory_order_release);
}

/// Counts `count` reads of the slot's thread: no read-modify-write, since nobody else writes.
inline void count_reads(ThreadSlot& slot, ReadOutcome outcome, std::uint64_t count = 1) noexcept {
  auto& counter = slot.reads[static_cast<std::size_t>(outcome)];
  // relaxed, both: a counter, for showing
  counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
}

/// Of all threads that there are and were, by ReadOutcome. May run a moment behind the threads. A
/// child process goes on from what its parent had.
[[nodiscard]] std::array<std::uint64_t, kReadOutcomes> sum_reads() noexcept;

/// Readers mark with a real fence, since the kernel does not offer membarrier.
[[nodiscard]] bool readers_use_fences() noexcept;

/// A section of nothing but the thread's mark, for reading what is retired through a Graveyard.
class MarkedSection {
 public:
  MarkedSection() noexcept : slot_(thread_slot()) {
    if (slot_ != nullptr) [[likely]]
      sequence_ = enter_section(*slot_);
  }
  ~MarkedSection() {
    if (slot_ != nullptr) leave_section(*slot_, sequence_);
  }
  MarkedSection(const MarkedSection&) = delete;
  MarkedSection& operator=(const MarkedSection&) = delete;

  /// False: the thread could not be registered, out of memory.
  [[nodiscard]] bool ok() const noexcept { return slot_ != nullptr; }
  [[nodiscard]] std::uint32_t thread_index() const noexcept { return slot_->index; }
  void count(ReadOutcome outcome) const noexcept { count_reads(*slot_, outcome); }

 private:
  ThreadSlot* const slot_;
  std::uint64_t sequence_ = 0;
};

/// Retired objects that threads inside a section may still read.
///
/// Thread safety: the caller serialises all of it.
///
/// Invariants:
///  - Graves are opened in the order in which they were made: who still witnesses one was asked
///    about all later ones, too.
///  - A grave whose witnesses could not be asked (no barrier, no memory) stays until a later dig
///    has asked them.
class Graveyard {
 public:
  /// For one burial more. False: out of memory.
  [[nodiscard]] bool make_room() noexcept;
  /// Keeps `object`, which no new section can reach any more, until those under way have ended.
  /// There must be room.
  void bury(std::shared_ptr<const void> object) noexcept;
  /// Lets go of what nobody can be reading any more. Never waits.
  void dig() noexcept;
  /// The same, but hands it out, for a caller that destroys it after it has let go of its lock.
  /// Out of memory, it stays.
  [[nodiscard]] std::vector<std::shared_ptr<const void>> exhume() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return graves_.size(); }
  /// Nobody knows yet who reads some of it: membarrier is refused, or memory was short.
  [[nodiscard]] bool is_waiting() const noexcept { return asked_count_ < graves_.size(); }

 private:
  struct Witness {
    const ThreadSlot* slot;
    std::uint64_t sequence;  // while it stays at this, the thread may be reading
  };
  struct Grave {
    std::shared_ptr<const void> object;
    std::vector<Witness> witnesses;
  };
  /// Asks for the witnesses of all graves that have not been asked for.
  void ask() noexcept;
  /// How many can be opened, from the first on.
  [[nodiscard]] std::size_t count_open() noexcept;
  void remove(std::size_t count) noexcept;

  std::vector<Grave> graves_;    // oldest first
  std::size_t asked_count_ = 0;  // of these, from the first on, whose witnesses are known
};

/// The thread registry across fork: the mutex is held while the process is copied; the child
/// keeps the forking thread's slot alone and registers for membarrier anew at its first burial.
void lock_registry_for_fork() noexcept;
void unlock_registry_after_fork() noexcept;
void reset_registry_after_fork() noexcept;

}  // namespace iceblink::shm
