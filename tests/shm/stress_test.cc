// Many readers beside commits and flips, first as threads on one segment, then as processes. Every
// answer is judged: records name the generation that wrote them, so a reader can tell a mixture,
// a step back and a lost commit without asking anybody.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "shm/segment.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::MemoryStore;
using testing::table;
using testing::TempDir;

constexpr int kTables = 10;
constexpr int kCommits = 30'000;

TableIdent table_number(int i) {
  return table({"ns"}, "t" + std::to_string(i));
}

/// Set by the writer after a commit returned, before the next begins: what must be visible.
struct Shared {
  std::atomic<std::uint64_t> acknowledged{0};
  std::atomic<bool> stop{false};
};

/// Every commit writes all tables, so at generation g each says "g" — or, in a generation that is
/// a multiple of seven, the odd ones are dropped.
std::string judge(const ArenaView& arena, std::uint64_t generation) {
  for (int i = 0; i < kTables; ++i) {
    const TableIdent ident = table_number(i);
    const TableKey key{ident.levels, ident.name};
    const Found found = arena.find(key, key.hash(arena.hash_seed()), generation);
    const bool dropped = generation % 7 == 0 && i % 2 == 1;
    if (found.status == FindStatus::kCorrupt) return "corrupt";
    if ((found.status == FindStatus::kFound) == dropped) return "wrong presence";
    if (!dropped && found.record.location() != std::to_string(generation)) {
      return "at " + std::to_string(generation) + " found " + std::string(found.record.location());
    }
  }
  std::size_t listed = 0;
  if (arena.visit_tables("ns", generation, [&](const RecordView&) { ++listed; }) !=
          FindStatus::kFound ||
      listed != (generation % 7 == 0 ? kTables / 2 : kTables)) {
    return "listed " + std::to_string(listed);
  }
  return "";
}

/// Reads until told to stop. Empty, or what was wrong.
std::string read_and_judge(Segment& segment, const Shared& shared, int seed) {
  std::uint64_t last = 0;
  std::vector<PinnedView> held;
  for (unsigned round = static_cast<unsigned>(seed); !shared.stop.load(std::memory_order_relaxed);
       ++round) {
    const std::uint64_t acknowledged = shared.acknowledged.load(std::memory_order_acquire);
    {
      const Segment::Section section(segment);
      if (!section.ok()) return "section: " + section.error().message();
      const std::uint64_t generation = section.generation();
      if (generation < acknowledged) return "an acknowledged commit is not visible";
      if (generation < last) return "went back";
      last = generation;
      if (auto wrong = judge(section.arena(), generation); !wrong.empty()) return wrong;
    }
    if (round % 64 == 0) {
      auto pinned = segment.pin();
      if (!pinned) return "pin: " + pinned.error().message();
      held.push_back(std::move(*pinned));
      if (held.size() > 8) held.erase(held.begin());
    }
    if (round % 16 == 0 && !held.empty()) {
      const auto& pinned = held[round / 16 % held.size()];
      if (auto wrong = judge(pinned.mapping->arena, pinned.generation); !wrong.empty()) {
        return "snapshot: " + wrong;
      }
    }
    if (round % 1024 == 0) {
      const auto woken = segment.wait_for_change(last, std::chrono::milliseconds(1));
      if (!woken) return "wait: " + woken.error().message();
    }
  }
  return "";
}

void write(MemoryStore& store, Shared& shared, int commits) {
  for (int n = 0; n < commits; ++n) {
    const std::uint64_t generation = store.generation() + 1;
    for (int i = 0; i < kTables; ++i) {
      if (generation % 7 == 0 && i % 2 == 1) {
        store.drop_table(table_number(i));
      } else {
        store.put_table(table_number(i), std::to_string(generation));
      }
    }
    ASSERT_OK(store.commit());
    shared.acknowledged.store(generation, std::memory_order_release);
  }
}

void begin(MemoryStore& store, const std::string& runtime_dir) {
  store.options.headroom_bytes_min = 256 << 10;
  ASSERT_OK(store.start(runtime_dir));
  store.put_namespace({"ns"});
  for (int i = 0; i < kTables; ++i) store.put_table(table_number(i), "2");
  ASSERT_OK(store.commit());
}

TEST(Stress, ThreadsSeeWholeGenerationsInOrder) {
  const TempDir dir;
  MemoryStore store;
  begin(store, dir.path());
  auto segment = Segment::attach(dir.path(), std::chrono::milliseconds(0));
  ASSERT_OK(segment);
  Shared shared;
  std::vector<std::thread> readers;
  std::vector<std::string> wrong(3);
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&, i] { wrong[i] = read_and_judge(**segment, shared, i); });
  }
  write(store, shared, kCommits / 3);
  shared.stop.store(true, std::memory_order_relaxed);
  for (auto& reader : readers) reader.join();
  for (const auto& verdict : wrong) EXPECT_EQ(verdict, "");
  EXPECT_GT(store.publisher().stats().flip_count, 5U);
}

TEST(Stress, ProcessesSeeWholeGenerationsInOrder) {
  const TempDir dir;
  MemoryStore store;
  begin(store, dir.path());
  void* page =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto& shared = *new (page) Shared;
  std::vector<pid_t> readers;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto segment = Segment::attach(dir.path(), std::chrono::milliseconds(1000));
      const std::string wrong =
          segment.ok() ? read_and_judge(**segment, shared, i) : segment.error().message();
      if (!wrong.empty()) std::fprintf(stderr, "reader %d: %s\n", i, wrong.c_str());
      ::_exit(wrong.empty() ? 0 : 1);
    }
    readers.push_back(child);
  }
  write(store, shared, kCommits);
  shared.stop.store(true, std::memory_order_relaxed);
  for (const pid_t child : readers) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_GT(store.publisher().stats().flip_count, 5U);
  ::munmap(page, sizeof(Shared));
}

}  // namespace
}  // namespace iceblink::shm
