// That the cache's accounts are those of the allocator, and its bound holds at every moment.
// This program counts what is allocated, so it is one of its own.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>
#include <thread>

#include "tests/client/cache/metadata_files.h"
#include "tests/client/segment_fixture.h"

namespace {

std::atomic<std::int64_t> allocated_bytes{0};

/// What the allocator took for it, with its header.
std::int64_t taken(void* block) {
  return block == nullptr ? 0 : static_cast<std::int64_t>(::malloc_usable_size(block) + 8);
}
void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  allocated_bytes += taken(block);
  return block;
}
void release(void* block) noexcept {
  allocated_bytes -= taken(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(std::malloc(bytes));
}
void* operator new[](std::size_t bytes) {
  return counted(std::malloc(bytes));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto to = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(to, (bytes + to - 1) / to * to));
}
void operator delete(void* block) noexcept {
  release(block);
}
void operator delete[](void* block) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t) noexcept {
  release(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  release(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  release(block);
}

namespace iceblink::testing {
namespace {

constexpr std::size_t kTables = 120;
constexpr std::size_t kBytesMax = std::size_t{32} << 20;

TableIdent name(std::size_t index) {
  return {{"a"}, "t" + std::to_string(index)};
}

/// Half of the documents are one long property, half are snapshots, which are built when they are
/// asked for.
std::string document(std::size_t index, std::size_t bytes) {
  if (index % 2 == 0) return numbered_metadata(index, bytes);
  std::string text = numbered_metadata(index);
  text.pop_back();
  text += R"(,"current-snapshot-id":1,"snapshots":[)";
  for (std::size_t id = 1; id == 1 || text.size() < bytes; ++id) {
    const std::string number = std::to_string(id);
    text += std::string(id == 1 ? "" : ",") + R"({"snapshot-id":)" + number +
            R"(,"sequence-number":)" + number + R"(,"timestamp-ms":1700000000000,)" +
            R"("manifest-list":"file:///w/t/metadata/snap-)" + number +
            R"(.avro","schema-id":0,"summary":{"operation":"append","added-records":"1"}})";
  }
  text += "]}";
  const std::string sequence = R"("last-sequence-number":0)";
  return text.replace(text.find(sequence), sequence.size(), R"("last-sequence-number":9999999)");
}

class MetadataCacheBound : public SegmentTest {
 protected:
  void SetUp() override {
    SegmentTest::SetUp();
    store_.put_namespace({"a"});
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(0, 4);
    for (std::size_t i = 0; i < kTables; ++i) {
      const auto bytes = static_cast<std::size_t>(1024 * std::pow(10.0, exponent(random)));
      const std::string text = document(i, bytes);
      const std::string path = files_.path() + "/" + std::to_string(i) + ".metadata.json";
      put_file(path, text);
      store_.put_table(name(i), path, fingerprint_of(text));
    }
    commit();
  }

  /// Tables by Zipf's law, now and then a scan, now and then all snapshots of one.
  static void ask(const Catalog& catalog, std::uint64_t seed, int turns) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    const auto resolve = [&](std::size_t index) {
      const auto metadata = catalog.resolve_metadata(name(index));
      ASSERT_OK(metadata);
      ASSERT_EQ(number_of(**metadata), index);
      if (unit(random) < 0.2) ASSERT_OK((*metadata)->snapshots());
    };
    for (int turn = 0; turn < turns; ++turn) {
      resolve(static_cast<std::size_t>(std::pow(double{kTables}, unit(random))) - 1);
      if (turn % 100 != 99) continue;
      for (std::size_t i = 0; i < kTables; ++i) resolve(i);
    }
  }

  TempDir files_;
};

TEST_F(MetadataCacheBound, HoldsAtEveryMomentAndIsWhatTheAllocatorSays) {
  CatalogOptions options;
  options.metadata_cache_bytes_max = kBytesMax;
  options.metadata_cache_entry_share = 0.5;
  const Catalog catalog = open(options);
  // What stays once and for all: the thread's slot, rings, lists that have grown.
  ask(catalog, 1, 1);
  const std::int64_t beside =
      allocated_bytes - static_cast<std::int64_t>(catalog.stats().metadata_cache.kept_bytes);
  std::atomic<bool> done{false};
  std::atomic<int> overruns{0};
  std::thread watcher([&] {
    while (!done) {
      const auto stats = catalog.stats().metadata_cache;
      if (stats.kept_bytes + stats.in_flight_bytes > kBytesMax) ++overruns;
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] { ask(catalog, thread + 2, 200); });
  }
  for (auto& thread : threads) thread.join();
  done = true;
  watcher.join();
  const auto stats = catalog.stats().metadata_cache;
  EXPECT_EQ(overruns, 0);
  EXPECT_LE(stats.used_bytes_peak, kBytesMax);
  EXPECT_GT(stats.used_bytes_peak, kBytesMax / 10 * 9);
  EXPECT_GT(stats.eviction_count, 100U);
  EXPECT_EQ(stats.in_flight_bytes, 0U);
  EXPECT_EQ(stats.pinned_bytes, 0U);
  const auto reported = static_cast<double>(stats.kept_bytes);
  EXPECT_NEAR(static_cast<double>(allocated_bytes - beside), reported, reported * 0.02)
      << stats.entry_count << " entries";
}

TEST_F(MetadataCacheBound, OfSmallDocumentsIsWhatTheAllocatorSays) {
  const std::string text = numbered_metadata(5);
  constexpr std::size_t kSmall = 3000;
  for (std::size_t i = 0; i < kSmall; ++i) {
    const std::string path = files_.path() + "/s" + std::to_string(i) + ".metadata.json";
    std::ofstream(path) << text;
    store_.put_table(ident({"a"}, "s" + std::to_string(i)), path, fingerprint_of(text));
  }
  commit();
  const Catalog catalog = open();
  ASSERT_OK(catalog.resolve_metadata(name(0)));
  const std::int64_t beside =
      allocated_bytes - static_cast<std::int64_t>(catalog.stats().metadata_cache.kept_bytes);
  for (int turn = 0; turn < 2; ++turn) {  // the second makes handles
    for (std::size_t i = 0; i < kSmall; ++i) {
      ASSERT_OK(catalog.resolve_metadata(ident({"a"}, "s" + std::to_string(i))));
    }
  }
  const auto stats = catalog.stats().metadata_cache;
  EXPECT_EQ(stats.entry_count, kSmall + 1);
  const auto reported = static_cast<double>(stats.kept_bytes);
  EXPECT_NEAR(static_cast<double>(allocated_bytes - beside), reported, reported * 0.02)
      << reported / kSmall << " bytes an entry";
}

}  // namespace
}  // namespace iceblink::testing
