#include "shm/read_section.h"

#include <cxxabi.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

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
  enum class Barrier : std::uint8_t { kUnregistered, kRegistered, kRefused };
  Barrier barrier = Barrier::kUnregistered;
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
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return true;
  }
  if (registry.barrier == Registry::Barrier::kUnregistered) {
    registry.barrier = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0
                           ? Registry::Barrier::kRegistered
                           : Registry::Barrier::kRefused;
  }
  return registry.barrier == Registry::Barrier::kRegistered &&
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

}  // namespace

namespace read_section_internal {

constinit thread_local ThreadSlot* current_slot = nullptr;
std::atomic<bool> readers_fence{!membarrier_is_offered()};

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

void Graveyard::bury(std::shared_ptr<const void> object) noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Grave grave;
  try {
    graves_.reserve(graves_.size() + 1);
    grave.witnesses.reserve(all.slots.size());
  } catch (const std::bad_alloc&) {
    // Somebody may be reading it, and who cannot be written down.
    alignas(std::shared_ptr<const void>) unsigned char never_destroyed[sizeof(object)];
    new (never_destroyed) std::shared_ptr<const void>(std::move(object));
    return;
  }
  grave.object = std::move(object);
  // SYNC section-enter: after this, a thread that is outside cannot reach the object; partner
  // enter_section
  grave.for_ever = !issue_barrier(all);
  for (const auto& slot : all.slots) {
    // SYNC section-leave: acquires the end of the section; partner leave_section
    const std::uint64_t sequence = slot->sequence.load(std::memory_order_acquire);
    if (sequence % 2 == 1) grave.witnesses.push_back({slot.get(), sequence});
  }
  graves_.push_back(std::move(grave));
}

bool Graveyard::can_be_opened(Grave& grave) noexcept {
  std::erase_if(grave.witnesses, [](const Witness& witness) {
    // SYNC section-leave: acquires the end of the section; partner leave_section
    return witness.slot->sequence.load(std::memory_order_acquire) != witness.sequence;
  });
  return grave.witnesses.empty() && !grave.for_ever;
}

void Graveyard::dig() noexcept {
  std::erase_if(graves_, can_be_opened);
}

std::vector<std::shared_ptr<const void>> Graveyard::exhume() noexcept {
  std::vector<std::shared_ptr<const void>> objects;
  if (graves_.empty()) return objects;
  try {
    objects.reserve(graves_.size());
  } catch (const std::bad_alloc&) {
    return objects;
  }
  std::erase_if(graves_, [&](Grave& grave) {
    if (!can_be_opened(grave)) return false;
    objects.push_back(std::move(grave.object));
    return true;
  });
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
  all.barrier = Registry::Barrier::kUnregistered;
  all.mutex.unlock();
}

}  // namespace iceblink::shm
