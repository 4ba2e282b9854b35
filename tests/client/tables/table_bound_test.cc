// That the handles' cache keeps its bound at every moment, and that the memory of a process follows
// what the cache says it takes, where object caches are full.
// This program looks at its own memory, so it is one of its own.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <random>
#include <thread>

#include "tests/client/tables/warehouse.h"

namespace iceblink::testing {
namespace {

constexpr std::size_t kTables = 500;
constexpr std::size_t kObjectBytes = std::size_t{1} << 20;
constexpr std::size_t kBudget = std::size_t{64} << 20;

class TableBound : public WarehouseTest {
 protected:
  /// All tables have the same manifests, together somewhat more than an object cache takes; each
  /// keeps its own.
  void SetUp() override {
    WarehouseTest::SetUp();
    const std::string snapshot =
        write_snapshot({1, {250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250}});
    for (std::size_t i = 0; i < kTables; ++i) {
      const std::string text = table_metadata(i, 1, {snapshot});
      const std::string file = path(std::to_string(i) + ".metadata.json");
      put_file(file, text);
      store_.put_table(name_of(i), file, fingerprint_of(text));
    }
    commit();
  }
  static TableIdent name_of(std::size_t index) { return name("t" + std::to_string(index)); }
  static CatalogOptions options() {
    CatalogOptions options;
    options.metadata_cache_bytes_max = 0;  // so that what is measured is the handles' alone
    options.table_cache_bytes_max = kBudget;
    options.object_cache_bytes_max = kObjectBytes;
    return options;
  }
  /// Loads and plans tables at random, the low numbers more often.
  static void ask(const Catalog& catalog, std::uint64_t seed, int turns) {
    std::mt19937_64 random(seed);
    for (int turn = 0; turn < turns; ++turn) {
      const std::size_t index = random() % (random() % kTables + 1);
      const auto table = catalog.load_table(name_of(index));
      ASSERT_OK(table);
      ASSERT_EQ((*table)->identifier(), name_of(index));
      const auto plan = (*table)->plan_files();
      ASSERT_OK(plan);
      ASSERT_EQ(plan->tasks().size(), 13U * 250U);
    }
  }
  static std::size_t resident_bytes() {
    ::malloc_trim(0);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  }
};

TEST_F(TableBound, HoldsAtEveryMomentUnderRandomLoads) {
  const Catalog catalog = open(options());
  std::atomic<bool> done{false};
  std::atomic<int> overruns{0};
  std::thread watcher([&] {
    while (!done) {
      const auto stats = catalog.stats().table_cache;
      if (stats.kept_bytes + stats.in_flight_bytes > kBudget) ++overruns;
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] { ask(catalog, thread + 1, 100); });
  }
  for (auto& thread : threads) thread.join();
  done = true;
  watcher.join();
  const auto stats = catalog.stats().table_cache;
  EXPECT_EQ(overruns, 0);
  EXPECT_LE(stats.used_bytes_peak, kBudget);
  EXPECT_GT(stats.used_bytes_peak, kBudget / 10 * 9);
  EXPECT_GT(stats.eviction_count, 50U);
  EXPECT_EQ(stats.pinned_bytes, 0U);
}

TEST_F(TableBound, IsFollowedByTheMemoryOfTheProcessWhereObjectCachesAreFull) {
  // What stays once and for all, and what the allocator keeps for the largest load.
  { ask(open(options()), 9, 3); }
  const Catalog catalog = open(options());
  const std::size_t before = resident_bytes();
  ask(catalog, 1, 400);
  const double grown = static_cast<double>(resident_bytes()) - static_cast<double>(before);
  const auto stats = catalog.stats().table_cache;
  const auto charged = static_cast<double>(stats.kept_bytes);
  EXPECT_GT(stats.eviction_count, 100U);
  EXPECT_GT(charged, static_cast<double>(kBudget) * 0.9);
  EXPECT_NEAR(grown, charged, charged * 0.15) << stats.entry_count << " handles";
}

}  // namespace
}  // namespace iceblink::testing
