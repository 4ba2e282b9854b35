// One store: what it keeps, what it counts, and one load for many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <latch>

#include "tests/client/cache/numbers.h"

namespace iceblink::testing {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(CacheStore, LoadsOnceAndFindsAfterwards) {
  Numbers numbers(kMiB);
  const auto first = numbers.get(1, 100);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)->key, 1U);
  EXPECT_EQ(*numbers.get(1, 100), *first) << "the stripe's handle is made";
  EXPECT_EQ(numbers.find(1), *first);
  EXPECT_EQ(numbers.find(2), nullptr);
  EXPECT_EQ(numbers.stats().load_count, 1U);
  EXPECT_EQ(numbers.stats().miss_count, 1U);
  EXPECT_EQ(numbers.stats().entry_count, 1U);
}

TEST(CacheStore, TellsKeysOfOneHashApart) {
  Cache<Number> cache({kMiB, kMiB});
  const auto get = [&](const std::string& key, std::uint64_t number) {
    const auto got = cache.get(7, key, 0, [&](Load&) -> Result<Loaded<Number>> {
      return Loaded<Number>{cache.store().make_payload(std::make_shared<Number>(Number{number})),
                            100};
    });
    return (*got)->key;
  };
  EXPECT_EQ(get("a", 1), 1U);
  EXPECT_EQ(get("b", 2), 2U);
  EXPECT_EQ(get("a", 3), 1U);
  EXPECT_EQ(get("b", 3), 2U);
}

TEST(CacheStore, AStampSparesTheComparisonAndStaysWithItsMapping) {
  Numbers numbers(kMiB);
  ASSERT_TRUE(numbers.get(1, 100).ok());
  ASSERT_TRUE(numbers.get(1, 100).ok());
  const auto find = [&](Stamp stamp, bool matches, int& comparisons) {
    const shm::MarkedSection section;
    return numbers.cache().find(Numbers::hash_of(1), stamp, section.thread_index(),
                                [&](std::string_view) {
                                  ++comparisons;
                                  return matches;
                                }) != nullptr;
  };
  const Stamp place = Stamp{1} << 32 | 8;
  const Stamp other_place = Stamp{1} << 32 | 9;
  const Stamp later_mapping = Stamp{2} << 32 | 8;
  int comparisons = 0;
  EXPECT_TRUE(find(place, true, comparisons));
  EXPECT_EQ(comparisons, 1);
  EXPECT_TRUE(find(place, false, comparisons));
  EXPECT_EQ(comparisons, 1) << "known by its stamp";
  EXPECT_TRUE(find(other_place, true, comparisons));
  EXPECT_EQ(comparisons, 2);
  EXPECT_TRUE(find(place, false, comparisons)) << "two names on one key do not take turns";
  EXPECT_EQ(comparisons, 2);
  EXPECT_TRUE(find(later_mapping, true, comparisons));
  EXPECT_FALSE(find(place, false, comparisons)) << "the old mapping's place is forgotten";
}

TEST(CacheStore, StaysWithinItsBound) {
  Numbers numbers(100'000, 50'000);
  for (std::uint64_t key = 0; key < 1000; ++key) {
    ASSERT_TRUE(numbers.get(key, 1000 + key % 7 * 3000).ok());
    const CacheStats stats = numbers.stats();
    ASSERT_LE(stats.kept_bytes + stats.in_flight_bytes, 100'000U);
  }
  const CacheStats stats = numbers.stats();
  EXPECT_LE(stats.used_bytes_peak, 100'000U);
  EXPECT_GT(stats.kept_bytes, 60'000U);
  EXPECT_GT(stats.eviction_count, 800U);
  EXPECT_EQ(stats.in_flight_bytes, 0U);
}

TEST(CacheStore, WhatIsLargerThanAnEntryMayBeIsServedAndNotKept) {
  Numbers numbers(100'000, 10'000);
  ASSERT_TRUE(numbers.get(1, 1000).ok());
  const auto large = numbers.get(2, 10'001);
  ASSERT_TRUE(large.ok());
  EXPECT_EQ((*large)->key, 2U);
  EXPECT_EQ(numbers.find(2), nullptr);
  EXPECT_EQ(numbers.stats().unkept_count, 1U);
  EXPECT_EQ(numbers.stats().eviction_count, 0U);
  EXPECT_EQ(numbers.stats().pinned_bytes, 0U) << "it is its caller's";
}

TEST(CacheStore, SwitchedOffItReadsThrough) {
  Numbers numbers(0);
  for (int turn = 0; turn < 3; ++turn) ASSERT_EQ((*numbers.get(1, 100))->key, 1U);
  EXPECT_EQ(numbers.stats().load_count, 3U);
  EXPECT_EQ(numbers.stats().kept_bytes, 0U);
  EXPECT_EQ(numbers.stats().used_bytes_peak, 0U);
}

TEST(CacheStore, LoadsThatTakeAllTheRoomLetOthersGoOnUnkept) {
  Numbers numbers(100'000);
  const auto outer = numbers.get(1, 1000, [&](Load& load) -> Status {
    load.set_aside(90'000, 1000);
    EXPECT_EQ(numbers.stats().in_flight_bytes, 90'000U);
    EXPECT_EQ((*numbers.get(2, 50'000))->key, 2U);
    EXPECT_EQ(numbers.stats().unkept_count, 1U);
    EXPECT_LE(numbers.stats().used_bytes_peak, 100'000U);
    return Ok{};
  });
  ASSERT_TRUE(outer.ok());
  EXPECT_EQ(numbers.stats().in_flight_bytes, 0U);
  EXPECT_TRUE(numbers.get(1, 1000).ok());
  EXPECT_EQ(numbers.stats().entry_count, 1U);
}

TEST(CacheStore, WhatGrewFromItsEstimateFindsRoomOrGoesUnkept) {
  Numbers numbers(100'000);
  const auto load = [&](std::uint64_t key, std::size_t estimate, std::size_t bytes) {
    return numbers.cache().get(Numbers::hash_of(key), Numbers::name_of(key), 0,
                               [&](Load& under_way) -> Result<Loaded<Number>> {
                                 under_way.set_aside(estimate, estimate);
                                 return numbers.make(key, bytes);
                               });
  };
  ASSERT_TRUE(load(1, 40'000, 40'000).ok());
  ASSERT_TRUE(load(2, 1000, 80'000).ok());
  EXPECT_EQ(numbers.stats().entry_count, 1U) << "the first made room";
  ASSERT_TRUE(load(3, 1000, 120'000).ok());
  EXPECT_EQ(numbers.stats().entry_count, 1U);
  EXPECT_EQ(numbers.stats().unkept_count, 1U);
  EXPECT_LE(numbers.stats().used_bytes_peak, 100'000U);
}

TEST(CacheStore, AFailureGoesToAllWhoWaitAndIsKeptForNobody) {
  Numbers numbers(kMiB);
  constexpr std::size_t kThreads = 16;
  std::atomic<int> loads{0};
  std::atomic<int> failures{0};
  in_threads(kThreads, [&](std::size_t) {
    const auto got = numbers.get(1, 100, [&](Load&) -> Status {
      ++loads;
      // Until all others wait for this one.
      while (numbers.stats().miss_count < kThreads) std::this_thread::yield();
      return {ErrorKind::kCorrupt, "no number"};
    });
    if (!got.ok() && got.error().message() == "no number") ++failures;
  });
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(failures, static_cast<int>(kThreads));
  EXPECT_EQ(numbers.stats().load_failure_count, 1U);
  EXPECT_EQ(numbers.stats().in_flight_bytes, 0U);
  EXPECT_TRUE(numbers.get(1, 100).ok()) << "tried anew";
}

TEST(CacheStore, AHerdLoadsOnce) {
  Numbers numbers(kMiB);
  constexpr std::size_t kThreads = 64;
  std::barrier ready(kThreads);
  std::atomic<int> right{0};
  in_threads(kThreads, [&](std::size_t) {
    ready.arrive_and_wait();
    const auto got = numbers.get(1, 100);
    if (got.ok() && (*got)->key == 1) ++right;
  });
  EXPECT_EQ(right, static_cast<int>(kThreads));
  EXPECT_EQ(numbers.stats().load_count, 1U);
}

TEST(CacheStore, ALoadThatThrowsFailsForAll) {
  Numbers numbers(kMiB);
  EXPECT_THROW(
      static_cast<void>(numbers.get(1, 100, [](Load&) -> Status { throw std::bad_alloc(); })),
      std::bad_alloc);
  EXPECT_EQ(numbers.stats().load_failure_count, 1U);
  EXPECT_TRUE(numbers.get(1, 100).ok());
}

TEST(CacheStore, ALoadThatAsksForItselfIsAnError) {
  Numbers numbers(kMiB);
  const auto got = numbers.get(1, 100, [&](Load&) -> Status {
    const auto inside = numbers.get(1, 100);
    EXPECT_FALSE(inside.ok());
    EXPECT_EQ(inside.error().kind(), ErrorKind::kUnsupported);
    return Ok{};
  });
  EXPECT_TRUE(got.ok());
  EXPECT_EQ(numbers.stats().load_count, 1U);
  EXPECT_EQ(Load::count_led(), 0);
}

TEST(CacheStore, LoadsThatAskForEachOthersBothEnd) {
  Numbers numbers(kMiB);
  std::barrier both(2);
  in_threads(2, [&](std::size_t thread) {
    const auto got = numbers.get(thread, 100, [&](Load&) -> Status {
      both.arrive_and_wait();
      const auto inside = numbers.get(1 - thread, 100);  // of its own, and not kept
      EXPECT_TRUE(inside.ok());
      EXPECT_EQ((*inside)->key, 1 - thread);
      both.arrive_and_wait();
      return Ok{};
    });
    EXPECT_TRUE(got.ok());
  });
  EXPECT_EQ(numbers.stats().load_count, 4U);
  EXPECT_EQ(numbers.stats().unkept_count, 2U);
  EXPECT_EQ(numbers.stats().entry_count, 2U);
}

TEST(CacheStore, EvictedAndHeldIsPinnedUntilItIsLetGo) {
  Numbers numbers(100'000);
  auto held = *numbers.get(1, 50'000);
  EXPECT_EQ(numbers.stats().pinned_bytes, 0U);
  ASSERT_TRUE(numbers.get(2, 60'000).ok());
  const CacheStats stats = numbers.stats();
  EXPECT_EQ(stats.entry_count, 1U);
  EXPECT_GE(stats.pinned_bytes, 50'000U);
  EXPECT_LT(stats.pinned_bytes, 50'300U);
  EXPECT_EQ(held->key, 1U);
  held.reset();
  EXPECT_EQ(numbers.stats().pinned_bytes, 0U);
}

TEST(CacheStore, WhatGrowsIsChargedAndMakesOthersGo) {
  Numbers numbers(100'000, 80'000);
  ASSERT_TRUE(numbers.get(1, 40'000).ok());
  const auto growing = *numbers.get(2, 30'000);
  growing->payload->grew(40'000);
  CacheStats stats = numbers.stats();
  EXPECT_EQ(stats.entry_count, 1U);
  EXPECT_GE(stats.kept_bytes, 70'000U);
  EXPECT_LE(stats.used_bytes_peak, 100'000U);
  EXPECT_EQ(numbers.find(1), nullptr);
  growing->payload->grew(20'000);
  stats = numbers.stats();
  EXPECT_EQ(stats.entry_count, 0U) << "an entry may not be that large";
  EXPECT_GE(stats.pinned_bytes, 90'000U);
  growing->payload->grew(1000);
  EXPECT_GE(numbers.stats().pinned_bytes, 91'000U);
  EXPECT_LE(numbers.stats().used_bytes_peak, 100'000U);
}

TEST(CacheStore, AValueOutlivesItsCache) {
  std::shared_ptr<const Number> held;
  std::shared_ptr<const Number> grown;
  {
    Numbers numbers(kMiB);
    held = *numbers.get(1, 100);
    held = *numbers.get(1, 100);
    grown = *numbers.get(2, 100);
  }
  grown->payload->grew(100);
  EXPECT_EQ(held->key, 1U);
  EXPECT_EQ(grown->key, 2U);
}

TEST(CacheStore, EachStripeHasAReferenceOfItsOwn) {
  Numbers numbers(kMiB);
  ASSERT_TRUE(numbers.get(1, 100).ok());
  std::latch both(2);
  std::array<std::shared_ptr<const Number>, 2> seen;
  in_threads(2, [&](std::size_t thread) {
    ASSERT_TRUE(numbers.get(1, 100).ok());
    seen[thread] = numbers.find(1);
    both.arrive_and_wait();  // so that both have slots at the same time
  });
  ASSERT_NE(seen[0], nullptr);
  EXPECT_EQ(seen[0], seen[1]) << "one value";
  EXPECT_TRUE(seen[0].owner_before(seen[1]) || seen[1].owner_before(seen[0])) << "two counts";
}

TEST(CacheStore, AFullIndexIsReplacedUnderItsReaders) {
  Numbers numbers(8 * kMiB);
  constexpr std::uint64_t kKeys = 2000;
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!done) {
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        const auto found = numbers.find(key);
        if (found && found->key != key) ++wrong;
      }
    }
  });
  for (std::uint64_t key = 0; key < kKeys; ++key) ASSERT_TRUE(numbers.get(key, 100).ok());
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
  for (std::uint64_t key = 0; key < kKeys; ++key) ASSERT_EQ((*numbers.get(key, 100))->key, key);
  EXPECT_EQ(numbers.stats().load_count, kKeys);
  EXPECT_EQ(numbers.stats().entry_count, kKeys);
}

TEST(CacheStore, ManyThreadsReadWhatIsEvictedUnderThem) {
  Numbers numbers(60'000, 20'000);
  constexpr std::uint64_t kKeys = 100;
  std::atomic<int> wrong{0};
  in_threads(4, [&](std::size_t thread) {
    std::uint64_t state = thread + 1;
    for (int turn = 0; turn < 5000; ++turn) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const std::uint64_t key = (state >> 33) % kKeys;
      const auto got = numbers.get(key, 500 + key * 20);
      if (!got.ok() || (*got)->key != key) ++wrong;
      if (got.ok() && turn % 64 == 0) (*got)->payload->grew(100);
    }
  });
  EXPECT_EQ(wrong, 0);
  const CacheStats stats = numbers.stats();
  EXPECT_LE(stats.used_bytes_peak, 60'000U);
  EXPECT_EQ(stats.in_flight_bytes, 0U);
  EXPECT_EQ(stats.pinned_bytes, 0U);
}

}  // namespace
}  // namespace iceblink::testing
