#include "client/ring_pool.h"

#include <algorithm>
#include <utility>

#include "client/guard.h"

namespace iceblink::client {

RingPool::RingPool(std::string refusal, OpenFiles& open_files)
    : open_files_(open_files), is_refused_(!refusal.empty()) {
  if (is_refused_) refusal_ = Error(ErrorKind::kUnsupported, std::move(refusal));
}

RingReader* RingPool::take(std::size_t file_count) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_refused_) return nullptr;
  Slot* found = nullptr;
  std::size_t free_count = 0;
  for (Slot& slot : slots_) {
    if (slot.is_taken) continue;
    ++free_count;
    if (found == nullptr || found->ring == nullptr) found = &slot;
  }
  if (free_count < (file_count == 1 ? 2 : 1)) return nullptr;
  // Made under the mutex, so that no fork comes between the descriptor and its place here.
  if (found->ring == nullptr && !make_locked(*found)) return nullptr;
  found->is_taken = true;
  return found->ring.get();
}

bool RingPool::make_locked(Slot& slot) noexcept {
  auto made = guarded([&] { return RingReader::make(open_files_); });
  if (!made) {
    refuse_locked(made.error());
    return false;
  }
  slot.ring = std::move(*made);
  refusal_.reset();
  return true;
}

void RingPool::give_back(RingReader& ring, const Status& outcome) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(slots_.begin(), slots_.end(),
                                  [&](const Slot& slot) { return slot.ring.get() == &ring; });
  found->is_taken = false;
  if (outcome && !is_refused_) return;
  found->ring.reset();
  if (!outcome) refuse_locked(outcome.error());
}

void RingPool::refuse_locked(const Error& refusal) noexcept {
  if (is_refused_) return;
  is_refused_ = refusal.kind() == ErrorKind::kUnsupported;
  if (is_refused_) {
    for (Slot& slot : slots_) {
      if (!slot.is_taken) slot.ring.reset();
    }
  }
  if (is_refused_ || !has_ring_locked()) refusal_ = refusal;
}

bool RingPool::has_ring_locked() const noexcept {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.ring != nullptr; });
}

RingPool::State RingPool::state() const {
  const std::lock_guard lock(mutex_);
  return {!is_refused_ && has_ring_locked(), refusal_ ? refusal_->message() : std::string()};
}

void RingPool::close_all() noexcept {
  for (Slot& slot : slots_) slot = Slot{};
}

}  // namespace iceblink::client
