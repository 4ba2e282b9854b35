#include "shm/read_section.h"

#include <cxxabi.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>

// Names the shared object or program that this is linked into.
extern "C" __attribute__((visibility("hidden"))) char iceblink_own_object __asm__("__dso_handle");

namespace iceblink::shm {
namespace {

long membarrier(int command) noexcept {
  return ::syscall(SYS_membarrier, command, 0, 0);
}

bool membarrier_is_offered() noexcept {
  const long offered = membarrier(MEMBARRIER_CMD_QUERY);
  return offered > 0 && (offered & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 &&
         (offered & MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
}

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadSlot>> slots;  // never shrinks: graves point at them
  bool may_issue_barriers = false;                 // registered with the kernel for them
};

// Never destroyed: threads may outlive static destruction.
Registry& registry() noexcept {
  alignas(Registry) static unsigned char storage[sizeof(Registry)];
  static auto* const instance = new (storage) Registry;
  return *instance;
}

// Called when a thread ends, as the destructors of its thread-local objects are; those that come
// later may register it anew, and this is called again.
void return_slot(void* slot) noexcept {
  read_section_internal::current_slot = nullptr;
  const std::lock_guard lock(registry().mutex);
  static_cast<ThreadSlot*>(slot)->in_use = false;
}

// True when every running thread has passed a barrier.
bool issue_barrier(Registry& registry) noexcept {
  // relaxed: constant once readers run
  if (read_section_internal::readers_fence.load(std::memory_order_relaxed)) {
    // SYNC section-enter: the retirer's half where readers fence; partner enter_section
    thread_fence(std::memory_order_seq_cst);
    return true;
  }
  if (!registry.may_issue_barriers) {
    registry.may_issue_barriers = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  }
  return registry.may_issue_barriers && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

}  // namespace

namespace read_section_internal {

constinit thread_local ThreadSlot* current_slot = nullptr;
Atomic<bool> readers_fence{!membarrier_is_offered()};

ThreadSlot* register_thread() noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  ThreadSlot* slot = nullptr;
  for (const auto& candidate : all.slots) {
    if (!candidate->in_use) {
      slot = candidate.get();
      break;
    }
  }
  if (slot == nullptr) {
    try {
      all.slots.push_back(std::make_unique<ThreadSlot>());
      all.slots.back()->index = static_cast<std::uint32_t>(all.slots.size() - 1);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    slot = all.slots.back().get();
  }
  slot->in_use = true;
  // relaxed: nobody else writes a slot that is not in use
  slot->check_at = slot->sequence.load(std::memory_order_relaxed);
  slot->check_interval = 1;
  slot->last_check_ns = 0;
  // Not a thread_local object: its destructor would run once, and leak what is registered after.
  if (abi::__cxa_thread_atexit(return_slot, slot, &iceblink_own_object) != 0) {
    slot->in_use = false;
    return nullptr;
  }
  current_slot = slot;
  return slot;
}

}  // namespace read_section_internal

std::array<std::uint64_t, kReadOutcomes> sum_reads() noexcept {
  std::array<std::uint64_t, kReadOutcomes> sums{};
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& slot : all.slots) {
    for (std::size_t i = 0; i < kReadOutcomes; ++i) {
      sums[i] += slot->reads[i].load(std::memory_order_relaxed);  // relaxed: a count, for showing
    }
  }
  return sums;
}

bool readers_use_fences() noexcept {
  // relaxed: constant once readers run
  return read_section_internal::readers_fence.load(std::memory_order_relaxed);
}

bool Graveyard::make_room() noexcept {
  if (graves_.size() < graves_.capacity()) return true;
  try {
    graves_.reserve(std::max<std::size_t>(8, graves_.size() * 2));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Graveyard::bury(std::shared_ptr<const void> object) noexcept {
  graves_.push_back({std::move(object), {}});
  ask();
}

void Graveyard::ask() noexcept {
  if (!is_waiting()) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  // SYNC section-enter: after this, a thread that is outside cannot reach what is buried; partner
  // enter_section
  if (!issue_barrier(all)) return;
  for (; asked_count_ < graves_.size(); ++asked_count_) {
    std::vector<Witness>& witnesses = graves_[asked_count_].witnesses;
    try {
      witnesses.reserve(all.slots.size());
    } catch (const std::bad_alloc&) {
      return;
    }
    for (const auto& slot : all.slots) {
      // SYNC section-leave: acquires the end of the section; partner leave_section
      const std::uint64_t sequence = slot->sequence.load(std::memory_order_acquire);
      if (sequence % 2 == 1) witnesses.push_back({slot.get(), sequence});
    }
  }
}

std::size_t Graveyard::count_open() noexcept {
  ask();
  std::size_t count = 0;
  while (count < asked_count_) {
    std::vector<Witness>& witnesses = graves_[count].witnesses;
    std::erase_if(witnesses, [](const Witness& witness) {
      // SYNC section-leave: acquires the end of the section; partner leave_section
      return witness.slot->sequence.load(std::memory_order_acquire) != witness.sequence;
    });
    if (!witnesses.empty()) break;
    ++count;
  }
  return count;
}

void Graveyard::remove(std::size_t count) noexcept {
  graves_.erase(graves_.begin(), graves_.begin() + static_cast<std::ptrdiff_t>(count));
  asked_count_ -= count;
}

void Graveyard::dig() noexcept {
  remove(count_open());
}

std::vector<std::shared_ptr<const void>> Graveyard::exhume() noexcept {
  std::vector<std::shared_ptr<const void>> objects;
  const std::size_t count = count_open();
  try {
    objects.reserve(count);
  } catch (const std::bad_alloc&) {
    return objects;
  }
  for (std::size_t i = 0; i < count; ++i) objects.push_back(std::move(graves_[i].object));
  remove(count);
  return objects;
}

void lock_registry_for_fork() noexcept {
  registry().mutex.lock();
}
void unlock_registry_after_fork() noexcept {
  registry().mutex.unlock();
}

void reset_registry_after_fork() noexcept {
  Registry& all = registry();
  for (const auto& slot : all.slots) {
    if (slot.get() == read_section_internal::current_slot) continue;
    // Its thread does not exist here. relaxed: this process has one thread.
    const std::uint64_t sequence = slot->sequence.load(std::memory_order_relaxed);
    slot->sequence.store(sequence + (sequence % 2 == 1 ? 1 : 0), std::memory_order_relaxed);
    slot->in_use = false;
  }
  all.may_issue_barriers = false;
  all.mutex.unlock();
}

}  // namespace iceblink::shm
