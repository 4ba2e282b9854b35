// What becomes of entries that were evicted: where memory or barriers are short, where the cache
// closes or the process forks meanwhile. This program decides which allocations fail or wait.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <latch>
#include <new>
#include <optional>
#include <utility>

#include "tests/client/cache/numbers.h"

namespace {

/// Called with the alignment before this thread takes memory; may throw. It may take memory itself.
thread_local const std::function<void(std::size_t)>* before_allocation = nullptr;

void* take(std::size_t bytes, std::size_t alignment) {
  if (const auto* const hook = std::exchange(before_allocation, nullptr)) {
    struct Restore {
      const std::function<void(std::size_t)>* hook;
      ~Restore() { before_allocation = hook; }
    } const restore{hook};
    (*hook)(alignment);
  }
  void* const block =
      alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
          ? std::malloc(bytes == 0 ? 1 : bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return take(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}

namespace iceblink::testing {
namespace {

/// Runs `work` with `hook` before each of its allocations.
template <typename Work>
void with_hook(const std::function<void(std::size_t)>& hook, Work work) {
  before_allocation = &hook;
  work();
  before_allocation = nullptr;
}
void out_of_memory(std::size_t /*alignment*/) {
  throw std::bad_alloc();
}

/// A thread that is inside a section while this lives.
class Witness {
 public:
  Witness() { is_inside_.wait(); }
  ~Witness() {
    may_leave_.count_down();
    thread_.join();
  }

 private:
  std::latch is_inside_{1};
  std::latch may_leave_{1};
  std::thread thread_{[this] {
    const shm::MarkedSection section;
    is_inside_.count_down();
    may_leave_.wait();
  }};
};

/// A thread whose document grows, stopped between evicting others and burying them.
class StoppedGrowth {
 public:
  StoppedGrowth(Payload& payload, std::size_t bytes)
      : thread_([this, &payload, bytes] {
          const std::function<void(std::size_t)> stop = [this](std::size_t) {
            if (std::exchange(is_stopped_, true)) return;
            has_evicted_.count_down();
            may_bury_.wait();
          };
          with_hook(stop, [&] { payload.grew(bytes); });
        }) {
    has_evicted_.wait();
  }
  void end() {
    may_bury_.count_down();
    thread_.join();
  }

 private:
  std::latch has_evicted_{1};
  std::latch may_bury_{1};
  bool is_stopped_ = false;
  std::thread thread_;
};

/// Exit status of a child that runs `checks`, which say whether all is well.
template <typename Checks>
int status_of_child(Checks checks) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a watchdog
    ::_exit(checks() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

/// From now on membarrier is refused to this process.
bool refuse_membarrier() {
  const sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(steps), const_cast<sock_filter*>(steps)};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(CacheRetirement, OutOfMemoryWhatIsEvictedStaysUntilItCanBeBuried) {
  Numbers numbers(100'000);
  const std::weak_ptr<const Number> evicted = *numbers.get(1, 60'000);
  const auto growing = *numbers.get(2, 1000);
  with_hook(out_of_memory, [&] { growing->payload->grew(60'000); });
  EXPECT_EQ(numbers.find(1), nullptr);
  EXPECT_FALSE(evicted.expired()) << "who reads it could not be written down";
  ASSERT_TRUE(numbers.get(3, 1000).ok());
  EXPECT_TRUE(evicted.expired());
  EXPECT_EQ(numbers.stats().pinned_bytes, 0U);
}

TEST(CacheRetirement, OutOfMemoryForWitnessesTheyAreAskedLater) {
  Numbers numbers(100'000);
  const std::weak_ptr<const Number> evicted = *numbers.get(1, 60'000);
  const auto growing = *numbers.get(2, 1000);
  with_hook(out_of_memory, [&] { growing->payload->grew(60'000); });
  // In turn there is none for what is buried, its grave, its witnesses, and what was opened.
  for (const int good_count : {0, 1, 2, 2}) {
    int count = 0;
    const std::function<void(std::size_t)> fail_late = [&](std::size_t) {
      if (count++ >= good_count) throw std::bad_alloc();
    };
    with_hook(fail_late, [&] { static_cast<void>(numbers.stats()); });
    EXPECT_FALSE(evicted.expired()) << good_count;
  }
  EXPECT_EQ(numbers.stats().pinned_bytes, 0U);
  EXPECT_TRUE(evicted.expired());
}

TEST(CacheRetirement, OutOfMemoryForAHandleTheValueIsServedAllTheSame) {
  Numbers numbers(100'000);
  const auto loaded = *numbers.get(1, 1000);
  const std::function<void(std::size_t)> fail_handles = [](std::size_t alignment) {
    if (alignment == client::cache::LineAllocator<int>::kLineBytes) throw std::bad_alloc();
  };
  with_hook(fail_handles, [&] { EXPECT_EQ(*numbers.get(1, 1000), loaded); });
  EXPECT_EQ(numbers.find(1), nullptr) << "no handle was made";
  EXPECT_EQ(*numbers.get(1, 1000), loaded);
  EXPECT_EQ(numbers.find(1), loaded);
  EXPECT_EQ(numbers.stats().load_count, 1U);
}

TEST(CacheRetirement, WhereMembarrierIsRefusedNothingMoreIsEvicted) {
  const auto checks = [] {
    if (!refuse_membarrier()) return true;
    Numbers numbers(100'000);
    for (std::uint64_t key = 0; key < 1000; ++key) {
      const auto got = numbers.get(key, 10'000);
      if (!got.ok() || (*got)->key != key) return false;
      const CacheStats stats = numbers.stats();
      if (stats.kept_bytes + stats.in_flight_bytes > 100'000) return false;
      if (stats.pinned_bytes > 25'000) return false;
    }
    return true;
  };
  EXPECT_EQ(status_of_child(checks), 0);
}

TEST(CacheRetirement, WhatADocumentEvictedWhileTheCacheClosedIsDestroyed) {
  const Witness of_another_cache;
  std::optional<Numbers> numbers(std::in_place, 100'000);
  const std::weak_ptr<const Number> evicted = *numbers->get(1, 60'000);
  auto growing = *numbers->get(2, 1000);
  const std::weak_ptr<const Number> grown = growing;
  StoppedGrowth growth(*growing->payload, 60'000);
  EXPECT_EQ(numbers->find(1), nullptr);
  numbers.reset();
  growth.end();
  EXPECT_TRUE(evicted.expired());
  growing.reset();
  EXPECT_TRUE(grown.expired());
}

TEST(CacheRetirement, AChildBuriesWhatAThreadOfItsParentHadEvicted) {
  Numbers numbers(100'000);
  ASSERT_TRUE(numbers.get(1, 60'000).ok());
  const auto growing = *numbers.get(2, 1000);
  StoppedGrowth growth(*growing->payload, 60'000);
  EXPECT_EQ(status_of_child([&] { return numbers.stats().pinned_bytes == 0; }), 0);
  growth.end();
  EXPECT_EQ(numbers.stats().pinned_bytes, 0U);
}

TEST(CacheRetirement, TheNextMissDestroysWhatIsReadNoMore) {
  Numbers numbers(100'000);
  std::optional<Witness> reader(std::in_place);
  const std::weak_ptr<const Number> evicted = *numbers.get(1, 60'000);
  ASSERT_TRUE(numbers.get(2, 60'000).ok());
  EXPECT_FALSE(evicted.expired());
  ASSERT_TRUE(numbers.get(3, 100).ok());
  EXPECT_FALSE(evicted.expired());
  reader.reset();
  ASSERT_TRUE(numbers.get(4, 100).ok());
  EXPECT_TRUE(evicted.expired());
}

TEST(CacheRetirement, IndexesThatWereReplacedAreKeptForTheirReaders) {
  Numbers numbers(1'000'000);
  const Witness reader;
  for (int turn = 0; turn < 2; ++turn) {
    for (std::uint64_t key = 0; key < 500; ++key) ASSERT_TRUE(numbers.get(key, 100).ok());
  }
  EXPECT_GT(numbers.stats().pinned_bytes, 5000U);
  EXPECT_EQ(numbers.stats().entry_count, 500U);
}

}  // namespace
}  // namespace iceblink::testing
