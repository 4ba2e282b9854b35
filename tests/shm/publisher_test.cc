#include "shm/publisher.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "shm/control_page.h"
#include "shm/segment.h"
#include "shm/verifier.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::levels;
using testing::MemoryStore;
using testing::table;
using testing::TempDir;

std::optional<std::string> location_of(Segment& segment, const TableIdent& ident) {
  const Segment::Section section(segment);
  EXPECT_TRUE(section.ok()) << section.error().message();
  if (!section.ok()) return std::nullopt;
  const TableKey key{ident.levels, ident.name};
  const Found found =
      section.arena().find(key, key.hash(section.arena().hash_seed()), section.generation());
  EXPECT_NE(found.status, FindStatus::kCorrupt);
  if (found.status != FindStatus::kFound) return std::nullopt;
  return std::string(found.record.location());
}

class PublisherTest : public ::testing::Test {
 protected:
  void start() { ASSERT_OK(store_.start(dir_.path())); }
  std::unique_ptr<Segment> attach() {
    auto segment = Segment::attach(dir_.path(), std::chrono::milliseconds(0));
    EXPECT_TRUE(segment.ok()) << segment.error().message();
    return segment.ok() ? std::move(*segment) : nullptr;
  }
  std::string path(const std::string& name) const { return dir_.path() + "/" + name; }
  std::size_t arena_files() const { return list_count("arena."); }
  std::size_t list_count(const std::string& prefix) const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      count += entry.path().filename().string().starts_with(prefix) ? 1 : 0;
    }
    return count;
  }
  void expect_sound() {
    const auto report = verify_segment(dir_.path());
    for (const auto& problem : report.problems) ADD_FAILURE() << problem;
    EXPECT_TRUE(report.complete);
  }

  const TempDir dir_;
  MemoryStore store_;
  const TableIdent t_ = table(levels({"a"}), "t");
};

TEST_F(PublisherTest, FirstStartMakesControlAndArenaWithTheRightModes) {
  start();
  struct stat status {};
  ASSERT_EQ(::stat(path("control").c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 4096);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
  ASSERT_EQ(::stat(path("arena.1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
  EXPECT_GE(status.st_blocks * 512, status.st_size);  // no holes
  ASSERT_EQ(::stat(path("daemon.lock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(list_count("control"), 1U);
  expect_sound();
}

TEST_F(PublisherTest, CommitsAreVisibleToAnAttachedReader) {
  start();
  auto segment = attach();
  store_.put_namespace({"a"});
  store_.put_table(t_, "v1");
  ASSERT_OK(store_.commit());
  EXPECT_EQ(location_of(*segment, t_), "v1");
  store_.put_table(t_, "v2");
  ASSERT_OK(store_.commit());
  EXPECT_EQ(location_of(*segment, t_), "v2");
  store_.drop_table(t_);
  ASSERT_OK(store_.commit());
  EXPECT_EQ(location_of(*segment, t_), std::nullopt);
  expect_sound();
}

TEST_F(PublisherTest, FlipKeepsTheCatalogAndLeavesOneFile) {
  start();
  auto segment = attach();
  store_.put_namespace({"a"});
  store_.put_namespace({"a", "b"});
  store_.put_table(t_, "v1");
  store_.put_table(table({"a", "b"}, "deep"), "d1");
  ASSERT_OK(store_.commit());
  store_.drop_table(table({"a", "b"}, "deep"));
  ASSERT_OK(store_.commit());
  const auto pinned = segment->pin();
  ASSERT_OK(store_.publisher().flip());
  EXPECT_EQ(arena_files(), 1U);
  EXPECT_EQ(location_of(*segment, t_), "v1");
  EXPECT_EQ(location_of(*segment, table({"a", "b"}, "deep")), std::nullopt);
  EXPECT_EQ(store_.publisher().stats().epoch, 2U);
  EXPECT_EQ(store_.publisher().stats().arena_garbage_bytes, 0U);
  EXPECT_EQ(pinned->mapping->epoch, 1U);  // still readable
  expect_sound();
}

TEST_F(PublisherTest, ReportsEachBuild) {
  std::vector<BuildReport> reports;
  store_.options.on_build = [&](const BuildReport& report) { reports.push_back(report); };
  start();
  store_.put_namespace({"a"});
  store_.put_table(t_, "v1");
  ASSERT_OK(store_.commit());
  store_.put_table(t_, "v2");
  ASSERT_OK(store_.commit());
  ASSERT_OK(store_.publisher().flip());
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_TRUE(reports[0].status.ok());
  EXPECT_EQ(reports[0].epoch, 2U);
  EXPECT_EQ(reports[0].table_count, 1U);
  EXPECT_EQ(reports[0].arena_bytes, store_.publisher().stats().arena_bytes);
  EXPECT_GT(reports[0].garbage_bytes_before, 0U);
  EXPECT_GT(reports[0].duration.count(), 0);
}

TEST_F(PublisherTest, ManySmallCommitsFlipByThemselves) {
  store_.options.headroom_bytes_min = 64 << 10;
  start();
  auto segment = attach();
  store_.put_namespace({"a"});
  ASSERT_OK(store_.commit());
  for (int i = 0; i < 20'000; ++i) {
    const TableIdent ident = table({"a"}, "t" + std::to_string(i % 50));
    const std::string location = "location-" + std::to_string(i);
    store_.put_table(ident, location);
    ASSERT_OK(store_.commit());
    ASSERT_EQ(location_of(*segment, ident), location);
  }
  EXPECT_GT(store_.publisher().stats().flip_count, 3U);
  expect_sound();
}

TEST_F(PublisherTest, ABatchLargerThanTheRoomWaitsForAFlip) {
  store_.options.headroom_bytes_min = 64 << 10;
  start();
  store_.put_namespace({"a"});
  for (int i = 0; i < 20'000; ++i) {
    store_.put_table(table({"a"}, "t" + std::to_string(i)), "location-" + std::to_string(i));
  }
  ASSERT_OK(store_.commit());
  auto segment = attach();
  EXPECT_EQ(location_of(*segment, table({"a"}, "t19999")), "location-19999");
  EXPECT_EQ(store_.publisher().stats().table_count, 20'000U);
  expect_sound();
}

TEST_F(PublisherTest, RestartKeepsTheControlFileAndGoesOnUpwards) {
  start();
  store_.put_namespace({"a"});
  store_.put_table(t_, "v1");
  ASSERT_OK(store_.commit());
  auto segment = attach();
  const auto before = identity_of(path("control"));
  store_.stop();
  EXPECT_EQ(location_of(*segment, t_), "v1");
  start();
  EXPECT_EQ(*identity_of(path("control")), *before);
  EXPECT_EQ(location_of(*segment, t_), "v1");
  store_.put_table(t_, "v2");
  ASSERT_OK(store_.commit());
  EXPECT_EQ(location_of(*segment, t_), "v2");
  EXPECT_EQ(arena_files(), 1U);
  expect_sound();
}

TEST_F(PublisherTest, ARestoredStoreGoesAboveWhatReadersHaveSeen) {
  start();
  store_.put_namespace({"a"});
  store_.put_table(t_, "v1");
  ASSERT_OK(store_.commit());
  for (int i = 0; i < 10; ++i) {
    store_.put_table(t_, "lost");
    ASSERT_OK(store_.commit());
  }
  auto segment = attach();
  const std::uint64_t seen = segment->pin()->generation;
  store_.stop();
  MemoryStore older;
  older.set_generation(2);
  ASSERT_OK(older.start(dir_.path()));
  EXPECT_GT(segment->pin()->generation, seen);
  EXPECT_EQ(location_of(*segment, t_), std::nullopt);
}

TEST_F(PublisherTest, OrphanArenasAndDraftsAreSwept) {
  start();
  store_.stop();
  std::ofstream(path("arena.77")) << "orphan";
  std::ofstream(path("control.new")) << "draft";
  start();
  EXPECT_EQ(arena_files(), 1U);
  EXPECT_EQ(list_count("control"), 1U);
}

TEST_F(PublisherTest, ASecondPublisherIsToldWhoHoldsTheLock) {
  start();
  MemoryStore second;
  const auto refused = second.start(dir_.path());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
  EXPECT_NE(refused.error().message().find("pid " + std::to_string(::getpid())), std::string::npos)
      << refused.error().message();
}

TEST_F(PublisherTest, AnotherStoresControlIsRefusedByNameAndReplacedOnPurpose) {
  start();
  store_.put_namespace({"a"});
  ASSERT_OK(store_.commit());
  auto segment = attach();
  store_.stop();

  auto options = store_.options;
  options.store_uuid[0] = 8;
  const auto refused = Publisher::open(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kIncompatible);
  EXPECT_NE(refused.error().message().find(to_string(options.store_uuid)), std::string::npos);

  options.on_foreign_control = PublisherOptions::OnForeignControl::kReplace;
  auto publisher = Publisher::open(options);
  ASSERT_OK(publisher);
  const MemoryStore empty;
  ASSERT_OK((*publisher)->start(empty, 5));
  const auto pinned = segment->pin();
  ASSERT_OK(pinned);
  EXPECT_EQ(pinned->mapping->page->store_uuid, options.store_uuid);
  EXPECT_EQ(arena_files(), 1U);
  expect_sound();
}

TEST_F(PublisherTest, ADamagedControlIsRefusedWithItsPath) {
  start();
  store_.stop();
  {
    std::fstream file(path("control"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(30);
    file.put('\x55');
  }
  const auto refused = store_.start(dir_.path());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kCorrupt);
  EXPECT_NE(refused.error().message().find(path("control")), std::string::npos);
  store_.options.on_foreign_control = PublisherOptions::OnForeignControl::kReplace;
  start();
  expect_sound();
}

TEST_F(PublisherTest, AControlThatIsNoRegularFileIsRefused) {
  ASSERT_EQ(::mkfifo(path("control").c_str(), 0600), 0);
  const auto refused = store_.start(dir_.path());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kCorrupt);
}

TEST_F(PublisherTest, AnInterruptedReplacementIsNoControlAtAll) {
  start();
  store_.put_namespace({"a"});
  ASSERT_OK(store_.commit());
  store_.stop();
  {
    auto page = WriteMapping::open(path("control"), kControlBytes);
    ASSERT_OK(page);
    reinterpret_cast<ControlPage*>(page->bytes().data())
        ->root.store(kRetired, std::memory_order_release);
  }
  const auto refused = Segment::attach(dir_.path(), std::chrono::milliseconds(0));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNoSegment);
  start();
  auto segment = attach();
  ASSERT_NE(segment, nullptr);
  EXPECT_EQ(segment->pin()->mapping->epoch, 1U);
  expect_sound();
}

TEST_F(PublisherTest, AFlippedBitOfTheRootIsNotTakenForARestore) {
  start();
  store_.put_namespace({"a"});
  store_.put_table(t_, "v1");
  ASSERT_OK(store_.commit());
  ASSERT_OK(store_.publisher().flip());
  const std::uint64_t generation = store_.generation();
  store_.stop();
  for (int bit = 0; bit < 64; ++bit) {
    const auto flip = [&] {
      auto page = WriteMapping::open(path("control"), kControlBytes);
      ASSERT_OK(page);
      auto& root = reinterpret_cast<ControlPage*>(page->bytes().data())->root;
      root.store(root.load(std::memory_order_relaxed) ^ (RootWord{1} << bit),
                 std::memory_order_release);
    };
    flip();
    const auto publisher = Publisher::open(store_.options);
    if (publisher) {
      EXPECT_EQ((*publisher)->adopted_generation(), generation) << "bit " << bit;
    } else {
      EXPECT_EQ(publisher.error().kind(), ErrorKind::kCorrupt) << "bit " << bit;
    }
    flip();
  }
}

TEST_F(PublisherTest, ADamagedGenerationOfAnArenaIsNotTakenForWhatReadersSaw) {
  start();
  store_.put_namespace({"a"});
  ASSERT_OK(store_.commit());
  store_.stop();
  ASSERT_EQ(::unlink(path("control").c_str()), 0);
  std::fstream file(path("arena.1"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offsetof(ArenaHeader, published_generation));
  file.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  file.close();
  const auto publisher = Publisher::open(store_.options);
  ASSERT_OK(publisher);
  EXPECT_EQ((*publisher)->adopted_generation(), std::nullopt);
}

TEST_F(PublisherTest, AReplacementThatFailsLeavesTheOldPageServing) {
  start();
  store_.put_namespace({"a"});
  store_.put_table(t_, "v1");
  ASSERT_OK(store_.commit());
  auto segment = attach();
  store_.stop();
  std::filesystem::create_directory(path("control.new"));  // so that no draft can be made
  auto options = store_.options;
  options.store_uuid[0] = 8;
  options.on_foreign_control = PublisherOptions::OnForeignControl::kReplace;
  auto publisher = Publisher::open(options);
  ASSERT_OK(publisher);
  EXPECT_FALSE((*publisher)->start(MemoryStore(), 5).ok());
  EXPECT_EQ(location_of(*segment, t_), "v1");
  EXPECT_EQ(arena_files(), 1U);
}

TEST_F(PublisherTest, WithoutAPageTheArenasSayWhatReadersHaveSeen) {
  start();
  store_.put_namespace({"a"});
  ASSERT_OK(store_.commit());
  store_.put_table(t_, "v1");
  ASSERT_OK(store_.commit());
  const std::uint64_t seen = store_.generation();
  store_.stop();
  const auto retire = [&] {
    auto page = WriteMapping::open(path("control"), kControlBytes);
    ASSERT_OK(page);
    reinterpret_cast<ControlPage*>(page->bytes().data())
        ->root.store(kRetired, std::memory_order_release);
  };
  retire();
  {
    auto publisher = Publisher::open(store_.options);
    ASSERT_OK(publisher);
    EXPECT_EQ((*publisher)->adopted_generation(), seen);
    EXPECT_FALSE((*publisher)->adopts_control());
  }
  ASSERT_EQ(::unlink(path("control").c_str()), 0);
  MemoryStore older;  // restored to before either commit
  ASSERT_OK(older.start(dir_.path()));
  EXPECT_GT(attach()->pin()->generation, seen);
}

TEST_F(PublisherTest, IndexOccupancyAloneCausesAFlip) {
  start();
  store_.put_namespace({"a"});
  ASSERT_OK(store_.commit());
  const auto capacity = store_.publisher().stats().index_capacity;
  for (std::uint64_t i = 0; i < 2 * capacity; ++i) {
    store_.put_table(table({"a"}, std::to_string(i)), "x");
    ASSERT_OK(store_.commit());
    store_.drop_table(table({"a"}, std::to_string(i)));
    ASSERT_OK(store_.commit());
  }
  EXPECT_GE(store_.publisher().stats().flip_count, 1U);
  EXPECT_EQ(store_.publisher().stats().table_count, 0U);
  expect_sound();
}

/// A tmpfs of four megabytes, in a mount namespace of a child: nothing is left behind.
TEST(PublisherOnASmallTmpfs, RefusesWhatDoesNotFitAndServesOn) {
  EXPECT_EXIT(
      {
        const TempDir dir;
        const auto fail = [](const char* what) {
          std::fprintf(stderr, "%s\n", what);
          ::_exit(1);
        };
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
          fail("cannot mount a tmpfs: this test runs as root");
        }
        {
          MemoryStore store;
          if (!store.start(dir.path())) fail("start");
          auto segment = Segment::attach(dir.path(), std::chrono::milliseconds(0));
          if (!segment) fail("attach");
          store.put_namespace({"a"});
          if (!store.commit()) fail("first commit");
          int committed = 0;
          ErrorKind refused_with{};
          for (; committed < 100'000; ++committed) {
            store.put_table(table({"a"}, "t" + std::to_string(committed)),
                            std::string(200, 'l') + std::to_string(committed));
            if (const auto done = store.commit(); !done) {
              refused_with = done.error().kind();
              break;
            }
          }
          if (refused_with != ErrorKind::kNoSpace) fail("no space was expected");
          if (committed < 1000) fail("too few fit");
          for (int i = 0; i < committed; ++i) {
            const auto found = location_of(**segment, table({"a"}, "t" + std::to_string(i)));
            if (!found || !found->ends_with("l" + std::to_string(i))) fail("lost a table");
          }
          // Dropping makes room again, once what is dropped fits.
          if (!verify_segment(dir.path()).problems.empty()) fail("verify");
        }
        ::umount2(dir.path().c_str(), MNT_DETACH);
        std::filesystem::remove_all(dir.path());
        ::_exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace iceblink::shm
