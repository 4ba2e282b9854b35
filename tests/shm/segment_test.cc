#include "shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <latch>
#include <memory>
#include <set>
#include <thread>

#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::levels;
using testing::MemoryStore;
using testing::table;
using testing::TempDir;

class SegmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(store_.start(dir_.path()));
    store_.put_namespace({"a"});
    store_.put_table(t_, "v1");
    ASSERT_OK(store_.commit());
    auto segment = Segment::attach(dir_.path(), std::chrono::milliseconds(0));
    ASSERT_OK(segment);
    segment_ = std::move(*segment);
  }
  std::string path(const std::string& name) const { return dir_.path() + "/" + name; }

  /// The table's location, "absent", or the error's kind.
  static std::string look_up(Segment& segment, const TableIdent& ident) {
    const Segment::Section section(segment);
    if (!section.ok()) return std::string(to_string(section.error().kind()));
    const TableKey key{ident.levels, ident.name};
    const Found found =
        section.arena().find(key, key.hash(section.arena().hash_seed()), section.generation());
    if (found.status == FindStatus::kCorrupt) return "corrupt";
    if (found.status == FindStatus::kAbsent) return "absent";
    return std::string(found.record.location());
  }

  const TempDir dir_;
  MemoryStore store_;
  std::unique_ptr<Segment> segment_;
  const TableIdent t_ = table(levels({"a"}), "t");
};

TEST_F(SegmentTest, AttachSaysWhatIsMissing) {
  const auto none = Segment::attach(path("nowhere"), std::chrono::milliseconds(0));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind(), ErrorKind::kNoSegment);
  EXPECT_NE(none.error().message().find("nowhere/control"), std::string::npos);
}

TEST_F(SegmentTest, AttachRefusesShortForeignAndNewerControlPages) {
  const auto attach_to = [&](const std::function<void(std::string&)>& change) {
    std::ifstream in(path("control"), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    change(bytes);
    const TempDir other;
    std::ofstream(other.path() + "/control", std::ios::binary) << bytes;
    const auto result = Segment::attach(other.path(), std::chrono::milliseconds(0));
    return result.ok() ? std::string("ok") : std::string(to_string(result.error().kind()));
  };
  EXPECT_EQ(attach_to([](auto& b) { b.resize(100); }), "corrupt");
  EXPECT_EQ(attach_to([](auto& b) { b.clear(); }), "corrupt");
  EXPECT_EQ(attach_to([](auto& b) { b[0] = 'x'; }), "corrupt");
  EXPECT_EQ(attach_to([](auto& b) { b[8] = 9; }), "incompatible");
  EXPECT_EQ(attach_to([](auto&) {}), "corrupt");  // its arena is not there
}

TEST_F(SegmentTest, EveryFlippedByteOfTheControlPageIsAnErrorOrAnAnswer) {
  std::ifstream in(path("control"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const TempDir other;
  std::filesystem::copy(path("arena.1"), other.path() + "/arena.1");
  int errors = 0;
  for (std::size_t i = 0; i < 256; ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(~flipped[i]);
    std::ofstream(other.path() + "/control", std::ios::binary | std::ios::trunc) << flipped;
    const auto segment = Segment::attach(other.path(), std::chrono::milliseconds(0));
    if (!segment) {
      ++errors;
    } else {
      const std::string answer = look_up(**segment, t_);
      EXPECT_TRUE(answer == "v1" || answer == "absent" || answer == "corrupt") << answer;
    }
    if (i < 64 || (i >= 128 && i < 136)) {
      EXPECT_FALSE(segment.ok()) << "byte " << i;
    }
  }
  EXPECT_GE(errors, 72);
}

/// By SIGSEGV; a sanitizer turns that into an exit code of its own.
bool died_of_a_write(int status) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return WIFEXITED(status) && WEXITSTATUS(status) != 0;
#else
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
#endif
}

TEST_F(SegmentTest, TheMappingIsReadOnly) {
  const auto pinned = segment_->pin();
  ASSERT_OK(pinned);
  auto* root = const_cast<std::atomic<RootWord>*>(&pinned->mapping->page->root);
  EXPECT_EXIT(root->store(0, std::memory_order_relaxed), died_of_a_write, "");
  auto* arena = const_cast<std::byte*>(pinned->mapping->file.bytes().data());
  EXPECT_EXIT(*arena = std::byte{1}, died_of_a_write, "");
  // And it cannot be made writable: the descriptor was O_RDONLY.
  EXPECT_EQ(::mprotect(arena, 4096, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(errno, EACCES);
}

TEST_F(SegmentTest, APinnedViewStaysWhatItWas) {
  const auto pinned = segment_->pin();
  ASSERT_OK(pinned);
  store_.put_table(t_, "v2");
  ASSERT_OK(store_.commit());
  ASSERT_OK(store_.publisher().flip());
  EXPECT_EQ(look_up(*segment_, t_), "v2");
  const TableKey key{t_.levels, t_.name};
  const auto& arena = pinned->mapping->arena;
  const Found found = arena.find(key, key.hash(arena.hash_seed()), pinned->generation);
  ASSERT_EQ(found.status, FindStatus::kFound);
  EXPECT_EQ(found.record.location(), "v1");
}

TEST_F(SegmentTest, OldMappingsGoWhenNobodyReadsThem) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(store_.publisher().flip());
    EXPECT_EQ(look_up(*segment_, t_), "v1");
  }
  EXPECT_EQ(segment_->stats().retired_count, 0U);
  EXPECT_EQ(segment_->stats().attach_count, 11U);
}

TEST_F(SegmentTest, AThreadInsideASectionKeepsItsMapping) {
  auto section = std::make_unique<Segment::Section>(*segment_);
  std::thread([&] {
    ASSERT_OK(store_.publisher().flip());
    EXPECT_EQ(look_up(*segment_, t_), "v1");
    EXPECT_EQ(segment_->stats().retired_count, 1U);
  }).join();
  EXPECT_EQ(section->mapping().epoch, 1U);
  EXPECT_EQ(section->arena().header().epoch, 1U);
  section.reset();
  EXPECT_EQ(segment_->stats().retired_count, 0U);
}

TEST_F(SegmentTest, AWaiterWakesWithThePublish) {
  const std::uint64_t before = segment_->pin()->generation;
  std::thread writer([&] {
    store_.put_table(t_, "v2");
    ASSERT_OK(store_.commit());
  });
  const auto woken = segment_->wait_for_change(before, std::chrono::seconds(60));
  writer.join();
  ASSERT_OK(woken);
  EXPECT_EQ(*woken, before + 1);
}

TEST_F(SegmentTest, AWaitEndsAtItsTimeoutAndRefusesTheFuture) {
  const std::uint64_t now = segment_->pin()->generation;
  const auto nothing = segment_->wait_for_change(now, std::chrono::milliseconds(1));
  ASSERT_OK(nothing);
  EXPECT_FALSE(nothing->has_value());
  const auto gone = segment_->wait_for_change(now + 1, std::chrono::seconds(60));
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().kind(), ErrorKind::kGone);
}

TEST_F(SegmentTest, AWaitLooksAtThePlaceAndWaitsOn) {
  const auto before = segment_->stats();
  const auto generation = store_.publisher().published_generation();
  const auto waited = segment_->wait_for_change(generation, std::chrono::milliseconds(300));
  ASSERT_OK(waited);
  EXPECT_EQ(*waited, std::nullopt);
  EXPECT_GT(segment_->stats().place_check_count, before.place_check_count);
  EXPECT_EQ(segment_->stats().wait_count, before.wait_count + 1);
}

TEST_F(SegmentTest, ARemovedPlaceIsNoticedAndANewOneFound) {
  EXPECT_EQ(look_up(*segment_, t_), "v1");
  store_.stop();
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    std::filesystem::remove_all(entry.path());
  }
  std::string answer = "v1";
  for (std::uint64_t i = 0; answer == "v1" && i <= 2 * kLookupsPerCheckMax; ++i) {
    answer = look_up(*segment_, t_);
  }
  EXPECT_EQ(answer, "no_segment");
  MemoryStore other;
  ASSERT_OK(other.start(dir_.path()));
  other.put_namespace({"a"});
  other.put_table(t_, "other");
  ASSERT_OK(other.commit());
  EXPECT_EQ(look_up(*segment_, t_), "other");
}

TEST_F(SegmentTest, AReplacedPlaceIsNoticedByAFastReader) {
  for (int i = 0; i < 100'000; ++i) look_up(*segment_, t_);  // so that checks are far apart
  store_.stop();
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    std::filesystem::remove_all(entry.path());
  }
  MemoryStore other;
  ASSERT_OK(other.start(dir_.path()));
  std::string answer = "v1";
  for (std::uint64_t i = 0; answer == "v1" && i <= 2 * kLookupsPerCheckMax; ++i) {
    answer = look_up(*segment_, t_);
  }
  EXPECT_EQ(answer, "absent");
}

TEST_F(SegmentTest, AFlipToANewerLayoutIsAnErrorThatPrintsBothVersions) {
  EXPECT_EQ(look_up(*segment_, t_), "v1");
  store_.stop();
  std::filesystem::copy(path("arena.1"), path("arena.2"));
  std::fstream arena(path("arena.2"), std::ios::in | std::ios::out | std::ios::binary);
  arena.seekp(offsetof(ArenaHeader, layout_version));
  arena.put('\x09');
  arena.close();
  auto page = WriteMapping::open(path("control"), kControlBytes);
  ASSERT_OK(page);
  reinterpret_cast<ControlPage*>(page->bytes().data())
      ->root.store(make_root(2, 3), std::memory_order_release);
  const Segment::Section section(*segment_);
  ASSERT_FALSE(section.ok());
  EXPECT_EQ(section.error().kind(), ErrorKind::kIncompatible);
  EXPECT_NE(section.error().message().find("version 9"), std::string::npos);
  EXPECT_NE(section.error().message().find("version 1"), std::string::npos);
}

TEST_F(SegmentTest, AFailedReattachDoesNotBringTheOldPageBack) {
  EXPECT_EQ(look_up(*segment_, t_), "v1");
  store_.stop();
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    std::filesystem::remove_all(entry.path());
  }
  std::ofstream(path("control")) << "garbage";
  std::thread([&] {  // one that has not looked up before, and so checks at once
    for (int i = 0; i < 20; ++i) EXPECT_EQ(look_up(*segment_, t_), "corrupt") << i;
  })
      .join();
  std::filesystem::remove(path("control"));
  MemoryStore other;
  ASSERT_OK(other.start(dir_.path()));
  EXPECT_EQ(look_up(*segment_, t_), "absent");
}

TEST_F(SegmentTest, ThreadsThatLookUpAtTheirVeryEndLeakNothing) {
  struct LookUpAtEnd {
    ThreadSlot** used = nullptr;
    ~LookUpAtEnd() { *used = thread_slot(); }
  };
  std::set<ThreadSlot*> slots;
  for (int i = 0; i < 50; ++i) {
    ThreadSlot* used = nullptr;
    std::thread([&] {
      thread_local LookUpAtEnd at_end;
      at_end.used = &used;
      EXPECT_EQ(look_up(*segment_, t_), "v1");
    }).join();
    slots.insert(used);
  }
  EXPECT_LE(slots.size(), 4U);
}

TEST_F(SegmentTest, AWaiterNoticesAReplacedPlace) {
  const std::uint64_t now = segment_->pin()->generation;
  store_.stop();
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    std::filesystem::remove_all(entry.path());
  }
  const auto lost = segment_->wait_for_change(now, std::chrono::seconds(60));
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().kind(), ErrorKind::kNoSegment);
}

TEST(Graveyard, OpensGravesInOrderOnceTheirWitnessesHaveLeft) {
  Graveyard graveyard;
  const auto bury = [&] {
    ASSERT_TRUE(graveyard.make_room());
    graveyard.bury(std::make_shared<int>(0));
  };
  bury();  // before anybody is inside
  std::latch is_inside(1);
  std::latch may_leave(1);
  std::thread reader([&] {
    const MarkedSection section;
    is_inside.count_down();
    may_leave.wait();
  });
  is_inside.wait();
  for (int i = 0; i < 100; ++i) bury();
  EXPECT_FALSE(graveyard.is_waiting());
  graveyard.dig();
  EXPECT_EQ(graveyard.size(), 100U);
  may_leave.count_down();
  reader.join();
  bury();
  EXPECT_EQ(graveyard.exhume().size(), 101U);
  EXPECT_EQ(graveyard.size(), 0U);
}

#ifndef __SANITIZE_ADDRESS__  // whose allocator stays locked when a fork meets it so
TEST_F(SegmentTest, AForkedChildReadsOn) {
  EXPECT_EQ(look_up(*segment_, t_), "v1");
  // Other threads that are inside a section at the fork must not hold up the child for ever.
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop.load(std::memory_order_relaxed)) look_up(*segment_, t_);
  });
  int to_child[2];
  int to_parent[2];
  ASSERT_EQ(::pipe(to_child), 0);
  ASSERT_EQ(::pipe(to_parent), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    bool ok = look_up(*segment_, t_) == "v1";
    char byte = 'x';
    ok = ::write(to_parent[1], &byte, 1) == 1 && ok;
    ok = ok && ::read(to_child[0], &byte, 1) == 1;  // the parent has flipped
    ok = ok && look_up(*segment_, t_) == "v2";
#ifndef __SANITIZE_THREAD__  // which cannot follow a thread made after such a fork
    std::thread([&] { ok = ok && look_up(*segment_, t_) == "v2"; }).join();
#endif
    ok = ok && segment_->stats().retired_count == 0;
    ::_exit(ok ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(to_parent[0], &byte, 1), 1);
  store_.put_table(t_, "v2");
  ASSERT_OK(store_.commit());
  ASSERT_OK(store_.publisher().flip());
  ASSERT_EQ(::write(to_child[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  stop.store(true, std::memory_order_relaxed);
  busy.join();
  for (const int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) ::close(end);
}
#endif

TEST_F(SegmentTest, ADamagedArenaIsAnErrorThatNamesIt) {
  store_.stop();
  ASSERT_EQ(::truncate(path("arena.1").c_str(), 5000), 0);
  const auto truncated = Segment::attach(dir_.path(), std::chrono::milliseconds(0));
  ASSERT_FALSE(truncated.ok());
  EXPECT_EQ(truncated.error().kind(), ErrorKind::kCorrupt);
  EXPECT_NE(truncated.error().message().find("arena.1"), std::string::npos);
  ASSERT_EQ(::unlink(path("arena.1").c_str()), 0);
  const auto missing = Segment::attach(dir_.path(), std::chrono::milliseconds(0));
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message().find("arena.1"), std::string::npos);
}

}  // namespace
}  // namespace iceblink::shm
