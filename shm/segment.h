// A reader's end of the segment: the current mapping, lookups on it, snapshots, waiting, changes.
//
// Thread safety: everything may be called from any thread. A lookup that hits writes only the
// calling thread's own slot. After fork the child reads on. Nothing here may be called from a
// signal handler.
//
// Invariants:
//  - Nothing here writes shared memory: both mappings are PROT_READ.
//  - For one control page, a mapping is never replaced by one of a lower epoch.
//  - The place is checked (is control still the file at its path?) by every Nth lookup of a
//    thread, N adapting to its pace (at most kLookupsPerCheckMax), and by every time-out of a
//    wait. A page that is gone is an error until there is one again; nothing goes on serving it.
#pragma once

#include <iceblink/result.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "shm/atomic_word.h"
#include "shm/attachment.h"
#include "shm/read_section.h"

namespace iceblink::shm {

inline constexpr std::uint64_t kLookupsPerCheckMax = 4096;

/// Makes the thread registry and the remap locks survive a fork. Called by Segment::attach; by
/// others before they install handlers of their own whose locks are taken before these.
/// Throws std::bad_alloc.
void install_fork_handlers();

/// A mapping held fast, and a generation in it.
struct PinnedView {
  std::shared_ptr<const Mapping> mapping;
  std::uint64_t generation = 0;
};

class Segment {
 public:
  /// Maps the segment of `runtime_dir`, waiting until `attach_timeout` for one to appear.
  /// Errors: those of Attachment::run.
  [[nodiscard]] static Result<std::unique_ptr<Segment>> attach(
      std::string runtime_dir, std::chrono::milliseconds attach_timeout);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Reads of one moment: between construction and destruction the mapping stays, and
  /// generation() is the root's at construction. Short; sections of a thread do not nest.
  class Section {
   public:
    explicit Section(Segment& segment) noexcept : slot_(thread_slot()) {
      if (slot_ == nullptr) [[unlikely]]
        return;
      sequence_ = enter_section(*slot_);
      // SYNC current-mapping: acquires the mapping; partner Segment::install
      const Mapping* mapping = segment.current_.load(std::memory_order_acquire);
      // SYNC root-publish: acquires slots, records and tail; partner Publisher (root release)
      const RootWord root = mapping->page->root.load(std::memory_order_acquire);
      if (epoch_of(root) == mapping->epoch && sequence_ < slot_->check_at) [[likely]] {
        mapping_ = mapping;
        root_ = root;
      } else {
        const Entered entered = enter_slowly(segment, *slot_);
        mapping_ = entered.mapping;
        root_ = entered.root;
        sequence_ = entered.sequence;
      }
    }
    ~Section() {
      if (slot_ != nullptr) leave_section(*slot_, sequence_);
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    [[nodiscard]] bool ok() const noexcept { return mapping_ != nullptr; }
    [[nodiscard]] Error error() const noexcept { return error_of(slot_); }
    [[nodiscard]] const ArenaView& arena() const noexcept { return mapping_->arena; }
    [[nodiscard]] std::uint64_t generation() const noexcept {
      return mapping_->arena.generation_at(root_);
    }
    [[nodiscard]] const Mapping& mapping() const noexcept { return *mapping_; }
    [[nodiscard]] RootWord root() const noexcept { return root_; }
    /// Of the calling thread (ThreadSlot::index).
    [[nodiscard]] std::uint32_t thread_index() const noexcept { return slot_->index; }
    void count(ReadOutcome outcome) const noexcept { count_reads(*slot_, outcome); }

   private:
    struct Entered {
      const Mapping* mapping;  // null: slot.failure says why
      RootWord root;
      std::uint64_t sequence;
    };
    /// Takes the slot alone, so that a section need not lie in memory.
    static Error error_of(const ThreadSlot* slot) noexcept;
    /// Follows the root, and checks the place when that is due.
    static Entered enter_slowly(Segment& segment, ThreadSlot& slot) noexcept;

    ThreadSlot* const slot_;
    std::uint64_t sequence_ = 0;
    const Mapping* mapping_ = nullptr;
    RootWord root_ = 0;
  };

  [[nodiscard]] Result<PinnedView> pin() noexcept;

  /// The first generation above `after` that is seen, or nothing when `timeout` has passed.
  /// kGone at once when `after` is above the current generation.
  [[nodiscard]] Result<std::optional<std::uint64_t>> wait_for_change(
      std::uint64_t after, std::chrono::nanoseconds timeout) noexcept;

  /// Makes sure that control is still the file at its path, else attaches anew. kNoSegment when
  /// there is none.
  [[nodiscard]] Status check_place() noexcept;

  struct Health {
    std::uint32_t daemon_pid = 0;               // 0: it said that it stopped
    std::chrono::nanoseconds heartbeat_age{0};  // by CLOCK_MONOTONIC
  };
  [[nodiscard]] Health health() noexcept;

  struct Stats {
    std::uint64_t attach_count = 0;   // mappings made, the first included
    std::uint64_t retired_count = 0;  // old mappings some thread may still be reading
    std::uint64_t place_check_count = 0;
    std::uint64_t wait_count = 0;  // calls of wait_for_change that had to wait
    std::uint64_t wake_count = 0;  // of these: that saw a change
  };
  [[nodiscard]] Stats stats() noexcept;

  [[nodiscard]] const std::string& runtime_dir() const noexcept { return runtime_dir_; }

 private:
  explicit Segment(std::string runtime_dir) : runtime_dir_(std::move(runtime_dir)) {}

  /// Makes the mapping current that the root names now. Takes remap_mutex_.
  Status follow(bool check_the_place) noexcept;
  Status follow_locked(bool check_the_place);
  // Both with room in the graveyard.
  void install(std::shared_ptr<const Mapping> mapping) noexcept;
  /// After a lost place: lookups go the slow way until there is one again.
  void let_go() noexcept;

  friend class SegmentForkHandlers;

  const std::string runtime_dir_;

  Atomic<const Mapping*> current_{nullptr};  // owned by owner_

  // Under remap_mutex_.
  std::mutex remap_mutex_;
  std::shared_ptr<const Mapping> owner_;
  Graveyard graveyard_;
  std::uint64_t attach_count_ = 0;
  std::uint64_t place_check_count_ = 0;

  // relaxed: counts, for showing; apart from what lookups read
  alignas(64) Atomic<std::uint64_t> wait_count_{0};
  Atomic<std::uint64_t> wake_count_{0};
};

}  // namespace iceblink::shm
