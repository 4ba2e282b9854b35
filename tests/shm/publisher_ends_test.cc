// The edges of a publisher's life: waiting, giving back, signs of life, damage, the last epoch; and
// the points at which a test build dies.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <latch>
#include <thread>

#include "shm/fault_point.h"
#include "shm/publisher.h"
#include "shm/segment.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::MemoryStore;
using testing::table;
using testing::TempDir;

class PublisherEnds : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(store_.start(dir_.path()));
    store_.put_namespace({"a"});
    store_.put_table(table({"a"}, "t"), "v1");
    ASSERT_OK(store_.commit());
  }
  void put_byte(const std::string& name, std::uint64_t offset, char byte) const {
    std::fstream file(dir_.path() + "/" + name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }
  [[nodiscard]] std::unique_ptr<Segment> attach() const {
    auto segment = Segment::attach(dir_.path(), std::chrono::milliseconds(0));
    EXPECT_TRUE(segment.ok());
    return std::move(*segment);
  }

  const TempDir dir_;
  MemoryStore store_;
};

TEST_F(PublisherEnds, WhoWaitsForAGenerationIsWokenByIt) {
  const std::uint64_t next = store_.publisher().published_generation() + 1;
  std::thread waiter([&] { store_.publisher().wait_published(next); });
  store_.put_namespace({"b"});
  ASSERT_OK(store_.commit());
  waiter.join();
  EXPECT_EQ(store_.publisher().published_generation(), next);
}

TEST_F(PublisherEnds, AGrantCanBeGivenBack) {
  ASSERT_OK(store_.publisher().reserve({.bytes = 1000, .slots = 2}));
  store_.publisher().release();
  store_.put_namespace({"b"});
  EXPECT_TRUE(store_.commit().ok());
}

TEST_F(PublisherEnds, SlotsAreReservedToo) {
  const auto before = store_.publisher().stats();
  ASSERT_OK(store_.publisher().reserve({.bytes = 0, .slots = before.index_capacity}));
  const auto after = store_.publisher().stats();
  EXPECT_EQ(after.epoch, before.epoch + 1);
  EXPECT_GT(after.index_capacity, before.index_capacity);
}

TEST_F(PublisherEnds, ACrowdedIndexAsksForAFlipWhileThereIsRoomForRecords) {
  const auto before = store_.publisher().stats();
  for (std::uint64_t i = 0; i < before.index_capacity * 82 / 100; ++i) {
    store_.put_table(table({"a"}, std::to_string(i)), "");
    ASSERT_OK(store_.commit());
    if (store_.publisher().stats().epoch != before.epoch) break;
  }
  while (store_.publisher().stats().epoch == before.epoch) std::this_thread::yield();
  EXPECT_GT(store_.publisher().stats().index_capacity, before.index_capacity);
}

TEST_F(PublisherEnds, ReadersSeeSignsOfLifeAndTheEnd) {
  const auto segment = attach();
  store_.publisher().beat();
  EXPECT_EQ(segment->health().daemon_pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_LT(segment->health().heartbeat_age, std::chrono::minutes(1));
  store_.publisher().say_stopped();
  EXPECT_EQ(segment->health().daemon_pid, 0U);
}

TEST_F(PublisherEnds, ADamagedArenaIsNotCopiedAndServesOn) {
  const auto segment = attach();
  const auto pinned = segment->pin();
  ASSERT_OK(pinned);
  const auto& arena = pinned->mapping->arena;
  const std::string key = encode(table({"a"}, "t"));
  const auto found = arena.find(EncodedKey{key}, hash_encoded(key, arena.hash_seed()), 99);
  ASSERT_EQ(found.status, FindStatus::kFound);
  put_byte("arena.1", found.record.offset() + offsetof(Record, kind), 9);
  const Status flipped = store_.publisher().flip();
  ASSERT_FALSE(flipped.ok());
  EXPECT_EQ(flipped.error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(store_.publisher().stats().epoch, 1U);
  EXPECT_EQ(store_.publisher().stats().failed_build_count, 1U);
  store_.put_namespace({"b"});
  EXPECT_TRUE(store_.commit().ok());
}

TEST_F(PublisherEnds, TheLastEpochIsNotFollowedByAnother) {
  store_.stop();
  std::filesystem::remove(dir_.path() + "/arena.1");
  const RootWord root = make_root(kEpochMax - 2, 2);
  for (std::size_t i = 0; i < sizeof(root); ++i) {
    put_byte("control", offsetof(ControlPage, root) + i, static_cast<char>(root >> (8 * i)));
  }
  ASSERT_OK(store_.start(dir_.path()));
  const Status flipped = store_.publisher().flip();
  ASSERT_FALSE(flipped.ok());
  EXPECT_NE(flipped.error().message().find("epochs are used up"), std::string::npos);
}

TEST_F(PublisherEnds, AGenerationThatWasPublishedIsNeverPublishedAgain) {
  const Change change{.kind = RecordKind::kNamespace, .key = "b", .location = {}};
  EXPECT_EXIT(store_.publisher().publish(1, {&change, 1}), ::testing::KilledBySignal(SIGABRT), "");
}

TEST_F(PublisherEnds, AStoreBelowWhatReadersHaveSeenIsNotStarted) {
  store_.stop();
  PublisherOptions options = store_.options;
  auto publisher = Publisher::open(options);
  ASSERT_OK(publisher);
  ASSERT_TRUE((*publisher)->adopts_control());
  store_.set_generation(1);
  const Status started = (*publisher)->start(store_, 1);
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().message().find("is below the 2"), std::string::npos);
}

TEST_F(PublisherEnds, StatisticsAreThereBeforeTheStart) {
  store_.stop();
  const auto publisher = Publisher::open(store_.options);
  ASSERT_OK(publisher);
  EXPECT_EQ((*publisher)->stats().epoch, 0U);
}

TEST_F(PublisherEnds, AnArenaIsReplacedBeforeItsGenerationsRunOut) {
  store_.set_generation(kGenerationsPerArenaMax - 1);  // the next is the last that fits
  store_.put_namespace({"b"});
  ASSERT_OK(store_.commit());
  store_.put_namespace({"c"});
  ASSERT_OK(store_.commit());
  EXPECT_GE(store_.publisher().stats().flip_count, 1U);
  EXPECT_EQ(attach()->pin()->generation, kGenerationsPerArenaMax + 1);
}

TEST_F(PublisherEnds, KeysThatCollideAreHashedAnewInTheNextArena) {
  const auto before = attach()->pin();
  ASSERT_OK(before);
  const ArenaView& arena = before->mapping->arena;
  constexpr std::uint64_t kHome = 7;
  for (std::uint64_t n = 0, found = 0; found < 300; ++n) {
    const std::string key = encode(table({"a"}, std::to_string(n)));
    const auto capacity = arena.header().index_capacity;
    if (home_slot(hash_encoded(key, arena.hash_seed()), capacity) != kHome) continue;
    ++found;
    store_.put(key, RecordKind::kTable, "x");
    ASSERT_OK(store_.commit());
  }
  ASSERT_OK(store_.publisher().flip());
  const auto after = attach()->pin();
  ASSERT_OK(after);
  EXPECT_NE(after->mapping->arena.hash_seed(), arena.hash_seed());
  EXPECT_EQ(store_.publisher().stats().table_count, 301U);
}

/// The builder is held at the end of its first build.
TEST(PublisherWhileItBuilds, CommitsGoOnAndAFlipWaitsForABuildOfItsOwn) {
  const TempDir dir;
  MemoryStore store;
  std::latch has_built(1);
  std::latch may_go_on(1);
  std::atomic<int> builds = 0;
  store.options.linger = std::chrono::milliseconds(0);
  store.options.on_build = [&](const BuildReport&) {
    if (builds.fetch_add(1) > 0) return;
    has_built.count_down();
    may_go_on.wait();
  };
  ASSERT_OK(store.start(dir.path()));
  std::thread first([&] { EXPECT_TRUE(store.publisher().flip().ok()); });
  has_built.wait();
  store.put_namespace({"a"});
  ASSERT_OK(store.commit());
  EXPECT_EQ(store.publisher().stats().publishes_during_build_count, 1U);
  std::thread second([&] { EXPECT_TRUE(store.publisher().flip().ok()); });
  may_go_on.count_down();
  first.join();
  second.join();
  EXPECT_GE(builds.load(), 2);
  // Nobody asks for a build, and the builder lets go of what is replaced all the same.
  while (store.publisher().stats().lingering_bytes > 0) std::this_thread::yield();
}

#ifdef ICEBLINK_FAULT_POINTS
TEST(FaultPoint, SaysWhatItCannotBeArmedWith) {
  for (const char* spec : {"none", "publish.before-root:", "publish.before-root:0", "x:1",
                           "publish.before-root:1x", "publish.before-root:-1"}) {
    const Status armed = arm_fault_point(spec);
    ASSERT_FALSE(armed.ok()) << spec;
    EXPECT_EQ(armed.error().kind(), ErrorKind::kInvalidArgument) << spec;
  }
}

TEST_F(PublisherEnds, AnArmedPointKillsAtThatPassAlone) {
  const auto commit_twice = [&] {
    static_cast<void>(arm_fault_point("publish.before-root:2"));
    for (int i = 0; i < 2; ++i) {
      store_.put_namespace({"n" + std::to_string(i)});
      static_cast<void>(store_.commit());
    }
  };
  EXPECT_EXIT(commit_twice(), ::testing::KilledBySignal(SIGKILL), "");
  // What the first of the two published is there.
  EXPECT_EQ(attach()->pin()->generation, 3U);
}

TEST_F(PublisherEnds, APointThatNobodyKnowsIsABug) {
  EXPECT_EXIT(
      {
        static_cast<void>(arm_fault_point("publish.before-root:9"));
        pass_fault_point("publish.befor-root");
      },
      ::testing::KilledBySignal(SIGABRT), "");
}

TEST(FaultPoint, IsArmedByEachOfTheNames) {
  EXPECT_EXIT(
      ::_exit(std::ranges::all_of(fault_points(),
                                  [](const auto name) { return arm_fault_point(name).ok(); })
                  ? 0
                  : 1),
      ::testing::ExitedWithCode(0), "");
}

#ifndef __SANITIZE_THREAD__  // which cannot follow a thread made after such a fork
/// Commits until a reader has seen what a planted fault shows, in a child: the arming stays.
class PlantedFault : public PublisherEnds {
 protected:
  /// 0: seen; 1: not in a thousand commits.
  int commit_until_seen(const char* fault, const std::function<bool(Segment&)>& sees) {
    static_cast<void>(arm_fault_point(fault));
    const auto segment = attach();
    std::atomic<bool> is_seen = false;
    std::atomic<bool> stop = false;
    std::thread reader([&] {
      while (!is_seen && !stop) is_seen = sees(*segment);
    });
    for (int i = 0; i < 1000 && !is_seen; ++i) {
      for (int of_the_commit = 0; of_the_commit < 4; ++of_the_commit) {
        store_.put_table(table({"a"}, "t" + std::to_string(of_the_commit)), std::to_string(i));
      }
      static_cast<void>(store_.commit());
    }
    stop = true;
    reader.join();
    return is_seen || sees(*segment) ? 0 : 1;
  }
  static std::string location(const PinnedView& view, const std::string& name) {
    const ArenaView& arena = view.mapping->arena;
    const std::string key = encode(table({"a"}, name));
    const auto found =
        arena.find(EncodedKey{key}, hash_encoded(key, arena.hash_seed()), view.generation);
    return found.status == FindStatus::kFound ? std::string(found.record.location()) : "absent";
  }
};

TEST_F(PlantedFault, ALostPublishLeavesATableAbsent) {
  EXPECT_EXIT(::_exit(commit_until_seen("planted.lost-publish:2",
                                        [](Segment& segment) {
                                          const auto view = segment.pin();
                                          return view.ok() && view->generation > 3 &&
                                                 location(*view, "t1") == "absent";
                                        })),
              ::testing::ExitedWithCode(0), "");
}

TEST_F(PlantedFault, AMixedSnapshotShowsHalfOfACommit) {
  EXPECT_EXIT(::_exit(commit_until_seen("planted.mixed-snapshot",
                                        [](Segment& segment) {
                                          const auto view = segment.pin();
                                          return view.ok() &&
                                                 location(*view, "t0") != location(*view, "t3");
                                        })),
              ::testing::ExitedWithCode(0), "");
}

TEST_F(PlantedFault, ABackwardsGenerationIsSeenByAReader) {
  std::uint64_t last = 0;
  EXPECT_EXIT(::_exit(commit_until_seen("planted.backwards-generation",
                                        [&](Segment& segment) {
                                          const auto view = segment.pin();
                                          if (!view) return false;
                                          const bool went_back = view->generation < last;
                                          last = view->generation;
                                          return went_back;
                                        })),
              ::testing::ExitedWithCode(0), "");
}
#endif
#endif

}  // namespace
}  // namespace iceblink::shm
