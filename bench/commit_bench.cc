// C6a: durable pointer moves a second by many writers, each waiting for its answer, against LMDB
// with one put a transaction, on the same disk.
//
//   commit_bench --data-dir DIR --runtime-dir DIR --writers N --rounds N --seconds-ms N
#include <atomic>
#include <thread>

#include "bench/lmdb_table.h"
#include "bench/measurement.h"
#include "bench/scratch_dir.h"
#include "bench/store_side.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

constexpr std::size_t kTables = 10'000;

double per_second(std::size_t count, std::uint64_t begin_ns) {
  return static_cast<double>(count) * 1e9 / static_cast<double>(wall_ns() - begin_ns);
}

/// Writers that each move a table of their own, by compare-and-swap.
class Writers {
 public:
  Writers(StoreSide& side, const SampleCatalog& catalog, std::size_t count)
      : side_(side), catalog_(catalog), versions_(count, 0) {}

  /// Commits a second.
  double run_for(std::uint64_t duration_ns) {
    std::atomic<std::size_t> commits = 0;
    const std::uint64_t begin = wall_ns();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      threads.emplace_back([&, i] {
        std::size_t done = 0;
        for (; wall_ns() - begin < duration_ns; ++done) move_table(i);
        commits.fetch_add(done, std::memory_order_relaxed);
      });
    }
    for (auto& thread : threads) thread.join();
    return per_second(commits.load(std::memory_order_relaxed), begin);
  }

  void check() const {
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      require(side_.location_of(catalog_.ident(i)) == catalog_.location(i, versions_[i]),
              "a commit that was answered is not in the store");
    }
  }

 private:
  void move_table(std::size_t index) {
    daemon::Register move;
    move.ident = catalog_.ident(index);
    move.expect = catalog_.location(index, versions_[index]);
    move.row.location = catalog_.location(index, ++versions_[index]);
    move.row.format_version = 2;
    const std::uint64_t generation = side_.commit({std::move(move)});
    require(side_.publisher().published_generation() >= generation,
            "an answer overtook its publish");
  }

  StoreSide& side_;
  const SampleCatalog catalog_;
  std::vector<std::size_t> versions_;  // each written by its own thread
};

double put_one_by_one(LmdbTable& table, const SampleCatalog& catalog, std::uint64_t duration_ns,
                      std::size_t& version) {
  std::size_t done = 0;
  const std::uint64_t begin = wall_ns();
  for (; wall_ns() - begin < duration_ns; ++done) {
    const std::size_t index = scramble(++version) % catalog.table_count();
    table.put(encode(catalog.ident(index)), catalog.location(index, version));
  }
  return per_second(done, begin);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rounds = number(argc, argv, "--rounds", 5);
  const std::uint64_t duration_ns = number(argc, argv, "--milliseconds", 2000) * 1'000'000;
  const ScratchDir data(argument(argc, argv, "--data-dir", "."));
  const ScratchDir runtime(argument(argc, argv, "--runtime-dir", "/dev/shm"));
  const SampleCatalog catalog(kTables);
  StoreSide side(data.path() + "/store", runtime.path());
  side.fill(catalog);
  LmdbTable lmdb(data.path() + "/lmdb", LmdbTable::Durability::kDurable);
  lmdb.fill(catalog);

  Writers writers(side, catalog, number(argc, argv, "--writers", 64));
  Samples samples;
  std::size_t version = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    samples.add("committer", writers.run_for(duration_ns));
    samples.add("lmdb", put_one_by_one(lmdb, catalog, duration_ns, version));
  }
  writers.check();
  samples.print();
  return 0;
}
