#include "shm/publisher.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>

#include "shm/fault_point.h"
#include "shm/futex.h"
#include "shm/publisher_state.h"

namespace iceblink::shm {

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

Status Publisher::State::open() {
  ICEBLINK_ASSIGN_OR_RETURN(lock_, DirectoryLock::take(options_.runtime_dir));
  sweep_control_drafts(options_.runtime_dir);
  const std::string path = options_.runtime_dir + "/" + kControlName;
  auto present = identity_of(path);
  if (!present) {
    if (present.error().kind() != ErrorKind::kNotFound) return present.error();
    look_at_arenas();
    return Ok{};
  }
  Status adopted = adopt();
  if (!adopted) {
    const auto kind = adopted.error().kind();
    const bool foreign = kind == ErrorKind::kCorrupt || kind == ErrorKind::kIncompatible;
    if (!foreign || options_.on_foreign_control == PublisherOptions::OnForeignControl::kRefuse) {
      return adopted;
    }
    present_ = Present::kForeign;
    look_for_epoch();
  }
  if (present_ != Present::kAdoptable) look_at_arenas();
  return Ok{};
}

// Without a page to adopt (killed between RETIRED and the successor, or the page is lost), the
// arenas still say what their readers have seen.
void Publisher::State::look_at_arenas() noexcept {
  const auto names = list_arenas(options_.runtime_dir);
  if (!names) return;
  for (const auto& name : *names) {
    const auto file = ReadMapping::open(options_.runtime_dir + "/" + name);
    if (!file) continue;
    const auto arena = ArenaView::open(file->bytes(), name);
    if (!arena || arena->header().store_uuid != options_.store_uuid) continue;
    // relaxed: its publisher has ended
    const std::uint64_t published =
        arena->header().published_generation.load(std::memory_order_relaxed);
    adopted_generation_ = std::max(adopted_generation_.value_or(0), published);
  }
}

// Magic, root and RETIRED stand at the same place in every layout, so a page that cannot be
// adopted can still be retired.
void Publisher::State::look_for_epoch() noexcept {
  control_ = nullptr;
  if (control_mapping_.bytes().size() != kControlBytes) return;
  auto* page = reinterpret_cast<ControlPage*>(control_mapping_.bytes().data());
  // relaxed, both: the directory is locked, nobody else stores them
  if (page->magic.load(std::memory_order_relaxed) != kControlMagic) return;
  control_ = page;
  const RootWord root = page->root.load(std::memory_order_relaxed);
  if (root != kRetired && epoch_of(root) < kEpochMax - 1) present_epoch_ = epoch_of(root);
}

Status Publisher::State::adopt() {
  const std::string path = options_.runtime_dir + "/" + kControlName;
  ICEBLINK_ASSIGN_OR_RETURN(control_mapping_, WriteMapping::open(path, kControlBytes));
  ICEBLINK_ASSIGN_OR_RETURN(const ControlPage* page, check_control(control_mapping_.bytes(), path));
  if (page->store_uuid != options_.store_uuid) {
    return {ErrorKind::kIncompatible, path + ": belongs to the store " +
                                          to_string(page->store_uuid) + ", this is store " +
                                          to_string(options_.store_uuid)};
  }
  control_ = reinterpret_cast<ControlPage*>(control_mapping_.bytes().data());
  control_id_ = page->control_id;
  // relaxed: the directory is locked, nobody else stores it
  const RootWord root = page->root.load(std::memory_order_relaxed);
  if (root == kRetired) {
    present_ = Present::kRetiredPage;
    return Ok{};
  }
  if (epoch_of(root) == 0 || epoch_of(root) >= kEpochMax) {
    return {ErrorKind::kCorrupt, path + ": the root names epoch " + std::to_string(epoch_of(root))};
  }
  present_ = Present::kAdoptable;
  present_epoch_ = epoch_of(root);
  // Without the arena only the low half is known: right below 2^32 generations, and after that
  // lower than the store's, as it must be.
  adopted_generation_ = generation_of(root, 0);
  const std::string arena_path =
      options_.runtime_dir + "/" + kArenaPrefix + std::to_string(epoch_of(root));
  if (auto arena = ReadMapping::open(arena_path)) {
    auto view = ArenaView::open(arena->bytes(), arena_path);
    if (view && view->is({control_id_, options_.store_uuid, epoch_of(root)})) {
      adopted_generation_ = view->generation_at(root);
    }
  }
  return Ok{};
}

void Publisher::State::sweep_arenas(std::optional<std::uint32_t> keep_epoch) noexcept {
  const auto names = list_arenas(options_.runtime_dir);
  if (!names) return;
  const std::string keep = keep_epoch ? kArenaPrefix + std::to_string(*keep_epoch) : std::string();
  for (const auto& name : *names) {
    if (name != keep) ::unlink((options_.runtime_dir + "/" + name).c_str());
  }
}

ArenaParameters Publisher::State::parameters(std::uint32_t epoch, std::uint64_t generation) const {
  ArenaParameters parameters;
  parameters.control_id = control_id_;
  parameters.store_uuid = options_.store_uuid;
  parameters.incarnation = options_.incarnation;
  parameters.epoch = epoch;
  parameters.daemon_pid = static_cast<std::uint32_t>(::getpid());
  parameters.daemon_started_s = started_s_;
  parameters.daemon_version = options_.daemon_version;
  parameters.base_generation = generation;
  parameters.hash_seed = options_.hash_seed;
  return parameters;
}

Status Publisher::State::start(const CatalogSource& source, std::uint64_t incarnation) {
  options_.incarnation = incarnation;
  generation_ = source.generation();
  if (adopted_generation_ && *adopted_generation_ > generation_) {
    return {ErrorKind::kInternal, "the store's generation " + std::to_string(generation_) +
                                      " is below the " + std::to_string(*adopted_generation_) +
                                      " that readers have seen"};
  }
  if (present_ != Present::kAdoptable) control_id_ = random_id();
  sweep_arenas(present_epoch_);
  const std::uint32_t epoch = present_epoch_.value_or(0) + 1;

  ICEBLINK_ASSIGN_OR_RETURN(const CatalogSize size, measure(source));
  ArenaParameters wanted = parameters(epoch, generation_);
  const std::uint64_t headroom = headroom_for(size.record_bytes);
  wanted.index_capacity = index_capacity_for(size.keys, headroom / 256);
  wanted.record_bytes = size.record_bytes + headroom;
  ICEBLINK_ASSIGN_OR_RETURN(auto arena, create_arena(options_.runtime_dir, wanted));
  if (auto filled = fill_from(source, arena->writer); !filled) {
    ::unlink(arena->path.c_str());
    return filled;
  }
  arena->writer.publish_tail(generation_);
  arena->headroom_bytes = arena->writer.free_bytes();
  ICEBLINK_RETURN_IF_ERROR(make_visible(std::move(arena)));
  try {
    builder_ = std::thread([this] { builder_main(); });
  } catch (const std::system_error& error) {
    return system_error("starting the builder thread", error.code().value());
  }
  return Ok{};
}

Status Publisher::State::make_visible(std::unique_ptr<WritableArena> arena) {
  const RootWord root = make_root(arena->epoch, generation_);
  if (present_ == Present::kAdoptable) {
    ICEBLINK_FAULT_POINT("flip.before-root");
    // SYNC root-publish: releases the arena; partner Segment (root acquire)
    control_->root.store(root, std::memory_order_release);
    ICEBLINK_FAULT_POINT("flip.after-root");
  } else if (auto placed = place_control(root); !placed) {
    ::unlink(arena->path.c_str());
    return placed;
  }
  if (present_epoch_) {
    ICEBLINK_FAULT_POINT("flip.before-unlink");
    ::unlink((options_.runtime_dir + "/" + kArenaPrefix + std::to_string(*present_epoch_)).c_str());
    ICEBLINK_FAULT_POINT("flip.after-unlink");
  }
  wake_root_waiters(control_->root);
  const std::lock_guard lock(publish_mutex_);
  current_ = std::move(arena);
  current_since_ = Clock::now();
  // SYNC published: releases the publish; partner Publisher::wait_published
  published_.store(generation_, std::memory_order_release);
  return Ok{};
}

Status Publisher::State::place_control(RootWord root) {
  const bool replace = present_ != Present::kNothing;
  if (replace) {
    ICEBLINK_FAULT_POINT("control.before-replace");
    if (control_ != nullptr) {
      // SYNC root-publish: tells readers of the old page to attach anew
      control_->root.store(kRetired, std::memory_order_release);
      ICEBLINK_FAULT_POINT("control.after-retire");
    }
  } else {
    ICEBLINK_FAULT_POINT("control.before-create");
  }
  ICEBLINK_ASSIGN_OR_RETURN(
      WriteMapping created,
      create_control(options_.runtime_dir, control_id_, options_.store_uuid, root,
                     replace ? ControlPlacement::kReplace : ControlPlacement::kNew));
  if (replace) {
    ICEBLINK_FAULT_POINT("control.after-replace");
  } else {
    ICEBLINK_FAULT_POINT("control.after-create");
  }
  if (control_ != nullptr) wake_root_waiters(control_->root);
  control_mapping_ = std::move(created);
  control_ = reinterpret_cast<ControlPage*>(control_mapping_.bytes().data());
  return Ok{};
}

bool Publisher::State::fits(Room room) const noexcept {
  return current_->writer.free_bytes() >= room.bytes && current_->writer.free_slots() >= room.slots;
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
  build_need_ = need;
  builder_wakes_.notify_one();
}

void Publisher::State::force_build(std::unique_lock<std::mutex>& lock, Room need) {
  // A build that is under way was sized without this need: the next one counts.
  const std::uint64_t end = builds_done_ + (build_running_ ? 2 : 1);
  build_forced_ = true;
  request_build(need);
  build_ended_.wait(lock, [&] { return builds_done_ >= end; });
}

Status Publisher::State::reserve(Room room) {
  std::unique_lock lock(publish_mutex_);
  reserved_ = {};
  if (!fits(room)) {
    force_build(lock, room);
    if (!fits(room)) {
      return last_build_ ? Status{ErrorKind::kNoSpace, "the arena that was built is too small"}
                         : last_build_;
    }
  }
  reserved_ = room;
  return Ok{};
}

void Publisher::State::release() noexcept {
  const std::lock_guard lock(publish_mutex_);
  reserved_ = {};
}

void Publisher::State::publish(std::uint64_t generation, std::span<const Change> changes) noexcept {
  std::unique_lock lock(publish_mutex_);
  if (generation <= generation_) std::abort();  // a bug upstream; readers must never see it
  ArenaWriter& writer = current_->writer;
  std::uint64_t bytes = 0;
  for (const auto& change : changes) bytes += room_for(change).bytes;
  writer.announce_append(std::min(bytes, writer.free_bytes()));
  for (const auto& change : changes) {
    Change stamped = change;
    stamped.generation = generation;
    ICEBLINK_FAULT_POINT("publish.before-append");
    const auto pending = writer.append(stamped);
    ICEBLINK_FAULT_POINT("publish.after-append");
    ICEBLINK_FAULT_POINT("publish.before-slot");
    writer.store_slot(pending);
    ICEBLINK_FAULT_POINT("publish.after-slot");
  }
  writer.publish_tail(generation);
  generation_ = generation;
  ICEBLINK_FAULT_POINT("publish.before-root");
  // SYNC root-publish: releases records, slots and tail; partner Segment (root acquire)
  control_->root.store(make_root(current_->epoch, generation), std::memory_order_release);
  ICEBLINK_FAULT_POINT("publish.after-root");
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
  return state_->reserve(room);
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
    // SYNC published: acquires the publish; partner State::publish
    state_->published().wait(seen, std::memory_order_acquire);
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
