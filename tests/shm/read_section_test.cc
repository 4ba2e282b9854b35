// Sections where the kernel has no membarrier or refuses it, across a fork, and what they count.
#include "shm/read_section.h"

#include <linux/membarrier.h>
#include <sys/wait.h>

#include <cerrno>
#include <latch>
#include <thread>

#include "shm/segment.h"
#include "tests/shm/memory_store.h"
#include "tests/shm/refused_call.h"

namespace iceblink::shm {
namespace {

using testing::end_with;
using testing::MemoryStore;
using testing::refuse;
using testing::TempDir;

/// A retired object of which one can see whether it is still there.
class Retired {
 public:
  explicit Retired(Graveyard& graveyard) {
    auto object = std::make_shared<int>(1);
    seen_ = object;
    if (graveyard.make_room()) graveyard.bury(std::move(object));
  }
  [[nodiscard]] bool is_there() const { return !seen_.expired(); }

 private:
  std::weak_ptr<int> seen_;
};

TEST(ReadSection, WhatIsRetiredStaysWhereTheKernelRefusesTheBarrier) {
  const auto stays = [] {
    Graveyard graveyard;
    const Retired retired(graveyard);
    graveyard.dig();
    return graveyard.is_waiting() && retired.is_there();
  };
  EXPECT_EXIT(end_with({SYS_membarrier, EPERM}, stays), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(end_with({SYS_membarrier, EPERM, 0, MEMBARRIER_CMD_PRIVATE_EXPEDITED}, stays),
              ::testing::ExitedWithCode(0), "");
}

void expect_a_reader_to_be_waited_for() {
  Graveyard graveyard;
  std::latch is_inside(1);
  std::latch may_leave(1);
  std::thread reader([&] {
    const MarkedSection section;
    is_inside.count_down();
    may_leave.wait();
  });
  is_inside.wait();
  const Retired retired(graveyard);
  graveyard.dig();
  EXPECT_TRUE(retired.is_there());
  may_leave.count_down();
  reader.join();
  graveyard.dig();
  EXPECT_FALSE(retired.is_there());
}

/// Runs itself where that is so.
TEST(ReadSection, WithoutMembarrierReadersFence) {
  if (readers_use_fences()) return expect_a_reader_to_be_waited_for();
  for (const int offered : {ENOSYS, 0}) {  // 0: a kernel that knows the call, and no command
    const pid_t child = ::fork();
    if (child == 0) {
      if (!refuse({SYS_membarrier, offered})) ::_exit(2);
      ::execl("/proc/self/exe", "shm_unit_test",
              "--gtest_filter=*.WithoutMembarrier*:SegmentTest.*", nullptr);
      ::_exit(3);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST(ReadSection, AForkedChildForgetsAReaderThatWasInside) {
  install_fork_handlers();
  std::latch is_inside(1);
  std::latch may_leave(1);
  std::thread reader([&] {
    const MarkedSection section;
    is_inside.count_down();
    may_leave.wait();
  });
  is_inside.wait();
  const pid_t child = ::fork();
  if (child == 0) {
    Graveyard graveyard;
    const Retired retired(graveyard);
    graveyard.dig();
    ::_exit(retired.is_there() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  may_leave.count_down();
  reader.join();
}

TEST(ReadSection, CountsWhatBecameOfReads) {
  const auto before = sum_reads();
  {
    const MarkedSection section;
    ASSERT_TRUE(section.ok());
    section.count(ReadOutcome::kTableHit);
  }
  std::thread([] { MarkedSection().count(ReadOutcome::kTableHit); }).join();
  const auto after = sum_reads();
  const auto hits = static_cast<std::size_t>(ReadOutcome::kTableHit);
  EXPECT_EQ(after[hits], before[hits] + 2);
}

TEST(ReadSection, AThreadsSlotIsUsedAgain) {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::thread([&] { first = MarkedSection().thread_index(); }).join();
  std::thread([&] { second = MarkedSection().thread_index(); }).join();
  EXPECT_EQ(first, second);
}

TEST(Segment, APlaceThatIsGoneIsAnErrorToEveryCall) {
  const TempDir dir;
  MemoryStore store;
  ASSERT_OK(store.start(dir.path()));
  const auto segment = Segment::attach(dir.path(), std::chrono::milliseconds::max());
  ASSERT_OK(segment);
  std::filesystem::remove(dir.path() + "/control");
  EXPECT_FALSE((*segment)->check_place().ok());
  const auto pinned = (*segment)->pin();
  ASSERT_FALSE(pinned.ok());
  EXPECT_EQ(pinned.error().kind(), ErrorKind::kNoSegment);
  EXPECT_FALSE((*segment)->wait_for_change(1, std::chrono::seconds(9)).ok());
  EXPECT_EQ((*segment)->health().daemon_pid, 0U);
  EXPECT_EQ((*segment)->health().heartbeat_age, std::chrono::nanoseconds::max());
}

}  // namespace
}  // namespace iceblink::shm
