// What a catalog counts of itself. Reads are counted by process, so tests compare before and after.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <span>
#include <thread>
#include <vector>

#include "tests/client/fake_daemon.h"
#include "tests/client/metadata_fixture.h"

namespace iceblink {

static void PrintTo(const ReadStats& reads, std::ostream* out) {
  *out << reads.found_count << " found, " << reads.absent_count << " absent, "
       << reads.metadata_hit_count << " metadata hits, " << reads.table_hit_count << " table hits";
}

}  // namespace iceblink

namespace iceblink::testing {
namespace {

ReadStats operator-(const ReadStats& after, const ReadStats& before) {
  return {after.found_count - before.found_count, after.absent_count - before.absent_count,
          after.metadata_hit_count - before.metadata_hit_count,
          after.table_hit_count - before.table_hit_count};
}

/// Fails with the error's message.
#define EXPECT_READ(expression)                                   \
  do {                                                            \
    const auto& result_of_ = (expression);                        \
    EXPECT_TRUE(result_of_.ok()) << result_of_.error().message(); \
  } while (false)

/// Reads everything as one table's metadata, once it may.
class HeldReader final : public ObjectReader {
 public:
  explicit HeldReader(const std::atomic<bool>& is_held) : is_held_(is_held) {}
  void read(std::span<const std::string> /*locations*/, std::size_t /*object_bytes_max*/,
            std::span<Result<std::string>> contents) override {
    while (is_held_) std::this_thread::yield();
    for (auto& content : contents) content = numbered_metadata(1);
  }

 private:
  const std::atomic<bool>& is_held_;
};

class Counters : public MetadataTest {
 protected:
  void SetUp() override {
    MetadataTest::SetUp();
    put("t", "v1.metadata.json", numbered_metadata(1));
  }
  /// What `work` adds.
  template <typename Work>
  static ReadStats counted(const Catalog& catalog, Work work) {
    const ReadStats before = catalog.stats().reads;
    work();
    return catalog.stats().reads - before;
  }
};

TEST_F(Counters, LookupsAreFoundOrAbsent) {
  const Catalog catalog = open();
  const PreparedKey prepared = *catalog.prepare(name("t"));
  const ReadStats reads = counted(catalog, [&] {
    EXPECT_THAT(catalog.table_exists(name("t")), IsValue(true));
    EXPECT_THAT(catalog.table_exists(prepared), IsValue(true));
    EXPECT_THAT(catalog.view_exists(name("t")), IsValue(false));
    EXPECT_THAT(catalog.namespace_exists({"a"}), IsValue(true));
    EXPECT_READ(catalog.resolve_location(name("t")));
    EXPECT_THAT(catalog.table_exists(name("none")), IsValue(false));
    EXPECT_THAT(catalog.namespace_exists({"none"}), IsValue(false));
    EXPECT_THAT(catalog.resolve_location(name("none")), IsError(ErrorKind::kNotFound));
    EXPECT_THAT(catalog.resolve_metadata(name("none")), IsError(ErrorKind::kNotFound));
    EXPECT_THAT(catalog.load_table(name("none")), IsError(ErrorKind::kNotFound));
  });
  EXPECT_EQ(reads, (ReadStats{5, 5, 0, 0}));
}

TEST_F(Counters, EachNameOfABatchCountsOnce) {
  const Catalog catalog = open();
  const std::vector<TableIdent> names{name("t"), name("none"), name("t")};
  std::array<bool, 3> exist{};
  EXPECT_EQ(counted(catalog,
                    [&] {
                      EXPECT_READ(catalog.tables_exist(names, exist));
                      EXPECT_READ(catalog.resolve_locations(names));
                    }),
            (ReadStats{4, 2, 0, 0}));
  const auto load = [&] { EXPECT_READ(catalog.load_tables(names)); };
  EXPECT_EQ(counted(catalog, load), (ReadStats{2, 1, 0, 0}));
  EXPECT_EQ(counted(catalog, load), (ReadStats{2, 1, 0, 2}));
  EXPECT_EQ(counted(catalog, [&] { EXPECT_READ(catalog.resolve_metadata(names)); }).absent_count,
            1U);
}

TEST_F(Counters, EachLayerCountsItsHitsAndItsMisses) {
  const Catalog catalog = open();
  EXPECT_EQ(counted(catalog, [&] { EXPECT_READ(catalog.resolve_metadata(name("t"))); }),
            (ReadStats{1, 0, 0, 0}));
  EXPECT_EQ(counted(catalog, [&] { EXPECT_READ(catalog.load_table(name("t"))); }),
            (ReadStats{1, 0, 0, 0}));
  // The first look of a thread at what was loaded goes to the lock, the others do not.
  EXPECT_READ(catalog.resolve_metadata(name("t")));
  EXPECT_READ(catalog.load_table(name("t")));
  EXPECT_EQ(counted(catalog,
                    [&] {
                      EXPECT_READ(catalog.resolve_metadata(name("t")));
                      EXPECT_READ(catalog.resolve_metadata(name("t")));
                      EXPECT_READ(catalog.load_table(name("t")));
                    }),
            (ReadStats{3, 0, 2, 1}));
  const CatalogStats stats = catalog.stats();
  EXPECT_EQ(stats.metadata_cache.miss_count, 1U);
  EXPECT_EQ(stats.metadata_cache.load_count, 1U);
  EXPECT_EQ(stats.metadata_cache.wait_count, 0U);
  EXPECT_EQ(stats.table_cache.miss_count, 1U);
  EXPECT_GT(stats.metadata_cache.loaded_bytes, numbered_metadata(1).size());
  EXPECT_LE(stats.metadata_cache.loaded_bytes, stats.metadata_cache.kept_bytes);
  EXPECT_EQ(stats.files.byte_count, numbered_metadata(1).size());
}

TEST_F(Counters, ACallThatWaitsForTheLoadOfAnotherSaysSo) {
  std::atomic<bool> is_held{true};
  CatalogOptions options;
  options.files.readers = {{"held", std::make_shared<HeldReader>(is_held)}};
  const Catalog catalog = open(options);
  store_.put_table(name("h"), "held://b/1");
  commit();
  std::thread leader([&] { EXPECT_READ(catalog.resolve_metadata(name("h"))); });
  while (catalog.stats().metadata_cache.load_count < 1) std::this_thread::yield();
  std::thread follower([&] { EXPECT_READ(catalog.resolve_metadata(name("h"))); });
  while (catalog.stats().metadata_cache.wait_count < 1) std::this_thread::yield();
  is_held = false;
  leader.join();
  follower.join();
  const CacheStats cache = catalog.stats().metadata_cache;
  EXPECT_EQ(cache.miss_count, 2U);
  EXPECT_EQ(cache.wait_count, 1U);
  EXPECT_EQ(cache.load_count, 1U);
}

TEST_F(Counters, ThreadsAreSummedUpAndThoseThatEndedStayCounted) {
  const Catalog catalog = open();
  constexpr int kThreads = 4;
  constexpr std::uint64_t kLookups = 1000;
  const ReadStats before = catalog.stats().reads;
  for (int turn = 1; turn <= 2; ++turn) {  // the second takes the slots of the first
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t k = 0; k < kLookups; ++k) {
          EXPECT_THAT(catalog.table_exists(name(k % 4 == 0 ? "none" : "t")), IsValue(k % 4 != 0));
        }
      });
    }
    for (auto& thread : threads) thread.join();
    const std::uint64_t lookups = kLookups * kThreads * static_cast<std::uint64_t>(turn);
    EXPECT_EQ(catalog.stats().reads - before, (ReadStats{lookups * 3 / 4, lookups / 4, 0, 0}));
  }
}

TEST_F(Counters, OnesThatRunAreCountedTooOnceTheyHavePassed) {
  const Catalog catalog = open();
  std::barrier<> step(2);
  const ReadStats before = catalog.stats().reads;
  std::thread reader([&] {
    EXPECT_READ(catalog.table_exists(name("t")));
    step.arrive_and_wait();
    step.arrive_and_wait();
  });
  step.arrive_and_wait();
  EXPECT_EQ((catalog.stats().reads - before).found_count, 1U);
  step.arrive_and_wait();
  reader.join();
}

TEST_F(Counters, AChildGoesOnFromWhatItsParentHad) {
  const Catalog catalog = open();
  EXPECT_READ(catalog.table_exists(name("t")));
  const ReadStats before = catalog.stats().reads;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a watchdog
    const bool is_copied = catalog.stats().reads == before;
    const bool is_there = catalog.table_exists(name("t")).ok();
    ::_exit(is_copied && is_there && catalog.stats().reads - before == ReadStats{1, 0, 0, 0} ? 0
                                                                                             : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(catalog.stats().reads, before) << "the child's are its own";
}

TEST_F(Counters, WaitsForAChangeAndWakeUps) {
  const Catalog catalog = open();
  const auto now = *catalog.generation();
  EXPECT_READ(catalog.wait_for_change(now - 1, std::chrono::seconds(60)));
  EXPECT_EQ(catalog.stats().wait_count, 0U) << "it was there already";
  EXPECT_READ(catalog.wait_for_change(now, std::chrono::milliseconds(1)));
  EXPECT_EQ(catalog.stats().wait_count, 1U);
  EXPECT_EQ(catalog.stats().wake_count, 0U);
  std::thread waiter([&] { EXPECT_READ(catalog.wait_for_change(now, std::chrono::seconds(60))); });
  while (catalog.stats().wait_count < 2) std::this_thread::yield();
  commit_tables(1);
  waiter.join();
  EXPECT_EQ(catalog.stats().wait_count, 2U);
  EXPECT_EQ(catalog.stats().wake_count, 1U);
}

}  // namespace
}  // namespace iceblink::testing
