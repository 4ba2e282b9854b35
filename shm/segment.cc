#include "shm/segment.h"

#include <pthread.h>

#include <algorithm>
#include <ctime>
#include <new>
#include <utility>
#include <vector>

#include "shm/futex.h"

namespace iceblink::shm {
namespace {

/// How long a lookup waits for the successor of a retired page.
constexpr std::chrono::milliseconds kSuccessorPatience{100};
/// A thread's checks of the place come about this often, unless it looks up less often.
constexpr std::uint64_t kCheckPaceNs = 5'000'000;
/// A wait looks at the place at least this often.
constexpr std::chrono::milliseconds kWaitSlice{250};

std::uint64_t now_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// The next check comes after as many sections as fit into kCheckPaceNs at the thread's pace.
void pace_checks(ThreadSlot& slot, std::uint64_t sequence) noexcept {
  const std::uint64_t now = now_ns(CLOCK_MONOTONIC);
  const std::uint64_t elapsed = std::max<std::uint64_t>(now - slot.last_check_ns, 1);
  slot.last_check_ns = now;
  const std::uint64_t wanted = slot.check_interval * kCheckPaceNs / elapsed;
  slot.check_interval =
      std::clamp<std::uint64_t>(std::min(wanted, slot.check_interval * 2), 1, kLookupsPerCheckMax);
  // Shortened by a changing quarter, so that a thread that alternates between two segments in
  // step with its checks still checks both.
  const std::uint64_t sections = slot.check_interval - (now >> 7) % (slot.check_interval / 4 + 1);
  slot.check_at = sequence + 2 * sections;
}

Error above_current(std::uint64_t after, std::uint64_t generation) noexcept {
  try {
    return {ErrorKind::kGone, "generation " + std::to_string(after) +
                                  " is above the current one, " + std::to_string(generation)};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::kGone, {"the generation is above the current one"}};
  }
}

/// What current_ points at when the place is lost: its root is RETIRED, so every lookup asks.
const Mapping& lost_mapping() noexcept {
  struct Lost {
    ControlPage page{};
    Mapping mapping;
    Lost() {
      page.root.store(kRetired, std::memory_order_relaxed);  // relaxed: before it is shared
      mapping.page = &page;
    }
  };
  static const Lost lost;
  return lost.mapping;
}

}  // namespace

/// Keeps remap locks and thread registry usable in a child process.
class SegmentForkHandlers {
 public:
  static SegmentForkHandlers& instance() {
    static auto* const handlers = new SegmentForkHandlers;  // never destroyed, see read_section.cc
    return *handlers;
  }
  void add(Segment* segment) {
    const std::lock_guard lock(mutex_);
    segments_.push_back(segment);
  }
  void remove(Segment* segment) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(segments_, segment);
  }

 private:
  SegmentForkHandlers() {
    if (::pthread_atfork(before, after_in_parent, after_in_child) != 0) throw std::bad_alloc();
  }

  // A remap lock is taken before the registry's, here as everywhere.
  static void before() {
    auto& self = instance();
    self.mutex_.lock();
    for (Segment* segment : self.segments_) segment->remap_mutex_.lock();
    lock_registry_for_fork();
  }
  static void after_in_parent() {
    unlock_registry_after_fork();
    release();
  }
  static void after_in_child() {
    reset_registry_after_fork();
    release();
  }
  static void release() {
    auto& self = instance();
    for (Segment* segment : self.segments_) segment->remap_mutex_.unlock();
    self.mutex_.unlock();
  }

  std::mutex mutex_;
  std::vector<Segment*> segments_;
};

void install_fork_handlers() {
  SegmentForkHandlers::instance();
}

Result<std::unique_ptr<Segment>> Segment::attach(std::string runtime_dir,
                                                 std::chrono::milliseconds attach_timeout) {
  try {
    Attachment attachment(runtime_dir, nullptr);
    ICEBLINK_ASSIGN_OR_RETURN(auto mapping, attachment.run(std::min<std::chrono::milliseconds>(
                                                attach_timeout, std::chrono::hours(24 * 365))));
    install_fork_handlers();  // before there is a segment, whose destructor needs them
    std::unique_ptr<Segment> segment(new Segment(std::move(runtime_dir)));
    segment->owner_ = std::move(mapping);
    segment->attach_count_ = 1;
    // relaxed: before the segment is shared
    segment->current_.store(segment->owner_.get(), std::memory_order_relaxed);
    SegmentForkHandlers::instance().add(segment.get());
    return segment;
  } catch (const std::bad_alloc&) {
    return {ErrorKind::kOutOfMemory, "attaching"};
  }
}

Segment::~Segment() {
  SegmentForkHandlers::instance().remove(this);
}

Error Segment::Section::error_of(const ThreadSlot* slot) noexcept {
  if (slot != nullptr && slot->failure) return *slot->failure;
  return {ErrorKind::kOutOfMemory, {"registering a reader thread"}};
}

Segment::Section::Entered Segment::Section::enter_slowly(Segment& segment,
                                                         ThreadSlot& slot) noexcept {
  // relaxed: this thread's own
  std::uint64_t sequence = slot.sequence.load(std::memory_order_relaxed) - 1;
  bool check_place = sequence >= slot.check_at;
  if (check_place) pace_checks(slot, sequence);
  // A publisher that flips without pause could outrun one attempt.
  for (int attempts = 0; attempts < 64; ++attempts) {
    // Out of the section while it waits for locks and files: others may wait for its end.
    leave_section(slot, sequence);
    Status followed = segment.follow(check_place);
    check_place = false;
    sequence = enter_section(slot);
    if (!followed) {
      slot.failure = followed.error();
      return {nullptr, 0, sequence};
    }
    // SYNC current-mapping: acquires the mapping; partner Segment::install
    const Mapping* mapping = segment.current_.load(std::memory_order_acquire);
    // SYNC root-publish: acquires slots, records and tail; partner Publisher (root release)
    const RootWord root = mapping->page->root.load(std::memory_order_acquire);
    if (epoch_of(root) == mapping->epoch) return {mapping, root, sequence};
  }
  slot.failure = Error{ErrorKind::kTimedOut,
                       {segment.runtime_dir_, ": arenas are replaced faster than they are mapped"}};
  return {nullptr, 0, sequence};
}

Status Segment::follow(bool check_the_place) noexcept {
  try {
    const std::lock_guard lock(remap_mutex_);
    return follow_locked(check_the_place);
  } catch (const std::bad_alloc&) {
    return Error{ErrorKind::kOutOfMemory, {"mapping an arena"}};
  }
}

Status Segment::follow_locked(bool check_the_place) {
  graveyard_.dig();
  // For the mapping that is replaced or let go, if any.
  if (!graveyard_.make_room()) return Error{ErrorKind::kOutOfMemory, {"mapping an arena"}};
  std::shared_ptr<const ControlMapping> control = owner_ ? owner_->control : nullptr;
  if (check_the_place && control) {
    ++place_check_count_;
    const auto identity = identity_of(runtime_dir_ + "/" + kControlName);
    if (identity ? *identity != control->file.identity()
                 : identity.error().kind() == ErrorKind::kNotFound) {
      let_go();  // another file, or none: whatever comes of it, the old page serves no more
      control = nullptr;
    }
  }
  // relaxed: only compared; an attachment reads it again, and so does who asked for this
  if (control && epoch_of(control->page->root.load(std::memory_order_relaxed)) == owner_->epoch) {
    return Ok{};
  }
  // A page that vanished gets no patience; the successor of a retired one is a moment away.
  const auto patience = control ? kSuccessorPatience : std::chrono::milliseconds(0);
  Attachment attachment(runtime_dir_, std::move(control));
  auto mapping = attachment.run(patience);
  if (!mapping) {
    if (mapping.error().kind() == ErrorKind::kNoSegment) let_go();
    return mapping.error();
  }
  install(std::move(*mapping));
  return Ok{};
}

void Segment::install(std::shared_ptr<const Mapping> mapping) noexcept {
  // SYNC current-mapping: releases the mapping; partner Section
  current_.store(mapping.get(), std::memory_order_release);
  ++attach_count_;
  std::swap(owner_, mapping);
  if (mapping) graveyard_.bury(std::move(mapping));
  graveyard_.dig();
}

void Segment::let_go() noexcept {
  if (!owner_) return;
  // SYNC current-mapping: releases the mapping; partner Section
  current_.store(&lost_mapping(), std::memory_order_release);
  graveyard_.bury(std::move(owner_));
  owner_ = nullptr;
}

Status Segment::check_place() noexcept {
  return follow(true);
}

Result<PinnedView> Segment::pin() noexcept {
  const Section section(*this);
  if (!section.ok()) return section.error();
  // The reference is taken inside the section, where the mapping cannot go.
  return PinnedView{section.mapping().shared_from_this(), section.generation()};
}

Result<std::optional<std::uint64_t>> Segment::wait_for_change(
    std::uint64_t after, std::chrono::nanoseconds timeout) noexcept {
  const auto deadline = Attachment::deadline_after(timeout);
  bool has_waited = false;
  while (true) {
    std::shared_ptr<const ControlMapping> control;  // and not the arena: it may be flipped away
    RootWord root = 0;
    {
      const Section section(*this);
      if (!section.ok()) return section.error();
      const std::uint64_t generation = section.generation();
      if (generation > after) {
        // relaxed: a count, for showing
        if (has_waited) wake_count_.fetch_add(1, std::memory_order_relaxed);
        return std::optional(generation);
      }
      if (generation < after) return above_current(after, generation);
      control = section.mapping().control;
      root = section.root();
    }
    const auto left = deadline - Attachment::Clock::now();
    if (left <= std::chrono::nanoseconds::zero()) return std::optional<std::uint64_t>();
    // relaxed: a count, for showing
    if (!std::exchange(has_waited, true)) wait_count_.fetch_add(1, std::memory_order_relaxed);
    const std::chrono::nanoseconds slice = std::min<std::chrono::nanoseconds>(left, kWaitSlice);
    wait_for_root(control->page->root, root, slice);
    // relaxed: only compared; the next section reads it again
    if (control->page->root.load(std::memory_order_relaxed) == root) {
      ICEBLINK_RETURN_IF_ERROR(check_place());
    }
  }
}

Segment::Health Segment::health() noexcept {
  const Section section(*this);
  if (!section.ok()) return {0, std::chrono::nanoseconds::max()};
  const ControlPage& page = *section.mapping().page;
  // relaxed, both: for showing health; nothing correct depends on them
  const std::uint64_t beat = page.heartbeat_ns.load(std::memory_order_relaxed);
  const std::uint64_t now = now_ns(CLOCK_MONOTONIC);
  return {page.daemon_pid.load(std::memory_order_relaxed),
          std::chrono::nanoseconds(now > beat ? now - beat : 0)};
}

Segment::Stats Segment::stats() noexcept {
  const std::lock_guard lock(remap_mutex_);
  graveyard_.dig();
  return {attach_count_, graveyard_.size(), place_check_count_,
          wait_count_.load(std::memory_order_relaxed),  // relaxed, both: counts, for showing
          wake_count_.load(std::memory_order_relaxed)};
}

}  // namespace iceblink::shm
