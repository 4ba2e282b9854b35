// The edges of a publisher's life: waiting, giving back, signs of life, damage, the last epoch; and
// the points at which a test build dies.
#include <csignal>
#include <fstream>
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
#endif

}  // namespace
}  // namespace iceblink::shm
