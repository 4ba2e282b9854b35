// How lookups scale: 1, 2, 4, … threads of a process, and as many processes, look up random tables
// of one catalog, of a private map (one in each process) and of LMDB; and threads load one hot
// table. Prints thread CPU time, in ns a lookup, as the mean over the readers, round by round: with
// more readers than CPUs these take turns.
//
//   readers_bench --dir DIR --tables N --readers-max N --rounds N --lookups N
#include <iceblink/catalog.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "bench/lmdb_table.h"
#include "bench/measurement.h"
#include "bench/private_map.h"
#include "bench/publisher_side.h"
#include "bench/sample_catalog.h"
#include "bench/sample_documents.h"
#include "bench/scratch_dir.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

constexpr std::size_t kReadersMax = 64;

/// Where everything lies.
struct Places {
  std::string segment;
  std::string lmdb;
  SampleCatalog sample;
  std::vector<TableIdent> idents;
};

/// What one process looks up in. LMDB is opened in the process that uses it.
class Sides {
 public:
  explicit Sides(const Places& places)
      : catalog_(take(Catalog::open(places.segment))),
        lmdb_(places.lmdb, LmdbTable::Durability::kNone) {
    for (std::size_t i = 0; i < places.sample.table_count(); ++i) {
      map_.emplace(encode(places.sample.ident(i)), places.sample.location(i, 0));
    }
    std::thread([] {}).join();  // a process of one thread counts references without atomics
  }

  [[nodiscard]] const Catalog& catalog() const noexcept { return catalog_; }
  [[nodiscard]] const MapByParts& map() const noexcept { return map_; }
  [[nodiscard]] const LmdbTable& lmdb() const noexcept { return lmdb_; }

 private:
  Catalog catalog_;
  MapByParts map_;
  LmdbTable lmdb_;
};

enum class Side : std::uint8_t { kCatalog, kMap, kLmdb, kHotTable };
constexpr const char* name_of(Side side) {
  constexpr const char* kNames[] = {"catalog", "map", "lmdb", "hot_table"};
  return kNames[static_cast<std::size_t>(side)];
}

/// Thread CPU time of each lookup; `others` arrive before it is taken.
template <typename Ask, typename Arrive>
double measure(const std::vector<TableIdent>& idents, std::size_t begin, std::size_t lookups,
               Arrive arrive, Ask ask) {
  std::size_t at = begin % idents.size();
  const auto turn = [&](std::size_t count) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      found += ask(idents[at]) ? 1 : 0;
      if (++at == idents.size()) at = 0;
    }
    require(found == count, "a table was not found");
  };
  turn(idents.size());
  arrive();
  const std::uint64_t cpu_begin = thread_cpu_ns();
  turn(lookups);
  return static_cast<double>(thread_cpu_ns() - cpu_begin) / static_cast<double>(lookups);
}

/// Of one reader, which begins at a place of its own.
template <typename Arrive>
double measure_side(Side side, const Sides& sides, const Places& places, std::size_t reader,
                    std::size_t lookups, Arrive arrive) {
  const std::size_t begin = reader * (places.idents.size() / kReadersMax);
  switch (side) {
    case Side::kCatalog:
      return measure(places.idents, begin, lookups, arrive, [&](const TableIdent& ident) {
        const auto exists = sides.catalog().table_exists(ident);
        return exists.ok() && *exists;
      });
    case Side::kMap:
      return measure(places.idents, begin, lookups, arrive, [&](const TableIdent& ident) {
        return sides.map().contains(shm::TableKey{ident.levels, ident.name});
      });
    case Side::kLmdb: {
      LmdbTable::Reader reads(sides.lmdb());
      return measure(places.idents, begin, lookups, arrive, [&](const TableIdent& ident) {
        return reads.renew_and_get(StackKey(ident).view()) > 0;
      });
    }
    case Side::kHotTable:
      return measure({places.idents[0]}, 0, lookups, arrive, [&](const TableIdent& ident) {
        const auto table = sides.catalog().load_table(ident);
        return table.ok() && *table != nullptr;
      });
  }
  return 0;
}

double measure_threads(Side side, const Sides& sides, const Places& places, std::size_t threads,
                       std::size_t lookups) {
  std::vector<double> costs(threads);
  std::barrier ready(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> running;
  for (std::size_t reader = 0; reader < threads; ++reader) {
    running.emplace_back([&, reader] {
      costs[reader] =
          measure_side(side, sides, places, reader, lookups, [&] { ready.arrive_and_wait(); });
    });
  }
  double sum = 0;
  for (std::size_t reader = 0; reader < threads; ++reader) {
    running[reader].join();
    sum += costs[reader];
  }
  return sum / static_cast<double>(threads);
}

/// Shared by processes, which wait for each other before each side.
struct Page {
  std::atomic<std::size_t> arrived{0};
  double costs[3][kReadersMax] = {};
};

/// The catalog, the map and LMDB, in turn, by processes that each open them.
void measure_processes(Samples& samples, Page& page, const Places& places, std::size_t processes,
                       std::size_t lookups) {
  page.arrived = 0;
  std::vector<pid_t> children;
  for (std::size_t reader = 0; reader < processes; ++reader) {
    children.push_back(::fork());
    require(children.back() >= 0, "fork");
    if (children.back() > 0) continue;
    const Sides sides(places);
    std::size_t awaited = 0;
    for (const Side side : {Side::kCatalog, Side::kMap, Side::kLmdb}) {
      page.costs[static_cast<std::size_t>(side)][reader] =
          measure_side(side, sides, places, reader, lookups, [&] {
            awaited += processes;
            ++page.arrived;
            while (page.arrived < awaited) std::this_thread::yield();
          });
    }
    ::_exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    require(::waitpid(child, &status, 0) == child && status == 0, "a process failed");
  }
  for (const Side side : {Side::kCatalog, Side::kMap, Side::kLmdb}) {
    double sum = 0;
    for (std::size_t reader = 0; reader < processes; ++reader) {
      sum += page.costs[static_cast<std::size_t>(side)][reader];
    }
    samples.add("processes_" + std::to_string(processes) + "/" + name_of(side),
                sum / static_cast<double>(processes));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const SampleCatalog sample(number(argc, argv, "--tables", 10'000));
  const std::size_t readers_max = number(argc, argv, "--readers-max", 8);
  const std::size_t rounds = number(argc, argv, "--rounds", 11);
  const std::size_t lookups = number(argc, argv, "--lookups", 1 << 20);
  require(readers_max <= kReadersMax, "too many readers");
  const ScratchDir scratch(argument(argc, argv, "--dir", "/tmp"));
  Places places{scratch.path() + "/segment", scratch.path() + "/lmdb", sample, {}};
  const auto publisher = publish(places.segment, DocumentSource(sample, scratch.path() + "/files"));
  LmdbTable(places.lmdb, LmdbTable::Durability::kNone).fill(sample);
  for (std::size_t i = 0; i < sample.table_count(); ++i) {
    places.idents.push_back(sample.ident(scramble(i) % sample.table_count()));
  }
  void* const memory =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "mmap");
  Page& page = *new (memory) Page;

  Samples samples;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t readers = 1; readers <= readers_max; readers *= 2) {
      measure_processes(samples, page, places, readers, lookups);
    }
    const Sides sides(places);  // not before a fork: LMDB's environment is of one process
    for (std::size_t readers = 1; readers <= readers_max; readers *= 2) {
      for (const Side side : {Side::kCatalog, Side::kMap, Side::kLmdb, Side::kHotTable}) {
        samples.add("threads_" + std::to_string(readers) + "/" + name_of(side),
                    measure_threads(side, sides, places, readers, lookups));
      }
    }
  }
  samples.print();
  return 0;
}
