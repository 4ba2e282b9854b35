// The builder thread: makes arena epoch+1 beside the current one while commits go on, and flips.

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "shm/fault_point.h"
#include "shm/futex.h"
#include "shm/key.h"
#include "shm/publisher_state.h"

namespace iceblink::shm {
namespace {

constexpr std::uint64_t kHeadroomBoostMax = 64;
constexpr int kAttemptsMax = 4;  // of one build that commits outgrew
/// The last round, which holds publishing off, begins with so few records.
constexpr std::uint64_t kLastRoundRecordsMin = 4;
constexpr std::uint64_t kCatchUpStepRecords = 1024;

}  // namespace

std::uint64_t Publisher::State::headroom_for(std::uint64_t live_bytes) noexcept {
  return std::max(options_.headroom_bytes_min * headroom_boost_, live_bytes / 16);
}

void Publisher::State::end_lingering(Clock::time_point now) noexcept {
  std::unique_lock lock(publish_mutex_);
  while (!lingering_.empty() && lingering_.front().until <= now) {
    Lingering ended = std::move(lingering_.front());
    lingering_.pop_front();
    unmapping_bytes_ = ended.arena->mapping.bytes().size();
    lock.unlock();
    ended.arena->mapping.unmap();  // outside of the lock: freeing pages takes milliseconds
    lock.lock();
    unmapping_bytes_ = 0;
  }
}

// A build, and its report to whom it concerns.
Status Publisher::State::build(Room need, bool forced) noexcept {
  const std::uint64_t garbage_bytes = stats().arena_garbage_bytes;
  const auto begun_at = Clock::now();
  Status built = Ok{};
  try {
    built = build_and_flip(need, !forced);
  } catch (const std::bad_alloc&) {
    built = Error{ErrorKind::kOutOfMemory, {"building an arena"}};
  }
  if (!options_.on_build) return built;
  const PublisherStats now = stats();
  options_.on_build({.status = built,
                     .epoch = now.epoch,
                     .arena_bytes = now.arena_bytes,
                     .garbage_bytes_before = garbage_bytes,
                     .table_count = now.table_count,
                     .duration = Clock::now() - begun_at});
  return built;
}

void Publisher::State::builder_main() noexcept {
  static_cast<void>(::pthread_setname_np(::pthread_self(), "arena-builder"));
  std::unique_lock lock(publish_mutex_);
  while (true) {
    const auto wanted = [&] { return stopping_ || build_requested_; };
    if (lingering_.empty()) {
      builder_wakes_.wait(lock, wanted);
    } else {
      builder_wakes_.wait_until(lock, lingering_.front().until, wanted);
    }
    if (stopping_) break;
    if (build_requested_) {
      const Room need = std::exchange(build_need_, Room{});
      const bool forced = build_forced_;
      build_requested_ = false;
      build_forced_ = false;
      build_running_ = true;
      lock.unlock();
      Status built = build(need, forced);
      lock.lock();
      build_running_ = false;
      ++builds_done_;
      if (built) {
        quiet_until_publish_ = 0;
      } else {
        ++failed_build_count_;
        quiet_until_publish_ = publish_count_ + 256;
      }
      last_build_ = std::move(built);
      build_ended_.notify_all();
    }
    lock.unlock();
    end_lingering(Clock::now());
    lock.lock();
  }
  // Nobody waits for a builder that has ended.
  last_build_ = Status{ErrorKind::kInternal, "the publisher is being stopped"};
  builds_done_ += 2;
  build_ended_.notify_all();
}

Result<std::unique_ptr<WritableArena>> Publisher::State::create_beside(const WritableArena& source,
                                                                       std::uint64_t generation,
                                                                       Room need,
                                                                       bool only_if_two_fit) {
  if (source.epoch + 1 >= kEpochMax) {
    return {ErrorKind::kInternal, "epochs are used up: replace the control page"};
  }
  ArenaDemand demand;
  std::uint64_t held_bytes = 0;  // replaced arenas, which give way
  {
    const std::lock_guard lock(publish_mutex_);
    demand.live = measure(source.writer);
    demand.need_bytes = need.bytes + reserved_.bytes;
    demand.need_slots = need.slots + reserved_.slots;
    for (const auto& old : lingering_) held_bytes += old.arena->mapping.bytes().size();
  }
  demand.headroom_bytes = headroom_for(demand.live.record_bytes);
  const std::uint64_t old_bytes = source.mapping.bytes().size();
  ArenaParameters wanted = parameters(source.epoch + 1, generation);
  const std::uint64_t free_bytes = free_bytes_of(options_.runtime_dir) + held_bytes;
  const std::uint64_t share = fair_share(free_bytes, old_bytes);
  const std::uint64_t size = size_arena(demand, std::min(share, free_bytes), &wanted);
  if (size > std::max(share, old_bytes)) {
    return {ErrorKind::kNoSpace, options_.runtime_dir + "/" + kArenaPrefix +
                                     std::to_string(wanted.epoch) + ": of " + std::to_string(size) +
                                     " bytes would leave no room for its successor"};
  }
  if (free_bytes_of(options_.runtime_dir) < (only_if_two_fit ? 2 : 1) * size) {
    end_lingering(Clock::time_point::max());
  }
  if (only_if_two_fit && free_bytes_of(options_.runtime_dir) < 2 * size) {
    return {ErrorKind::kNoSpace,
            options_.runtime_dir + ": less than two arenas fit into what is free"};
  }
  return create_arena(options_.runtime_dir, wanted);
}

Status Publisher::State::build_and_flip(Room need, bool only_if_two_fit) {
  for (int attempt = 1;; ++attempt) {
    // Only this thread replaces current_, so the source stays while it is copied.
    std::unique_lock lock(publish_mutex_);
    WritableArena& source = *current_;
    const std::uint64_t generation = generation_;
    std::uint64_t position = source.writer.tail();
    const bool reseed = source.writer.longest_probe() > 256;
    lock.unlock();
    if (reseed) {
      const Id random = random_id();
      std::memcpy(&options_.hash_seed, random.data(), sizeof(options_.hash_seed));
    }

    ICEBLINK_ASSIGN_OR_RETURN(auto made, create_beside(source, generation, need, only_if_two_fit));
    ArenaWriter& writer = made->writer;
    const ArenaView view = source.writer.view();
    Status copied = fill_from(view, generation, writer);
    made->headroom_bytes = writer.free_bytes();
    std::uint64_t last_round_records = kLastRoundRecordsMin;
    while (copied && !lock.owns_lock()) {
      const std::uint64_t end = view.published_tail();
      copied = catch_up(view, &position, end, kCatchUpStepRecords, writer);
      if (!copied || end - position > 0) continue;
      lock.lock();
      // The last round: nothing is published while it runs.
      copied = catch_up(view, &position, source.writer.tail(), last_round_records, writer);
      if (copied && position < source.writer.tail()) lock.unlock();
      last_round_records *= 2;  // so that large commits cannot keep it from ending
    }
    if (copied && (writer.free_bytes() < reserved_.bytes + need.bytes ||
                   writer.free_slots() < reserved_.slots + need.slots)) {
      copied = Status{ErrorKind::kNoSpace, made->path + ": outgrown while it was built"};
    }
    if (!copied) {
      if (lock.owns_lock()) lock.unlock();
      if (copied.error().kind() != ErrorKind::kNoSpace || attempt == kAttemptsMax) return copied;
      headroom_boost_ = std::min(headroom_boost_ * 4, kHeadroomBoostMax);
      continue;
    }

    // Everything that allocates comes before the root.
    const std::string old_path = current_->path;
    lingering_.push_back({nullptr, Clock::now() + options_.linger});
    writer.publish_tail(generation_);
    ICEBLINK_FAULT_POINT("flip.before-root");
    // SYNC root-publish: releases the new arena; partner Segment (root acquire)
    control_->root.store(make_root(made->epoch, generation_), std::memory_order_release);
    ICEBLINK_FAULT_POINT("flip.after-root");
    const auto now = Clock::now();
    // Arenas that fill in less than a second cost readers more than room costs the host.
    const bool filled_up = current_->writer.free_bytes() < current_->headroom_bytes / 2;
    if (filled_up && now - current_since_ < std::chrono::seconds(1)) {
      headroom_boost_ = std::min(headroom_boost_ * 2, kHeadroomBoostMax);
    } else if (now - current_since_ > std::chrono::seconds(10)) {
      headroom_boost_ = std::max<std::uint64_t>(headroom_boost_ / 2, 1);
    }
    current_since_ = now;
    ++flip_count_;
    made->is_published = true;
    lingering_.back().arena = std::move(current_);
    current_ = std::move(made);
    lock.unlock();
    ICEBLINK_FAULT_POINT("flip.before-unlink");
    ::unlink(old_path.c_str());
    ICEBLINK_FAULT_POINT("flip.after-unlink");
    wake_root_waiters(control_->root);  // so that waiters let go of the old arena
    return Ok{};
  }
}

}  // namespace iceblink::shm
