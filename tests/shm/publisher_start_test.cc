// What a publisher makes of the directory that it finds: other people's arenas, pages that lead
// nowhere, stores that cannot be read.
#include <fstream>

#include "shm/control_page.h"
#include "shm/directory_lock.h"
#include "shm/publisher.h"
#include "shm/segment.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::MemoryStore;
using testing::TempDir;
namespace fs = std::filesystem;

class PublisherStart : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(store_.start(dir_.path()));
    store_.stop();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return dir_.path() + "/" + name; }
  /// Changes the page, and makes its checksum match again.
  void change_page(const std::function<void(ControlPage&)>& change) const {
    auto mapping = WriteMapping::open(path("control"), kControlBytes);
    ASSERT_OK(mapping);
    auto& page = *reinterpret_cast<ControlPage*>(mapping->bytes().data());
    change(page);
    page.checksum = XXH3_64bits(mapping->bytes().data() + 8, offsetof(ControlPage, checksum) - 8);
  }
  [[nodiscard]] std::string start() {
    const Status started = store_.start(dir_.path());
    return started.ok() ? "ok" : started.error().message();
  }
  void replace_what_is_foreign() {
    store_.options.on_foreign_control = PublisherOptions::OnForeignControl::kReplace;
  }

  const TempDir dir_;
  MemoryStore store_;
};

TEST_F(PublisherStart, APageThatLeadsInACircleIsAnError) {
  fs::remove(path("control"));
  fs::create_symlink("control", path("control"));
  EXPECT_NE(start().find("symbolic links"), std::string::npos) << start();
}

TEST_F(PublisherStart, AnArenaThatIsNoFileIsRefused) {
  fs::remove(path("arena.1"));
  fs::create_directory(path("arena.1"));
  EXPECT_NE(start().find("arena.1: is not a regular file"), std::string::npos) << start();
}

TEST_F(PublisherStart, WithoutAPageWhatIsNoArenaOfTheStoreSaysNothing) {
  fs::remove(path("control"));
  fs::create_directory(path("arena.3"));
  std::ofstream(path("arena.4")) << "no arena";
  const TempDir other_dir;
  MemoryStore other;
  other.set_generation(1000);
  ASSERT_OK(other.start(other_dir.path()));
  other.stop();
  auto bytes = WriteMapping::open(other_dir.path() + "/arena.1",
                                  fs::file_size(other_dir.path() + "/arena.1"));
  ASSERT_OK(bytes);
  auto& header = *reinterpret_cast<ArenaHeader*>(bytes->bytes().data());
  header.store_uuid[0] = 99;
  header.checksum = XXH3_64bits(&header, offsetof(ArenaHeader, checksum));
  fs::copy_file(other_dir.path() + "/arena.1", path("arena.5"));
  EXPECT_EQ(start(), "ok");
  EXPECT_EQ(store_.publisher().adopted_generation(), 1U);  // its own arena's
}

TEST_F(PublisherStart, AnotherPagesArenaUnderTheNameSaysNothing) {
  const TempDir other_dir;
  MemoryStore other;
  other.set_generation(1000);
  ASSERT_OK(other.start(other_dir.path()));
  other.stop();
  fs::copy_file(other_dir.path() + "/arena.1", path("arena.1"),
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(start(), "ok");
  EXPECT_EQ(store_.publisher().adopted_generation(), 1U);
}

TEST_F(PublisherStart, ADamagedArenaIsReplacedUnderTheSamePage) {
  std::fstream(path("arena.1"), std::ios::in | std::ios::out).put('x');
  EXPECT_EQ(start(), "ok");
  EXPECT_TRUE(store_.publisher().adopts_control());
  EXPECT_EQ(store_.publisher().stats().epoch, 2U);
}

TEST_F(PublisherStart, AnArenaOfImpossibleGenerationsIsRefused) {
  {
    auto mapping = WriteMapping::open(path("arena.1"), fs::file_size(path("arena.1")));
    ASSERT_OK(mapping);
    reinterpret_cast<ArenaHeader*>(mapping->bytes().data())->published_generation.store(1ULL << 40);
  }
  EXPECT_NE(start().find("goes up to 1099511627776"), std::string::npos) << start();
}

TEST_F(PublisherStart, BytesThatAnOptionalFeatureUsesAreLeftAlone) {
  const auto byte_after_start = [&](std::uint32_t features) {
    change_page([&](ControlPage& page) {
      page.features_optional = features;
      page.reserved_1[100] = 7;
    });
    EXPECT_EQ(start(), "ok");
    store_.stop();
    int byte = 0;
    change_page([&](ControlPage& page) { byte = page.reserved_1[100]; });
    return byte;
  };
  EXPECT_EQ(byte_after_start(4), 7);
  EXPECT_EQ(byte_after_start(0), 0);
}

TEST_F(PublisherStart, APageOfAnEpochThatNoneHasIsRefused) {
  change_page([](ControlPage& page) { page.root.store(make_root(kEpochMax, 1)); });
  EXPECT_NE(start().find("the root names epoch"), std::string::npos) << start();
}

TEST_F(PublisherStart, AForeignPageIsReplacedWhateverItIs) {
  replace_what_is_foreign();
  for (const auto& spoil : std::initializer_list<std::function<void()>>{
           [&] { fs::resize_file(path("control"), 100); },
           [&] { fs::resize_file(path("control"), 2 * kControlBytes); },
           [&] { change_page([](ControlPage& page) { page.magic.store(1); }); },
           [&] {
             change_page([](ControlPage& page) { page.root.store(make_root(kEpochMax, 1)); });
           },
       }) {
    spoil();
    EXPECT_EQ(start(), "ok");
    EXPECT_FALSE(store_.publisher().adopts_control());
    EXPECT_TRUE(Segment::attach(dir_.path(), std::chrono::milliseconds(0)).ok());
    store_.stop();
  }
}

/// Reads nothing the first time, or the second.
class BrokenStore : public CatalogSource {
 public:
  explicit BrokenStore(int good_reads) : good_reads_(good_reads) {}
  [[nodiscard]] std::uint64_t generation() const override { return 9; }
  [[nodiscard]] Status for_each(const std::function<Status(const Change&)>&) const override {
    if (good_reads_-- > 0) return Ok{};
    return {ErrorKind::kIo, "the store cannot be read"};
  }

 private:
  mutable int good_reads_;
};

TEST_F(PublisherStart, AStoreThatCannotBeReadIsAnErrorAndLeavesNoArena) {
  for (const int good_reads : {0, 1}) {
    auto publisher = Publisher::open(store_.options);
    ASSERT_OK(publisher);
    const Status started = (*publisher)->start(BrokenStore(good_reads), 1);
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().message(), "the store cannot be read");
    EXPECT_FALSE(fs::exists(path("arena.2")));
  }
}

TEST_F(PublisherStart, ADirectoryThatIsNotThereCannotBeLocked) {
  const auto lock = DirectoryLock::take(path("none"));
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(lock.error().kind(), ErrorKind::kNotFound);
}

TEST_F(PublisherStart, AHolderThatSaysNoPidIsStillAHolder) {
  const auto lock = DirectoryLock::take(dir_.path());
  ASSERT_OK(lock);
  fs::resize_file(path(kLockName), 0);
  const auto second = DirectoryLock::take(dir_.path());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind(), ErrorKind::kConflict);
  EXPECT_TRUE(second.error().message().ends_with("another iceblinkd"));
}

}  // namespace
}  // namespace iceblink::shm
