#include "shm/attachment.h"

#include <atomic>
#include <ctime>
#include <new>

#include "shm/control_page.h"

namespace iceblink::shm {
namespace {

// Each step back is caused by a flip or a replaced page, so this many in one attach means that
// something else is wrong.
constexpr int kStepsMax = 4096;
constexpr timespec kNap{0, 1'000'000};

std::uint32_t next_serial() noexcept {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a number, nothing more
}

}  // namespace

std::string_view to_string(AttachState state) noexcept {
  switch (state) {
    case AttachState::kOpeningControl:
      return "opening the control page";
    case AttachState::kCheckingControl:
      return "checking the control page";
    case AttachState::kReadingRoot:
      return "reading the root";
    case AttachState::kOpeningArena:
      return "opening the arena";
    case AttachState::kCheckingArena:
      return "checking the arena";
    case AttachState::kAttached:
      return "attached";
  }
  return "unknown";
}

Attachment::Attachment(std::string runtime_dir, std::shared_ptr<const ControlMapping> control)
    : runtime_dir_(std::move(runtime_dir)),
      control_path_(runtime_dir_ + "/" + kControlName),
      state_(control ? AttachState::kReadingRoot : AttachState::kOpeningControl),
      control_(std::move(control)) {}

Result<std::shared_ptr<const Mapping>> Attachment::run(std::chrono::nanoseconds patience) {
  patience_ = patience;
  deadline_.reset();
  try {
    for (; state_ != AttachState::kAttached; ++steps_) {
      if (steps_ == kStepsMax) {
        return {ErrorKind::kTimedOut, runtime_dir_ + ": gave up while " +
                                          std::string(to_string(state_)) + ", after " +
                                          std::to_string(steps_) + " steps"};
      }
      ICEBLINK_RETURN_IF_ERROR(step());
    }
    return std::shared_ptr<const Mapping>(std::move(mapping_));
  } catch (const std::bad_alloc&) {
    return {ErrorKind::kOutOfMemory, "attaching"};
  }
}

Status Attachment::step() {
  switch (state_) {
    case AttachState::kOpeningControl:
      return open_control();
    case AttachState::kCheckingControl:
      return check_control_page();
    case AttachState::kReadingRoot:
      return read_root();
    case AttachState::kOpeningArena:
      return open_arena();
    case AttachState::kCheckingArena:
      return check_arena();
    case AttachState::kAttached:
      return Ok{};
  }
  return Ok{};
}

Status Attachment::wait_or_fail(const std::string& why) {
  if (!deadline_) deadline_ = deadline_after(patience_);
  if (Clock::now() >= *deadline_) return {ErrorKind::kNoSegment, why};
  ::nanosleep(&kNap, nullptr);
  steps_ = 0;  // waiting is bounded by the deadline
  return Ok{};
}

bool Attachment::page_was_replaced() const {
  const auto identity = identity_of(control_path_);
  return identity ? *identity != control_->file.identity()
                  : identity.error().kind() == ErrorKind::kNotFound;
}

Status Attachment::open_control() {
  auto file = ReadMapping::open(control_path_);
  if (!file) {
    if (file.error().kind() != ErrorKind::kNotFound) return file.error();
    return wait_or_fail(control_path_ + ": no such file; has iceblinkd been started?");
  }
  unchecked_control_ = std::make_shared<ControlMapping>(ControlMapping{std::move(*file), nullptr});
  state_ = AttachState::kCheckingControl;
  return Ok{};
}

Status Attachment::check_control_page() {
  ICEBLINK_ASSIGN_OR_RETURN(unchecked_control_->page,
                            check_control(unchecked_control_->file.bytes(), control_path_));
  control_ = std::move(unchecked_control_);
  state_ = AttachState::kReadingRoot;
  return Ok{};
}

Status Attachment::read_root() {
  // SYNC root-publish: acquires the arena that it names; partner Publisher (root release)
  root_ = control_->page->root.load(std::memory_order_acquire);
  if (root_ == kRetired) {
    if (page_was_replaced()) {
      state_ = AttachState::kOpeningControl;
      return Ok{};
    }
    return wait_or_fail(control_path_ + ": was retired, and has no successor yet");
  }
  state_ = AttachState::kOpeningArena;
  return Ok{};
}

Status Attachment::open_arena() {
  const std::string path = runtime_dir_ + "/" + kArenaPrefix + std::to_string(epoch_of(root_));
  auto file = ReadMapping::open(path);
  if (file) {
    mapping_ = std::make_shared<Mapping>();
    mapping_->serial = next_serial();
    mapping_->file = std::move(*file);
    state_ = AttachState::kCheckingArena;
    return Ok{};
  }
  if (file.error().kind() != ErrorKind::kNotFound) return file.error();
  // relaxed: only compared, and read again before it is followed. Who finds an arena gone has seen
  // the root that was stored before it went: the directory orders that.
  if (control_->page->root.load(std::memory_order_relaxed) != root_) {
    state_ = AttachState::kReadingRoot;  // it was flipped away
    return Ok{};
  }
  if (page_was_replaced()) {
    state_ = AttachState::kOpeningControl;
    return Ok{};
  }
  return {ErrorKind::kCorrupt, control_path_ + ": names " + path + ", which does not exist"};
}

Status Attachment::check_arena() {
  const std::string path = runtime_dir_ + "/" + kArenaPrefix + std::to_string(epoch_of(root_));
  auto arena = ArenaView::open(mapping_->file.bytes(), path);
  const ControlPage& page = *control_->page;
  if (!arena || !arena->is({page.control_id, page.store_uuid, epoch_of(root_)})) {
    // Another page's arena under the same name, unless the page is still in its place.
    if (page_was_replaced()) {
      state_ = AttachState::kOpeningControl;
      return Ok{};
    }
    // relaxed: only compared, and read again before it is followed
    if (page.root.load(std::memory_order_relaxed) != root_) {
      state_ = AttachState::kReadingRoot;
      return Ok{};
    }
    if (!arena) return arena.error();
    return {ErrorKind::kCorrupt, path + ": belongs to another control page or epoch"};
  }
  const std::uint64_t generation = arena->generation_at(root_);
  // relaxed: the root's acquire above orders it; the publisher stores it before the root
  const std::uint64_t published =
      arena->header().published_generation.load(std::memory_order_relaxed);
  if (generation > published) {
    return {ErrorKind::kCorrupt, control_path_ + ": names generation " +
                                     std::to_string(generation) + ", " + path + " goes up to " +
                                     std::to_string(published)};
  }
  mapping_->arena = *arena;
  mapping_->control = control_;
  mapping_->page = control_->page;
  mapping_->epoch = epoch_of(root_);
  state_ = AttachState::kAttached;
  return Ok{};
}

}  // namespace iceblink::shm
