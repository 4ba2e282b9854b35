#include "shm/publisher.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>

#include "shm/fault_point.h"
#include "shm/futex.h"
#include "shm/publisher_state.h"

namespace iceblink::shm {
namespace {

// What planted faults do, for long enough to be seen. Other builds have nothing that calls these.

constexpr unsigned kPlantedUs = 5000;

void show_half(ControlPage& control, const WritableArena& arena, std::uint64_t generation) {
  // SYNC root-publish: too early, on purpose
  control.root.store(make_root(arena.epoch, generation), std::memory_order_release);
  ::usleep(kPlantedUs);
}

void go_back(ControlPage& control, const WritableArena& arena, std::uint64_t generation) {
  if (generation < arena.writer.view().base_generation() + 2) return;
  // SYNC root-publish: too low, on purpose
  control.root.store(make_root(arena.epoch, generation - 2), std::memory_order_release);
  ::usleep(kPlantedUs);
  // SYNC root-publish: as it was
  control.root.store(make_root(arena.epoch, generation), std::memory_order_release);
}

}  // namespace

Publisher::State::State(PublisherOptions options)
    : options_(std::move(options)), started_s_(static_cast<std::uint64_t>(::time(nullptr))) {}

Publisher::State::~State() {
  if (!builder_.joinable()) return;
  {
    const std::lock_guard lock(publish_mutex_);
    stopping_ = true;
  }
  builder_wakes_.notify_one();
  builder_.join();
}

bool Publisher::State::fits(Room room) const noexcept {
  return generation_ - current_->writer.view().base_generation() < kGenerationsPerArenaMax - 1 &&
         current_->writer.free_bytes() >= room.bytes && current_->writer.free_slots() >= room.slots;
}

bool Publisher::State::wants_replacement() const noexcept {
  const ArenaWriter& writer = current_->writer;
  constexpr std::uint64_t kProbeSlotsMax = 256;
  const std::uint64_t live = measure(writer).record_bytes;
  return writer.free_bytes() < current_->headroom_bytes / 2 || index_is_crowded(writer) ||
         writer.garbage_bytes() > live + options_.headroom_bytes_min ||
         writer.longest_probe() > kProbeSlotsMax ||
         generation_ - writer.view().base_generation() > kGenerationsPerArenaMax / 2;
}

void Publisher::State::request_build(Room need) noexcept {
  build_requested_ = true;
  build_need_.bytes = std::max(build_need_.bytes, need.bytes);
  build_need_.slots = std::max(build_need_.slots, need.slots);
  builder_wakes_.notify_one();
}

void Publisher::State::force_build(std::unique_lock<std::mutex>& lock, Room need) {
  // A build that is under way was sized without this need: the next one counts.
  const std::uint64_t end = builds_done_ + (build_running_ ? 2 : 1);
  build_forced_ = true;
  request_build(need);
  build_ended_.wait(lock, [&] { return builds_done_ >= end; });
}

Status Publisher::State::reserve(Room room, std::span<const Change> changes) {
  std::unique_lock lock(publish_mutex_);
  reserved_ = {};
  // Slots first, and what these name while the room is seen to: a durable commit follows, in which
  // all of it arrives.
  std::array<std::uint64_t, kFetchedChanges> hashes;
  const std::size_t fetched = std::min(changes.size(), kFetchedChanges);
  for (std::size_t i = 0; i < fetched; ++i) {
    hashes[i] = current_->writer.hash_of(changes[i].key);
    current_->writer.fetch_slot(hashes[i]);
  }
  // More than once only where somebody else's build came in between.
  for (int attempt = 0; attempt < 3 && !fits(room); ++attempt) {
    force_build(lock, room);
    if (!fits(room) && !last_build_) return last_build_;
  }
  if (!fits(room)) return {ErrorKind::kNoSpace, "the arena that was built is too small"};
  for (std::size_t i = 0; i < fetched; ++i) {
    current_->writer.fetch_record(hashes[i], changes[i].key.size());
  }
  reserved_ = room;
  return Ok{};
}

void Publisher::State::release() noexcept {
  const std::lock_guard lock(publish_mutex_);
  reserved_ = {};
}

// Records and slots of so many changes, of which the slots may have been fetched.
void Publisher::State::publish_some(std::uint64_t generation,
                                    std::span<const Change> changes) noexcept {
  ArenaWriter& writer = current_->writer;
  std::array<std::uint64_t, kFetchedChanges> hashes;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    hashes[i] = writer.hash_of(changes[i].key);
    writer.fetch_slot(hashes[i]);
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    writer.fetch_record(hashes[i], changes[i].key.size());
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Change stamped = changes[i];
    stamped.generation = generation;
    ICEBLINK_FAULT_POINT("publish.before-append");
    const auto pending = writer.append(stamped, hashes[i]);
    ICEBLINK_FAULT_POINT("publish.after-append");
    ICEBLINK_FAULT_POINT("publish.before-slot");
    if (!ICEBLINK_PLANTED("lost-publish")) writer.store_slot(pending);
    ICEBLINK_FAULT_POINT("publish.after-slot");
  }
}

void Publisher::State::publish(std::uint64_t generation, std::span<const Change> changes) noexcept {
  std::unique_lock lock(publish_mutex_);
  if (generation <= generation_) std::abort();  // a bug upstream; readers must never see it
  ArenaWriter& writer = current_->writer;
  std::uint64_t bytes = 0;
  for (const auto& change : changes) bytes += room_for(change).bytes;
  writer.announce_append(std::min(bytes, writer.free_bytes()));
  std::span<const Change> left = changes;
  if (changes.size() > 3 && ICEBLINK_PLANTED("mixed-snapshot")) {
    for (; left.size() > changes.size() / 2; left = left.subspan(1)) {
      publish_some(generation, left.first(1));
    }
    show_half(*control_, *current_, generation);
  }
  while (!left.empty()) {
    const std::size_t count = std::min(left.size(), kFetchedChanges);
    publish_some(generation, left.first(count));
    left = left.subspan(count);
  }
  writer.publish_tail(generation);
  generation_ = generation;
  ICEBLINK_FAULT_POINT("publish.before-root");
  // SYNC root-publish: releases records, slots and tail; partner Segment (root acquire)
  control_->root.store(make_root(current_->epoch, generation), std::memory_order_release);
  ICEBLINK_FAULT_POINT("publish.after-root");
  if (ICEBLINK_PLANTED("backwards-generation")) go_back(*control_, *current_, generation);
  reserved_ = {};
  ++publish_count_;
  if (build_running_) {
    ++publishes_during_build_count_;
  } else if (!build_requested_ && publish_count_ >= quiet_until_publish_ && wants_replacement()) {
    request_build({});
  }
  lock.unlock();
  ICEBLINK_FAULT_POINT("publish.before-wake");
  wake_root_waiters(control_->root);
  ICEBLINK_FAULT_POINT("publish.after-wake");
  // SYNC published: releases the publish; partner Publisher::wait_published
  published_.store(generation, std::memory_order_release);
  published_.notify_all();
}

Status Publisher::State::flip() {
  std::unique_lock lock(publish_mutex_);
  force_build(lock, {});
  return last_build_;
}

PublisherStats Publisher::State::stats() const {
  const std::lock_guard lock(publish_mutex_);
  PublisherStats stats;
  stats.generation = generation_;
  stats.flip_count = flip_count_;
  stats.failed_build_count = failed_build_count_;
  stats.publish_count = publish_count_;
  stats.publishes_during_build_count = publishes_during_build_count_;
  stats.lingering_bytes = unmapping_bytes_;
  for (const auto& old : lingering_) stats.lingering_bytes += old.arena->mapping.bytes().size();
  if (current_ == nullptr) return stats;
  const ArenaWriter& writer = current_->writer;
  stats.epoch = current_->epoch;
  stats.table_count = writer.table_count();
  stats.view_count = writer.view_count();
  stats.namespace_count = writer.namespace_count();
  stats.arena_bytes = current_->mapping.bytes().size();
  stats.arena_used_bytes = writer.tail();
  stats.arena_garbage_bytes = writer.garbage_bytes();
  stats.index_used_slots = writer.used_slots();
  stats.index_capacity = writer.view().header().index_capacity;
  return stats;
}

// ------------------------------------------------------------------------------------------------

Publisher::Publisher(std::unique_ptr<State> state) : state_(std::move(state)) {}
Publisher::~Publisher() = default;

Result<std::unique_ptr<Publisher>> Publisher::open(PublisherOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  ICEBLINK_RETURN_IF_ERROR(state->open());
  return std::unique_ptr<Publisher>(new Publisher(std::move(state)));
}

std::optional<std::uint64_t> Publisher::adopted_generation() const noexcept {
  return state_->adopted_generation();
}
bool Publisher::adopts_control() const noexcept {
  return state_->adopts_control();
}
Status Publisher::start(const CatalogSource& source, std::uint64_t incarnation) {
  return state_->start(source, incarnation);
}
Room Publisher::room_for(const Change& change) noexcept {
  return {record_span(change.key.size(), change.location.size(), is_namespace_class(change.kind)),
          1};
}
Status Publisher::reserve(Room room) {
  return state_->reserve(room, {});
}
Status Publisher::reserve(std::span<const Change> changes) {
  Room room;
  for (const auto& change : changes) room += room_for(change);
  return state_->reserve(room, changes);
}
void Publisher::release() noexcept {
  state_->release();
}
void Publisher::publish(std::uint64_t generation, std::span<const Change> changes) noexcept {
  state_->publish(generation, changes);
}

std::uint64_t Publisher::published_generation() const noexcept {
  // SYNC published: acquires the publish; partner State::publish
  return state_->published().load(std::memory_order_acquire);
}

void Publisher::wait_published(std::uint64_t generation) const noexcept {
  for (auto seen = published_generation(); seen < generation; seen = published_generation()) {
    // relaxed: looked at again
    state_->published().wait(seen, std::memory_order_relaxed);
  }
}

Status Publisher::flip() {
  return state_->flip();
}

void Publisher::beat() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                  static_cast<std::uint64_t>(now.tv_nsec);
  // relaxed, both: for showing health; nothing correct depends on them
  state_->control()->heartbeat_ns.store(ns, std::memory_order_relaxed);
  state_->control()->daemon_pid.store(static_cast<std::uint32_t>(::getpid()),
                                      std::memory_order_relaxed);
}

void Publisher::say_stopped() noexcept {
  // relaxed: as in beat()
  state_->control()->daemon_pid.store(0, std::memory_order_relaxed);
}

PublisherStats Publisher::stats() const {
  return state_->stats();
}

}  // namespace iceblink::shm
