// A store in a child process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>

#include "tests/client/cache/numbers.h"

namespace iceblink::testing {
namespace {

/// Runs `checks` in a child; 0 when it returned true.
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

TEST(CacheFork, AChildReadsWhatIsKeptAndLoadsOn) {
  Numbers numbers(100'000);
  ASSERT_TRUE(numbers.get(1, 1000).ok());
  const auto checks = [&] {
    const auto kept = numbers.get(1, 1000);
    const auto loaded = numbers.get(2, 1000);
    return kept.ok() && (*kept)->key == 1 && loaded.ok() && (*loaded)->key == 2 &&
           numbers.stats().load_count == 2;
  };
  EXPECT_EQ(status_of_child(checks), 0);
  EXPECT_EQ(numbers.stats().load_count, 1U);
}

TEST(CacheFork, LoadsOfThreadsThatAreGoneAreForgotten) {
  Numbers numbers(100'000);
  std::latch is_loading(2);
  std::latch may_end(1);
  std::thread leader([&] {
    const auto got = numbers.get(1, 1000, [&](Load& load) -> Status {
      load.set_aside(70'000, 1000);
      is_loading.count_down();
      may_end.wait();
      return Ok{};
    });
    EXPECT_TRUE(got.ok());
  });
  std::thread follower([&] {
    is_loading.arrive_and_wait();
    EXPECT_TRUE(numbers.get(1, 1000).ok());
  });
  while (numbers.stats().miss_count < 2) std::this_thread::yield();
  const auto checks = [&] {
    const bool is_released = numbers.stats().in_flight_bytes == 0;
    const auto got = numbers.get(1, 1000);  // would wait for ever for a thread of the parent
    return is_released && got.ok() && numbers.stats().entry_count == 1;
  };
  EXPECT_EQ(status_of_child(checks), 0);
  EXPECT_EQ(numbers.stats().in_flight_bytes, 70'000U) << "the parent's goes on";
  may_end.count_down();
  leader.join();
  follower.join();
  EXPECT_EQ(numbers.stats().entry_count, 1U);
}

TEST(CacheFork, WhatAThreadOfTheParentLoadsIsNotWaitedFor) {
  Numbers numbers(100'000);
  std::latch is_loading(1);
  std::latch may_end(1);
  std::thread leader([&] {
    const auto got = numbers.get(1, 1000, [&](Load&) -> Status {
      is_loading.count_down();
      may_end.wait();
      return Ok{};
    });
    EXPECT_TRUE(got.ok());
  });
  is_loading.wait();
  auto& store = numbers.cache().store();
  const auto ticket = store.start(Numbers::hash_of(1), Numbers::name_of(1), 0);
  ASSERT_NE(ticket.follows, nullptr);
  EXPECT_EQ(status_of_child([&] { return !store.wait(*ticket.follows).has_value(); }), 0);
  may_end.count_down();
  const auto outcome = store.wait(*ticket.follows);
  EXPECT_TRUE(outcome.has_value() && outcome->ok());
  leader.join();
}

TEST(CacheFork, AForkInsideALoadLeavesTheChildItsValue) {
  Numbers numbers(100'000);
  pid_t child = -1;
  const auto got = numbers.get(1, 1000, [&](Load& load) -> Status {
    load.set_aside(1000, 1000);
    child = ::fork();
    return Ok{};
  });
  if (child == 0) {
    ::alarm(60);  // a watchdog
    const bool right = got.ok() && (*got)->key == 1 && numbers.stats().in_flight_bytes == 0 &&
                       numbers.stats().entry_count == 0 && numbers.get(1, 1000).ok();
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(numbers.stats().entry_count, 1U);
}

#ifndef __SANITIZE_ADDRESS__  // whose allocator stays locked when a fork meets it so
TEST(CacheFork, ForksBesideBusyThreadsDoNotStopThem) {
  Numbers numbers(50'000);
  std::atomic<bool> done{false};
  std::thread busy([&] {
    for (std::uint64_t key = 0; !done; ++key) EXPECT_TRUE(numbers.get(key % 200, 1000).ok());
  });
  for (int turn = 0; turn < 50; ++turn) {
    const auto checks = [&] {
      for (std::uint64_t key = 0; key < 100; ++key) {
        if (!numbers.get(key, 1000).ok()) return false;
      }
      return numbers.stats().used_bytes_peak <= 50'000;
    };
    ASSERT_EQ(status_of_child(checks), 0);
  }
  done = true;
  busy.join();
}
#endif

}  // namespace
}  // namespace iceblink::testing
