#include "tests/relacy/relacy.h"
// (above: Relacy wants its own headers first)
#include <array>
#include <cstdlib>
#include <cstring>

#include "tests/relacy/fiber.h"
#include "tests/relacy/granules.h"
#include "tests/relacy/model_memory.h"

namespace iceblink::relacy {
namespace {

struct Reached {
  const char* file;
  unsigned line;
};

/// A store that the compiler has moved behind the next load.
struct Late {
  void* word = nullptr;
  std::uint64_t value = 0;
  rl::memory_order order = rl::mo_relaxed;
};

Granules granules;
ByAddress<rl::mutex> mutexes;
ByAddress<rl::condition_variable> conditions;
bool threads_run = false;
bool is_inside = false;  // Relacy or this file runs, not the code under test
void** per_fiber = nullptr;
std::array<std::uintptr_t, kThreadsMax> stack_tops{};
std::array<Late, kThreadsMax> late_stores{};
std::array<Reached, 256> reached{};
std::size_t reached_count = 0;
const char* found = "";
unsigned switch_period = 1;
int statics_in_the_making = 0;
const char* weakened_name = "";
const char* weakened_file = "";
unsigned weakened_line = 0;

/// Out of the code under test, and back into it. Other fibers may run meanwhile: at each such place
/// in some runs, at one in 4, 16 or 64 in others, so that a thread that gets far while another
/// stands still is as likely as much to and fro.
class Inside {
 public:
  enum class Turn { kMaybeOthers, kOthers };
  explicit Inside(Turn turn = Turn::kMaybeOthers)
      : fiber_value_(per_fiber != nullptr ? *per_fiber : nullptr),
        goes_on_(turn == Turn::kMaybeOthers && switch_period > 1 &&
                 rl::ctx().rand(switch_period, rl::sched_type_user) != 0) {
    is_inside = true;
    if (goes_on_) rl::ctx().disable_preemption();
  }
  ~Inside() {
    if (goes_on_) rl::ctx().enable_preemption();
    if (per_fiber != nullptr) *per_fiber = fiber_value_;
    is_inside = false;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  void* const fiber_value_;
  const bool goes_on_;
};

rl::debug_info info_of(const Place& place) {
  return {place.function_name(), place.file_name(), place.line()};
}

int this_thread() {
  return rl::ctx().threadx_->index_;
}

/// Its stack, and its thread-local.
bool is_own(const void* address) {
  if (address == per_fiber) return true;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at < stack_tops[static_cast<std::size_t>(this_thread())] &&
         at + 256 >= reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

bool has_suffix(const char* text, const char* suffix) {
  const std::size_t size = std::strlen(text);
  const std::size_t suffix_size = std::strlen(suffix);
  return size >= suffix_size && std::strcmp(text + size - suffix_size, suffix) == 0;
}

bool is_weakened_at(const Place& place) {
  return place.line() == weakened_line && has_suffix(place.file_name(), weakened_file);
}

void note(const Place& place) {
  if (std::strstr(place.file_name(), "tests/") != nullptr) return;  // the system's own
  for (std::size_t i = 0; i < reached_count; ++i) {
    if (reached[i].line == place.line() && std::strcmp(reached[i].file, place.file_name()) == 0) {
      return;
    }
  }
  if (reached_count == reached.size()) std::abort();
  reached[reached_count++] = {place.file_name(), place.line()};
}

rl::memory_order order_of(std::memory_order order, const Place& place) {
  if (order == std::memory_order_relaxed) return rl::mo_relaxed;
  note(place);
  if (is_weakened_at(place)) return rl::mo_relaxed;
  switch (order) {
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

std::uint64_t raw(const void* word, std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, word, bytes);
  return value;
}

void fail(const char* what, rl::test_result_e result, const rl::debug_info& info) {
  found = what;
  rl::ctx().fail_test(what, result, info);
}

void check_alive(const Granule& granule, const rl::debug_info& info) {
  if (granule.is_buried) fail("", rl::test_result_access_to_freed_memory, info);
}

Word& word_at(const void* address, std::size_t bytes) {
  Granule& granule = granules.make(reinterpret_cast<std::uintptr_t>(address));
  if (granule.word == nullptr) {
    granule.word = ::new (std::malloc(sizeof(Word))) Word(raw(address, bytes));
  }
  return *granule.word;
}

/// An atomic access must come after the plain ones that made the word.
void check_made(const void* address, const rl::debug_info& info) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const Granule* granule = granules.find(at - at % kGranuleBytes);
  if (granule == nullptr) return;
  check_alive(*granule, info);
  if (granule->plain != nullptr) static_cast<void>((*granule->plain)(info).load());
}

void store_now(void* word, std::size_t bytes, std::uint64_t value, rl::memory_order order,
               const rl::debug_info& info) {
  check_made(word, info);
  Word& model = word_at(word, bytes);
  model.store(value, order, info);
  std::memcpy(word, &value, bytes);
}

void store_what_is_late(const rl::debug_info& info) {
  Late& late = late_stores[static_cast<std::size_t>(this_thread())];
  if (late.word == nullptr) return;
  store_now(late.word, sizeof(late.value), late.value, late.order, info);
  late.word = nullptr;
}

template <typename Visit>
void for_each_granule(const void* from, std::size_t bytes, Visit&& visit) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  for (auto at = begin - begin % kGranuleBytes; at < begin + bytes; at += kGranuleBytes) visit(at);
}

}  // namespace

std::uint64_t load(const void* word, std::size_t bytes, std::memory_order order,
                   const Place& place) noexcept {
  if (!is_modelled()) return raw(word, bytes);
  const Inside inside;
  const rl::debug_info info = info_of(place);
  const rl::memory_order modelled = order_of(order, place);
  check_made(word, info);
  // A word that was not stored yet has one value only.
  const Granule* granule = granules.find(reinterpret_cast<std::uintptr_t>(word));
  std::uint64_t value = raw(word, bytes);
  if (granule != nullptr && granule->word != nullptr) {
    value = granule->word->model.load(modelled, info) ^ granule->word->base;
  }
  if (bytes == sizeof(value)) store_what_is_late(info);
  return value;
}

void store(void* word, std::size_t bytes, std::uint64_t value, std::memory_order order,
           const Place& place) noexcept {
  if (!is_modelled()) {
    std::memcpy(word, &value, bytes);
    return;
  }
  const Inside inside;
  const rl::memory_order modelled = order_of(order, place);
  if (is_weakened("compiler-fence") &&
      std::strstr(place.function_name(), "enter_section") != nullptr) {
    late_stores[static_cast<std::size_t>(this_thread())] = {word, value, modelled};
    return;
  }
  store_now(word, bytes, value, modelled, info_of(place));
}

std::uint64_t fetch_add(void* word, std::size_t bytes, std::uint64_t value, std::memory_order order,
                        const Place& place) noexcept {
  if (!is_modelled()) {
    const std::uint64_t old = raw(word, bytes);
    const std::uint64_t sum = old + value;
    std::memcpy(word, &sum, bytes);
    return old;
  }
  const Inside inside;
  const rl::debug_info info = info_of(place);
  check_made(word, info);
  Word& model = word_at(word, bytes);
  rl::ctx().sched();
  rl::ctx().disable_preemption();
  const std::uint64_t old = model.newest();
  const std::uint64_t sum = old + value;
  static_cast<void>(model.model.exchange(sum ^ model.base, order_of(order, place), info));
  std::memcpy(word, &sum, bytes);
  rl::ctx().enable_preemption();
  return old;
}

void sleep_while(const void* word, std::size_t bytes, std::uint64_t value) noexcept {
  const Inside inside;
  Word& model = word_at(word, sizeof(std::uint64_t));
  rl::ctx().sched();
  std::uint64_t newest = model.newest();
  if (bytes < sizeof(newest)) newest &= (std::uint64_t{1} << bytes * 8) - 1;
  if (newest != value) return;
  model.sleepers.park_current(rl::ctx(), false, true, false, rl::debug_info("sleep_while"));
}

void wake_all(const void* word) noexcept {
  if (!is_modelled()) return;
  const Inside inside;
  rl::ctx().sched();
  word_at(word, sizeof(std::uint64_t)).sleepers.unpark_all(rl::ctx(), rl::debug_info("wake_all"));
}

void thread_fence(std::memory_order, const Place& place) noexcept {
  if (!is_modelled()) return;
  const Inside inside;
  note(place);
  if (is_weakened_at(place)) return;
  rl::atomic_thread_fence(rl::mo_seq_cst, info_of(place));
}

void compiler_fence(const Place&) noexcept {}

void system_wide_fence() noexcept {
  if (!is_modelled() || is_weakened("membarrier")) return;
  const Inside inside;
  rl::ctx().sched();
  rl::systemwide_fence(rl::debug_info("membarrier"));
}

void read_plain(const void* from, std::size_t bytes) noexcept {
  if (!is_modelled() || is_own(from)) return;
  const Inside inside;
  for_each_granule(from, bytes, [](std::uintptr_t at) {
    const Granule* granule = granules.find(at);
    if (granule == nullptr) return;
    const rl::debug_info info("a read of plain memory");
    check_alive(*granule, info);
    if (granule->plain != nullptr && granule->word == nullptr) {
      static_cast<void>((*granule->plain)(info).load());
    }
  });
}

void write_plain(const void* from, std::size_t bytes) noexcept {
  if (!is_modelled() || is_own(from)) return;
  const Inside inside;
  for_each_granule(from, bytes, [](std::uintptr_t at) {
    Granule& granule = granules.make(at);
    const rl::debug_info info("a write of plain memory");
    check_alive(granule, info);
    if (granule.word != nullptr) return;
    if (granule.plain == nullptr) {
      granule.plain = ::new (std::malloc(sizeof(rl::var<unsigned>))) rl::var<unsigned>;
    }
    (*granule.plain)(info).store(0);
  });
}

void renew(const void* from, std::size_t bytes) noexcept {
  if (!is_modelled()) return;
  const Inside inside;
  for_each_granule(from, bytes, [](std::uintptr_t at) {
    if (Granule* granule = granules.find(at)) Granules::forget(*granule);
  });
}

void bury(const void* from, std::size_t bytes) noexcept {
  if (!is_modelled()) return;
  const Inside inside;
  for_each_granule(from, bytes, [](std::uintptr_t at) {
    Granule& granule = granules.make(at);
    const rl::debug_info info("the freeing of memory");
    check_alive(granule, info);
    if (granule.plain != nullptr) (*granule.plain)(info).store(0);
    granule.is_buried = true;
  });
}

void count_reference(const void* word) noexcept {
  if (!is_modelled() || is_own(word)) return;
  const Inside inside;
  const rl::debug_info info("a count of references");
  check_made(word, info);
  const auto at = reinterpret_cast<std::uintptr_t>(word);
  Word& model = word_at(reinterpret_cast<const void*>(at - at % kGranuleBytes), kGranuleBytes);
  static_cast<void>(model.model.fetch_add(1, rl::mo_acq_rel, info));
}

void lock(const void* mutex) noexcept {
  const Inside inside;
  mutexes.of(mutex).lock(rl::debug_info("lock"));
}

void unlock(const void* mutex) noexcept {
  const Inside inside;
  mutexes.of(mutex).unlock(rl::debug_info("unlock"));
}

bool wait(const void* condition, const void* mutex, bool is_timed) noexcept {
  const Inside inside;
  rl::condition_variable& model = conditions.of(condition);
  const rl::debug_info info("wait");
  if (is_timed) return model.wait_for(mutexes.of(mutex), 0, info);
  model.wait(mutexes.of(mutex), info);
  return true;
}

void notify(const void* condition, bool all) noexcept {
  const Inside inside;
  if (all) {
    conditions.of(condition).notify_all(rl::debug_info("notify_all"));
  } else {
    conditions.of(condition).notify_one(rl::debug_info("notify_one"));
  }
}

void give_way() noexcept {
  const Inside inside(Inside::Turn::kOthers);
  rl::ctx().yield(1, rl::debug_info("give_way"));
}

void begin_static() noexcept {
  ++statics_in_the_making;
}

void end_static() noexcept {
  --statics_in_the_making;
}

bool is_modelled() noexcept {
  return threads_run && !is_inside && statics_in_the_making == 0;
}

void expect(bool is_right, const char* what) noexcept {
  if (is_right) return;
  const Inside inside;
  fail(what, rl::test_result_user_assert_failed, rl::debug_info(what));
}

void keep_per_fiber(void** thread_local_pointer) noexcept {
  per_fiber = thread_local_pointer;
}

void weaken(std::string place) {
  weakened_name = ::strdup(place.c_str());
  const auto colon = place.find(':');
  if (colon == std::string::npos) return;
  weakened_file = ::strdup(place.substr(0, colon).c_str());
  weakened_line = static_cast<unsigned>(std::stoul(place.substr(colon + 1)));
}

bool is_weakened(const char* name) noexcept {
  return std::strcmp(weakened_name, name) == 0;
}

void begin_run() noexcept {
  switch_period = 1U << 2 * rl::ctx().rand(4, rl::sched_type_user);
}

void begin_fiber(int thread) noexcept {
  stack_tops[static_cast<std::size_t>(thread)] =
      reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (per_fiber != nullptr) *per_fiber = nullptr;
  threads_run = true;
  is_inside = false;
}

void end_fiber() noexcept {
  is_inside = true;
}

void end_threads() noexcept {
  threads_run = false;
  is_inside = false;
  granules.clear();
  mutexes.clear();
  conditions.clear();
  late_stores = {};
}

int this_fiber() noexcept {
  return this_thread();
}

const char* found_what() noexcept {
  return found;
}

void print_reached() noexcept {
  for (std::size_t i = 0; i < reached_count; ++i) {
    std::printf("reached %s:%u\n", reached[i].file, reached[i].line);
  }
}

}  // namespace iceblink::relacy
