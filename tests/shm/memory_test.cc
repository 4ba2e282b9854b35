// Every allocation of a reader's calls fails, one after another: the call says so, and goes on.
#include <latch>
#include <thread>

#include "shm/segment.h"
#include "tests/faults/allocation_faults.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using test::end_allocation_faults;
using test::fail_allocation;
using testing::MemoryStore;
using testing::TempDir;

constexpr std::uint64_t kAllocationsMax = 1000;

class ReaderMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(store_.start(dir_.path()));
    ASSERT_TRUE(MarkedSection().ok());  // this thread is registered before anything fails
  }
  [[nodiscard]] std::unique_ptr<Segment> attach() const {
    auto segment = Segment::attach(dir_.path(), std::chrono::milliseconds(0));
    EXPECT_TRUE(segment.ok());
    return std::move(*segment);
  }

  /// `call` returns a status. What it is called on is made anew by `prepare` for each failure.
  template <typename Prepare, typename Call>
  void fail_each_allocation(Prepare&& prepare, Call&& call) {
    std::uint64_t failures = 0;
    for (std::uint64_t number = 1; number < kAllocationsMax; ++number) {
      auto on = prepare();
      fail_allocation(number);
      const Status status = call(on);
      if (!end_allocation_faults()) break;
      if (!status) {
        ++failures;
        EXPECT_EQ(status.error().kind(), ErrorKind::kOutOfMemory) << status.error().message();
      }
      EXPECT_TRUE(call(on).ok()) << "after allocation " << number;
    }
    EXPECT_GT(failures, 0U) << "nothing failed";
  }

  const TempDir dir_;
  MemoryStore store_;
};

TEST_F(ReaderMemory, AnAttachThatRunsOutOfItSaysSo) {
  // The path is copied before anything fails, once for each of the two calls.
  fail_each_allocation([&] { return std::vector<std::string>(2, dir_.path()); },
                       [](std::vector<std::string>& paths) -> Status {
                         auto segment = Segment::attach(std::exchange(paths.back(), {}),
                                                        std::chrono::milliseconds(0));
                         paths.pop_back();
                         return segment.ok() ? Status(Ok{}) : Status(segment.error());
                       });
}

TEST_F(ReaderMemory, AReaderThatFollowsAFlipWithoutItSaysSoAndFollowsLater) {
  fail_each_allocation(
      [&] {
        auto segment = attach();
        EXPECT_TRUE(store_.publisher().flip().ok());
        return segment;
      },
      [](const std::unique_ptr<Segment>& segment) -> Status {
        const auto view = segment->pin();
        return view.ok() ? Status(Ok{}) : Status(view.error());
      });
}

/// While another thread reads, who retires notes it down.
TEST_F(ReaderMemory, AReaderThatFollowsBesideAnotherKeepsWhatThatReads) {
  const auto segment = attach();
  std::latch is_inside(1);
  std::latch may_leave(1);
  std::thread other([&] {
    const Segment::Section section(*segment);
    is_inside.count_down();
    may_leave.wait();
  });
  is_inside.wait();
  for (std::uint64_t number = 1; number <= 20; ++number) {
    ASSERT_OK(store_.publisher().flip());
    fail_allocation(number);
    const auto view = segment->pin();
    static_cast<void>(end_allocation_faults());
    EXPECT_TRUE(view.ok() || view.error().kind() == ErrorKind::kOutOfMemory);
    EXPECT_TRUE(segment->pin().ok());
  }
  EXPECT_GE(segment->stats().retired_count, 1U);
  may_leave.count_down();
  other.join();
  EXPECT_EQ(segment->stats().retired_count, 0U);
}

TEST_F(ReaderMemory, AThreadThatCannotBeRegisteredIsToldSo) {
  const auto segment = attach();
  // Whatever slots of ended threads there are, these take them all.
  constexpr int kThreads = 32;
  std::latch all_inside(kThreads);
  std::latch may_leave(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const MarkedSection section;
      all_inside.count_down();
      may_leave.wait();
    });
  }
  all_inside.wait();
  std::thread([&] {
    fail_allocation(1);
    const bool is_marked = MarkedSection().ok();
    fail_allocation(1);
    const auto pinned = segment->pin();
    fail_allocation(1);
    const auto waited = segment->wait_for_change(1, std::chrono::seconds(0));
    fail_allocation(1);
    const auto health = segment->health();
    EXPECT_TRUE(end_allocation_faults());
    EXPECT_FALSE(is_marked);
    EXPECT_FALSE(pinned.ok());
    EXPECT_FALSE(waited.ok());
    EXPECT_EQ(health.daemon_pid, 0U);
    EXPECT_TRUE(segment->pin().ok());
  }).join();
  may_leave.count_down();
  for (auto& thread : threads) thread.join();
}

TEST_F(ReaderMemory, WhatIsBuriedStaysWhileThereIsNoneToHandItOut) {
  Graveyard graveyard;
  fail_allocation(1);
  EXPECT_FALSE(graveyard.make_room());
  ASSERT_TRUE(graveyard.make_room());
  graveyard.bury(std::make_shared<int>(1));
  graveyard.dig();
  ASSERT_TRUE(graveyard.make_room());
  std::latch is_inside(1);
  std::latch may_leave(1);
  std::thread other([&] {
    const MarkedSection section;
    is_inside.count_down();
    may_leave.wait();
  });
  is_inside.wait();
  auto object = std::make_shared<int>(2);
  fail_allocation(1);  // of the list of witnesses
  graveyard.bury(std::move(object));
  EXPECT_TRUE(end_allocation_faults());
  EXPECT_TRUE(graveyard.is_waiting());
  may_leave.count_down();
  other.join();
  graveyard.dig();
  EXPECT_EQ(graveyard.size(), 0U);
  graveyard.bury(std::make_shared<int>(3));
  fail_allocation(1);  // of what is handed out
  EXPECT_TRUE(graveyard.exhume().empty());
  EXPECT_TRUE(end_allocation_faults());
  EXPECT_EQ(graveyard.exhume().size(), 1U);
}

}  // namespace
}  // namespace iceblink::shm
