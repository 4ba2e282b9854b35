// How a publisher begins: the lock, the control page it finds, the first arena, and what makes it
// visible.

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include "shm/arena_view.h"
#include "shm/fault_point.h"
#include "shm/futex.h"
#include "shm/publisher_state.h"

namespace iceblink::shm {
namespace {

bool is_retired(const WriteMapping& mapping) noexcept {
  const auto* page = reinterpret_cast<const ControlPage*>(mapping.bytes().data());
  // relaxed, both: the directory is locked, nobody else stores them
  return page->magic.load(std::memory_order_relaxed) == kControlMagic &&
         page->root.load(std::memory_order_relaxed) == kRetired;
}

// An arena is replaced before it has seen this many generations.
bool is_plausible(std::uint64_t base_generation, std::uint64_t published_generation) noexcept {
  return published_generation - base_generation < kGenerationsPerArenaMax;
}

}  // namespace

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

// What readers of the page have seen, if its root is sound: it names one of the page's own arenas,
// and a generation that was published there.
Result<std::uint64_t> Publisher::State::generation_seen_through(RootWord root) const {
  const std::string control_path = options_.runtime_dir + "/" + kControlName;
  const std::string path = arena_path(epoch_of(root));
  const auto file = ReadMapping::open(path);
  if (!file && file.error().kind() == ErrorKind::kNotFound) {
    ICEBLINK_ASSIGN_OR_RETURN(const auto others, list_arenas(options_.runtime_dir));
    if (!others.empty()) {
      return {ErrorKind::kCorrupt, control_path + ": names " + path +
                                       ", which does not exist, and " + others.front() + " does"};
    }
    // Somebody took the arenas away. Only the low half is known: right below 2^32 generations,
    // and after that lower than the store's, as it must be.
    return generation_of(root, 0);
  }
  if (!file) return file.error();
  const auto arena = ArenaView::open(file->bytes(), path);
  if (!arena || !arena->is({control_id_, options_.store_uuid, epoch_of(root)})) {
    // A damaged arena: what the page says must do.
    return generation_of(root, 0);
  }
  // relaxed: its publisher has ended
  const std::uint64_t published =
      arena->header().published_generation.load(std::memory_order_relaxed);
  if (!is_plausible(arena->base_generation(), published) ||
      arena->generation_at(root) > published) {
    return {ErrorKind::kCorrupt, control_path + ": names generation " +
                                     std::to_string(arena->generation_at(root)) + ", " + path +
                                     " goes up to " + std::to_string(published)};
  }
  return published;  // the root's, or one that was cut off between tail and root
}

// Bytes that no feature uses must be zero; whoever changed them changed nothing that is read.
void Publisher::State::clear_reserved_bytes() noexcept {
  if (control_->features_optional != 0) return;
  const auto bytes = control_mapping_.bytes();
  for (const auto& [from, to] : kControlReserved) std::memset(bytes.data() + from, 0, to - from);
}

// Without a page to adopt (killed between RETIRED and the successor, or the page is lost), the
// arenas still say what their readers have seen.
void Publisher::State::look_at_arenas() {
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
    if (!is_plausible(arena->base_generation(), published)) continue;  // damaged
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
  if (epoch_of(root) < kEpochMax - 1) present_epoch_ = epoch_of(root);
}

Status Publisher::State::adopt() {
  const std::string path = options_.runtime_dir + "/" + kControlName;
  ICEBLINK_ASSIGN_OR_RETURN(control_mapping_, WriteMapping::open(path, kControlBytes));
  if (is_retired(control_mapping_)) {  // whosever it was, and whatever its layout
    control_ = reinterpret_cast<ControlPage*>(control_mapping_.bytes().data());
    present_ = Present::kRetiredPage;
    return Ok{};
  }
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
  if (epoch_of(root) == 0 || epoch_of(root) >= kEpochMax) {
    return {ErrorKind::kCorrupt, path + ": the root names epoch " + std::to_string(epoch_of(root))};
  }
  ICEBLINK_ASSIGN_OR_RETURN(adopted_generation_, generation_seen_through(root));
  present_ = Present::kAdoptable;
  present_epoch_ = epoch_of(root);
  clear_reserved_bytes();
  return Ok{};
}

void Publisher::State::sweep_arenas(std::optional<std::uint32_t> keep_epoch) {
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
  std::uint64_t old_bytes = 0;
  if (present_epoch_) {
    const auto old = ReadMapping::open(arena_path(*present_epoch_));
    if (old) old_bytes = old->bytes().size();
  }
  const ArenaDemand demand{.live = size, .headroom_bytes = headroom_for(size.record_bytes)};
  // Where even the floor is more than the share, it is tried all the same: here is no other way.
  const std::uint64_t free_bytes = free_bytes_of(options_.runtime_dir);
  static_cast<void>(
      size_arena(demand, std::min(fair_share(free_bytes, old_bytes), free_bytes), &wanted));
  ICEBLINK_ASSIGN_OR_RETURN(auto arena, create_arena(options_.runtime_dir, wanted));
  ICEBLINK_RETURN_IF_ERROR(fill_from(source, arena->writer));
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
  } else {
    ICEBLINK_RETURN_IF_ERROR(place_control(root));
  }
  arena->is_published = true;
  if (present_epoch_) {
    ICEBLINK_FAULT_POINT("flip.before-unlink");
    ::unlink(arena_path(*present_epoch_).c_str());
    ICEBLINK_FAULT_POINT("flip.after-unlink");
  }
  wake_root_waiters(control_->root);
  const std::lock_guard lock(publish_mutex_);
  current_ = std::move(arena);
  current_since_ = Clock::now();
  // relaxed: nobody waits before the start has ended
  published_.store(generation_, std::memory_order_relaxed);
  return Ok{};
}

Status Publisher::State::place_control(RootWord root) {
  const bool replace = present_ != Present::kNothing;
  if (replace) {
    ICEBLINK_FAULT_POINT("control.before-replace");
  } else {
    ICEBLINK_FAULT_POINT("control.before-create");
  }
  // All that may fail for want of space comes before the old page is retired.
  ICEBLINK_ASSIGN_OR_RETURN(
      ControlDraft draft,
      ControlDraft::make(options_.runtime_dir, control_id_, options_.store_uuid, root));
  if (replace && control_ != nullptr) {
    // relaxed: it leads to nothing; the new page is found by its name
    control_->root.store(kRetired, std::memory_order_relaxed);
    ICEBLINK_FAULT_POINT("control.after-retire");
  }
  ICEBLINK_ASSIGN_OR_RETURN(
      WriteMapping placed,
      std::move(draft).place(replace ? ControlPlacement::kReplace : ControlPlacement::kNew));
  if (replace) {
    ICEBLINK_FAULT_POINT("control.after-replace");
  } else {
    ICEBLINK_FAULT_POINT("control.after-create");
  }
  if (control_ != nullptr) wake_root_waiters(control_->root);
  control_mapping_ = std::move(placed);
  control_ = reinterpret_cast<ControlPage*>(control_mapping_.bytes().data());
  return Ok{};
}

}  // namespace iceblink::shm
