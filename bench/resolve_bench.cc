// C3: parsed metadata and handles of tables that are all in the caches, against lookups that answer
// from the segment alone; and one hot table asked for by two threads against one, and by four
// processes against one. Prints thread CPU time and wall time, in ns a lookup, round by round.
//
//   resolve_bench --dir DIR --tables N --rounds N --lookups N
//                 [--only table_exists|find|resolve_metadata|load_table|hot|processes]
//                                                              for profiles: that one alone
#include <iceblink/catalog.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "bench/build_check.h"
#include "bench/measurement.h"
#include "bench/publisher_side.h"
#include "bench/sample_catalog.h"
#include "bench/sample_documents.h"
#include "bench/scratch_dir.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

/// CPU and wall time of each lookup of a block.
struct Cost {
  double cpu_ns = 0;
  double wall_ns = 0;
};

template <typename Lookup>
Cost measure(const std::vector<TableIdent>& idents, std::size_t lookups, Lookup lookup) {
  const std::uint64_t wall_begin = wall_ns();
  const std::uint64_t cpu_begin = thread_cpu_ns();
  std::size_t found = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < lookups; ++i) {
    found += lookup(idents[at]) ? 1 : 0;
    if (++at == idents.size()) at = 0;
  }
  const auto count = static_cast<double>(lookups);
  const Cost cost{static_cast<double>(thread_cpu_ns() - cpu_begin) / count,
                  static_cast<double>(wall_ns() - wall_begin) / count};
  require(found == lookups, "a table was not found");
  return cost;
}

/// What processes measured, and where they wait for each other.
class SharedCosts {
 public:
  explicit SharedCosts(std::size_t processes) : processes_(processes) {
    void* const memory =
        ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(memory != MAP_FAILED && processes <= kProcessesMax, "mmap");
    page_ = new (memory) Page;
  }
  ~SharedCosts() { ::munmap(page_, sizeof(Page)); }
  SharedCosts(const SharedCosts&) = delete;
  SharedCosts& operator=(const SharedCosts&) = delete;

  [[nodiscard]] Cost& cost(std::size_t index) { return page_->costs[index]; }
  void wait_for_all() {
    ++page_->ready;
    while (page_->ready < processes_) std::this_thread::yield();
  }

 private:
  static constexpr std::size_t kProcessesMax = 8;
  struct Page {
    Cost costs[kProcessesMax];
    std::atomic<std::size_t> ready{0};
  };
  const std::size_t processes_;
  Page* page_ = nullptr;
};

void add(Samples& samples, const std::string& name, const Cost& cost) {
  samples.add(name + "/cpu", cost.cpu_ns);
  samples.add(name + "/wall", cost.wall_ns);
}

/// What is asked for.
struct ResolveMetadata {
  static constexpr const char* kName = "resolve_metadata";
  const Catalog& catalog;
  bool operator()(const TableIdent& ident) const {
    const auto metadata = catalog.resolve_metadata(ident);
    return metadata.ok() && *metadata != nullptr;
  }
};
struct LoadTable {
  static constexpr const char* kName = "load_table";
  const Catalog& catalog;
  bool operator()(const TableIdent& ident) const {
    const auto table = catalog.load_table(ident);
    return table.ok() && *table != nullptr;
  }
};

/// The mean cost in `threads` that ask for one table at the same time.
template <typename Ask>
Cost measure_hot(const Ask& ask, const TableIdent& ident, std::size_t lookups,
                 std::size_t threads) {
  std::vector<Cost> costs(threads);
  std::barrier ready(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> running;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      pin_to_cpu(static_cast<int>(thread));
      const std::vector<TableIdent> idents{ident};
      static_cast<void>(measure(idents, 1000, ask));
      ready.arrive_and_wait();
      costs[thread] = measure(idents, lookups, ask);
    });
  }
  Cost mean;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    running[thread].join();
    mean.cpu_ns += costs[thread].cpu_ns / static_cast<double>(threads);
    mean.wall_ns += costs[thread].wall_ns / static_cast<double>(threads);
  }
  return mean;
}

/// The mean cost in `processes`, each with a catalog of its own, that load one table at the same
/// time.
Cost measure_processes(const std::string& runtime_dir, const TableIdent& ident, std::size_t lookups,
                       std::size_t processes) {
  SharedCosts shared(processes);
  std::vector<pid_t> children;
  for (std::size_t index = 0; index < processes; ++index) {
    const pid_t child = ::fork();
    require(child >= 0, "fork");
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    pin_to_cpu(static_cast<int>(index % 2));
    const Catalog catalog = take(Catalog::open(runtime_dir));
    std::thread([] {}).join();
    const LoadTable ask{catalog};
    const std::vector<TableIdent> idents{ident};
    static_cast<void>(measure(idents, 1000, ask));
    shared.wait_for_all();
    shared.cost(index) = measure(idents, lookups, ask);
    ::_exit(0);
  }
  Cost mean;
  for (std::size_t index = 0; index < processes; ++index) {
    int status = 0;
    require(::waitpid(children[index], &status, 0) == children[index] && status == 0,
            "a process failed");
    mean.cpu_ns += shared.cost(index).cpu_ns / static_cast<double>(processes);
    mean.wall_ns += shared.cost(index).wall_ns / static_cast<double>(processes);
  }
  return mean;
}

/// Brings every table into a cache, with this thread's references, and checks what it says.
template <typename MetadataOf>
void warm_up(const SampleCatalog& sample, const MetadataOf& metadata_of) {
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t i = 0; i < sample.table_count(); ++i) {
      const TableIdent ident = sample.ident(i);
      const auto holder = metadata_of(ident);
      const auto number = find_property(holder->properties, "number");
      require(number == std::to_string(i), "another table's metadata");
    }
  }
}
void require_all_kept(const CacheStats& stats, const SampleCatalog& sample) {
  require(stats.load_count == sample.table_count() && stats.eviction_count == 0,
          "a cache does not hold all tables");
}

}  // namespace

int main(int argc, char** argv) {
  const SampleCatalog sample(number(argc, argv, "--tables", 10'000));
  const std::size_t rounds = number(argc, argv, "--rounds", 11);
  const std::size_t lookups = number(argc, argv, "--lookups", 1 << 20);
  const std::string only = argument(argc, argv, "--only", "");
  const ScratchDir scratch(argument(argc, argv, "--dir", "/tmp"));

  const std::string runtime_dir = scratch.path() + "/segment";
  const auto publisher = publish(runtime_dir, DocumentSource(sample, scratch.path() + "/files"));
  std::thread([] {}).join();  // a process of one thread counts references without atomics

  CatalogOptions options;
  options.metadata_cache_bytes_max = std::size_t{1} << 30;
  options.table_cache_bytes_max = std::size_t{1} << 30;
  options.object_cache_bytes_max = 0;  // so that all handles fit
  // Apart, so that each has its memory together, as a process that wants one of them has.
  const Catalog catalog = take(Catalog::open(runtime_dir, options));
  const Catalog handles = take(Catalog::open(runtime_dir, options));
  const Snapshot snapshot = take(catalog.snapshot());
  warm_up(sample, [&](const TableIdent& ident) { return take(catalog.resolve_metadata(ident)); });
  require_all_kept(catalog.stats().metadata_cache, sample);
  warm_up(sample, [&](const TableIdent& ident) {
    const auto table = take(handles.load_table(ident));
    require(table->identifier() == ident, "another table's handle");
    return std::shared_ptr<const TableMetadata>(table, &table->metadata());
  });
  require_all_kept(handles.stats().table_cache, sample);
  std::vector<TableIdent> idents;
  for (std::size_t i = 0; i < sample.table_count(); ++i) {
    idents.push_back(sample.ident(scramble(i) % sample.table_count()));
  }
  Samples samples;
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  for (std::size_t round = 0; round < rounds; ++round) {
    if (wanted("table_exists")) {
      add(samples, "table_exists", measure(idents, lookups, [&](const TableIdent& ident) {
            const auto exists = catalog.table_exists(ident);
            return exists.ok() && *exists;
          }));
    }
    if (wanted("find")) {
      add(samples, "find", measure(idents, lookups, [&](const TableIdent& ident) {
            const auto found = snapshot.find(ident);
            return found.ok() && found->has_value();
          }));
    }
    const ResolveMetadata resolve_metadata{catalog};
    const LoadTable load_table{handles};
    if (wanted(resolve_metadata.kName)) {
      add(samples, resolve_metadata.kName, measure(idents, lookups, resolve_metadata));
    }
    if (wanted(load_table.kName)) {
      add(samples, load_table.kName, measure(idents, lookups, load_table));
    }
    if (wanted("hot")) {
      for (const std::size_t threads : {1U, 2U}) {
        const auto add_hot = [&](const auto& ask) {
          add(samples, std::string(ask.kName) + "_hot_" + std::to_string(threads),
              measure_hot(ask, idents[0], lookups, threads));
        };
        add_hot(resolve_metadata);
        add_hot(load_table);
      }
    }
    if (wanted("processes")) {
      for (const std::size_t processes : {1U, 4U}) {
        add(samples, "load_table_processes_" + std::to_string(processes),
            measure_processes(runtime_dir, idents[0], lookups, processes));
      }
    }
  }
  samples.print();
  return 0;
}
