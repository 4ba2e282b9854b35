// A million tables, commits without pause, and arenas that are replaced meanwhile: no lookup
// fails, and afterwards one arena is left.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "shm/segment.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::MemoryStore;
using testing::TempDir;

constexpr int kTables = 1'000'000;
constexpr int kTablesPerNamespace = 1000;
constexpr std::uint64_t kFlips = 3;

TableIdent table_number(int i) {
  return {{"ns" + std::to_string(i / kTablesPerNamespace)}, "table_" + std::to_string(i)};
}

std::string location_of(int table, std::uint64_t version) {
  return "s3://warehouse/table_" + std::to_string(table) + "/metadata/v" + std::to_string(version);
}

struct Shared {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> lookups{0};
};

/// Arena mappings of the calling process that name a deleted file, or any.
int arena_mappings(bool deleted) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/arena.") == std::string::npos) continue;
    count += !deleted || line.ends_with("(deleted)") ? 1 : 0;
  }
  return count;
}

/// Looks up at random until told to stop; then says whether the old arenas are gone.
std::string look_up_at_random(const std::string& runtime_dir, Shared& shared, unsigned seed) {
  auto segment = Segment::attach(runtime_dir, std::chrono::seconds(60));
  if (!segment) return segment.error().message();
  std::mt19937 random(seed);
  const auto look_up = [&](int i) -> std::string {
    const TableIdent ident = table_number(i);
    const Segment::Section section(**segment);
    if (!section.ok()) return section.error().message();
    const TableKey key{ident.levels, ident.name};
    const Found found =
        section.arena().find(key, key.hash(section.arena().hash_seed()), section.generation());
    if (found.status != FindStatus::kFound) return ident.name + " was not found";
    return found.record.location().starts_with(location_of(i, 0).substr(0, 22)) ? "" : "mixed up";
  };
  while (!shared.stop.load(std::memory_order_relaxed)) {
    if (auto wrong = look_up(static_cast<int>(random() % kTables)); !wrong.empty()) return wrong;
    shared.lookups.fetch_add(1, std::memory_order_relaxed);
  }
  if (auto wrong = look_up(0); !wrong.empty()) return wrong;
  static_cast<void>((*segment)->stats());  // lets go of what nobody reads
  return arena_mappings(true) == 0 ? "" : "an old arena is still mapped";
}

TEST(FlipUnderLoad, AMillionTablesNoFailedLookupAndOneArenaAtTheEnd) {
  const TempDir dir;
  MemoryStore store;
  for (int i = 0; i < kTables; i += kTablesPerNamespace) {
    store.seed(encode(table_number(i).levels), RecordKind::kNamespace, "");
  }
  for (int i = 0; i < kTables; ++i) {
    store.seed(encode(table_number(i)), RecordKind::kTable, location_of(i, 0));
  }
  // Forked before the publisher starts, so as not to inherit its mappings.
  void* page =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto& shared = *new (page) Shared;
  std::vector<pid_t> readers;
  for (unsigned i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string wrong = look_up_at_random(dir.path(), shared, i);
      if (!wrong.empty()) std::fprintf(stderr, "reader %u: %s\n", i, wrong.c_str());
      ::_exit(wrong.empty() ? 0 : 1);
    }
    readers.push_back(child);
  }
  ASSERT_OK(store.start(dir.path()));

  std::mt19937 random(7);
  std::uint64_t commits = 0;
  while (store.publisher().stats().flip_count < kFlips) {
    const int i = static_cast<int>(random() % kTables);
    store.put_table(table_number(i), location_of(i, ++commits));
    ASSERT_OK(store.commit());
  }
  const PublisherStats stats = store.publisher().stats();
  std::printf("%llu commits, %llu of them while an arena was built, %llu lookups\n",
              static_cast<unsigned long long>(stats.publish_count),
              static_cast<unsigned long long>(stats.publishes_during_build_count),
              static_cast<unsigned long long>(shared.lookups.load(std::memory_order_relaxed)));
  EXPECT_GT(stats.publishes_during_build_count, 0U);
  EXPECT_GT(shared.lookups.load(std::memory_order_relaxed), 0U);

  shared.stop.store(true, std::memory_order_relaxed);
  for (const pid_t child : readers) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  // The publisher lets go of replaced arenas after a second.
  auto segment = Segment::attach(dir.path(), std::chrono::milliseconds(0));
  ASSERT_OK(segment);
  for (int i = 0; i < 500 && store.publisher().stats().lingering_bytes > 0; ++i) {
    static_cast<void>(
        (*segment)->wait_for_change((*segment)->pin()->generation, std::chrono::milliseconds(10)));
  }
  EXPECT_EQ(store.publisher().stats().lingering_bytes, 0U);
  EXPECT_EQ(arena_mappings(true), 0);
  EXPECT_EQ(arena_mappings(false), 2);  // the publisher's, and this test's own reader
  ::munmap(page, sizeof(Shared));
}

}  // namespace
}  // namespace iceblink::shm
