// C1, C2 and C13: lookups inside a process, against a private map and against LMDB. Prints the
// thread CPU time and the wall time of each, in ns per lookup (per listing), round by round.
//
//   lookup_bench --segment DIR --lmdb DIR --tables N --rounds N --lookups N
//                [--listings N [--beside SEGMENT --beside-tables N]] [--one-map 1]
//
// With --one-map the private map has one form, which is looked up part by part, and no keys are
// prepared.
#include <benchmark/benchmark.h>
#include <iceblink/catalog.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "bench/build_check.h"
#include "bench/lmdb_table.h"
#include "bench/measurement.h"
#include "bench/private_map.h"
#include "bench/sample_catalog.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

/// Lookups of one benchmark iteration. Their answers are added up and compared at its end.
constexpr std::size_t kBlock = 1024;
constexpr std::size_t kListingBlock = 8;
constexpr const char* kItems = "items";

/// What a block of lookups found.
struct Sum {
  std::size_t found = 0;
  std::size_t location_bytes = 0;
  friend bool operator==(const Sum&, const Sum&) = default;
};

/// A sequence of questions in blocks, with the right sums.
class Workload {
 public:
  Workload(const SampleCatalog& catalog, std::size_t count) {
    questions_ = make_questions(catalog, count, 1);
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
      Sum sum;
      for (std::size_t i = begin; i < begin + kBlock; ++i) {
        sum.found += questions_.location_bytes[i] > 0 ? 1 : 0;
        sum.location_bytes += questions_.location_bytes[i];
      }
      sums_.push_back(sum);
    }
  }
  [[nodiscard]] std::size_t block_count() const noexcept { return sums_.size(); }
  [[nodiscard]] std::span<const TableIdent> block(std::size_t index) const noexcept {
    return {questions_.idents.data() + index * kBlock, kBlock};
  }
  [[nodiscard]] const Sum& sum(std::size_t index) const noexcept { return sums_[index]; }
  [[nodiscard]] const std::vector<TableIdent>& idents() const noexcept { return questions_.idents; }

 private:
  Questions questions_;
  std::vector<Sum> sums_;
};

enum class Checks : std::uint8_t { kFoundAndBytes, kFound };

/// Registers `answer(idents) -> Sum` as a benchmark over the workload.
template <typename Answer>
void register_lookup(const char* name, const Workload& workload, std::size_t blocks, Checks checks,
                     Answer answer) {
  benchmark::RegisterBenchmark(name, [&workload, checks, answer](benchmark::State& state) mutable {
    std::size_t at = 0;
    for (auto _ : state) {
      const Sum sum = answer(workload.block(at));
      const Sum& expected = workload.sum(at);
      const bool right =
          checks == Checks::kFoundAndBytes ? sum == expected : sum.found == expected.found;
      if (!right) {
        state.SkipWithError("wrong answers");
        break;
      }
      at = at + 1 < workload.block_count() ? at + 1 : 0;
    }
    state.counters[kItems] = kBlock;
  })->Iterations(static_cast<benchmark::IterationCount>(blocks));
}

/// Everything that is looked up in.
struct Sides {
  Catalog catalog;
  Snapshot snapshot;
  MapByParts by_parts;
  MapByBytes by_bytes;
  std::unique_ptr<LmdbTable> lmdb;
  std::unique_ptr<LmdbTable::Reader> reader;
};

enum class Maps : std::uint8_t { kBoth, kByParts };

Sides open_sides(const std::string& segment, const std::string& lmdb_dir,
                 const SampleCatalog& sample, Maps maps) {
  Catalog catalog = take(Catalog::open(segment));
  Snapshot snapshot = take(catalog.snapshot());
  Sides sides{std::move(catalog), std::move(snapshot), {}, {}, {}, {}};
  for (std::size_t i = 0; i < sample.table_count(); ++i) {
    const std::string key = encode(sample.ident(i));
    sides.by_parts.emplace(key, sample.location(i, 0));
    if (maps == Maps::kBoth) sides.by_bytes.emplace(key, sample.location(i, 0));
  }
  sides.lmdb = std::make_unique<LmdbTable>(lmdb_dir, LmdbTable::Durability::kNone);
  sides.reader = std::make_unique<LmdbTable::Reader>(*sides.lmdb);
  return sides;
}

void register_maps(const Workload& workload, std::size_t blocks, Sides& sides) {
  register_lookup("map_by_parts", workload, blocks, Checks::kFoundAndBytes,
                  [&map = sides.by_parts](std::span<const TableIdent> idents) {
                    Sum sum;
                    for (const auto& ident : idents) {
                      const auto at = map.find(shm::TableKey{ident.levels, ident.name});
                      if (at == map.end()) continue;
                      ++sum.found;
                      sum.location_bytes += at->second.size();
                    }
                    return sum;
                  });
  if (sides.by_bytes.empty()) return;
  register_lookup("map_by_bytes", workload, blocks, Checks::kFoundAndBytes,
                  [&map = sides.by_bytes](std::span<const TableIdent> idents) {
                    Sum sum;
                    for (const auto& ident : idents) {
                      const auto at = map.find(StackKey(ident).view());
                      if (at == map.end()) continue;
                      ++sum.found;
                      sum.location_bytes += at->second.size();
                    }
                    return sum;
                  });
}

void register_catalog(const Workload& workload, std::size_t blocks, Sides& sides) {
  register_lookup("table_exists", workload, blocks, Checks::kFound,
                  [&catalog = sides.catalog](std::span<const TableIdent> idents) {
                    Sum sum;
                    for (const auto& ident : idents) {
                      const auto exists = catalog.table_exists(ident);
                      if (exists.ok() && *exists) ++sum.found;
                    }
                    return sum;
                  });
  register_lookup("find", workload, blocks, Checks::kFoundAndBytes,
                  [&snapshot = sides.snapshot](std::span<const TableIdent> idents) {
                    Sum sum;
                    for (const auto& ident : idents) {
                      const auto found = snapshot.find(ident);
                      if (!found.ok() || !*found) continue;
                      ++sum.found;
                      sum.location_bytes += (*found)->metadata_location().size();
                    }
                    return sum;
                  });
  register_lookup("resolve_location", workload, blocks, Checks::kFoundAndBytes,
                  [&catalog = sides.catalog](std::span<const TableIdent> idents) {
                    Sum sum;
                    for (const auto& ident : idents) {
                      const auto location = catalog.resolve_location(ident);
                      if (!location.ok()) continue;
                      ++sum.found;
                      sum.location_bytes += location->size();
                    }
                    return sum;
                  });
}

/// Names whose keys were made before, on both sides.
void register_prepared(const Workload& workload, std::size_t blocks, Sides& sides) {
  std::vector<PreparedKey> made;
  made.reserve(workload.idents().size());
  for (const auto& ident : workload.idents()) made.push_back(take(sides.catalog.prepare(ident)));
  const auto keys = std::make_shared<const std::vector<PreparedKey>>(std::move(made));
  const auto keys_of = [keys, &workload](std::span<const TableIdent> idents) {
    const auto first = static_cast<std::size_t>(idents.data() - workload.idents().data());
    return std::span(*keys).subspan(first, idents.size());
  };
  register_lookup("table_exists_prepared", workload, blocks, Checks::kFound,
                  [&catalog = sides.catalog, keys_of](std::span<const TableIdent> idents) {
                    Sum sum;
                    for (const PreparedKey& key : keys_of(idents)) {
                      const auto exists = catalog.table_exists(key);
                      if (exists.ok() && *exists) ++sum.found;
                    }
                    return sum;
                  });
  register_lookup("lmdb_prepared", workload, std::max<std::size_t>(1, blocks / 4),
                  Checks::kFoundAndBytes,
                  [&reader = *sides.reader, keys_of](std::span<const TableIdent> idents) {
                    Sum sum;
                    for (const PreparedKey& key : keys_of(idents)) {
                      const std::size_t bytes = reader.renew_and_get(key.encoded());
                      sum.found += bytes > 0 ? 1 : 0;
                      sum.location_bytes += bytes;
                    }
                    return sum;
                  });
}

void register_many(const Workload& workload, std::size_t blocks, Sides& sides) {
  register_lookup(
      "find_many", workload, blocks, Checks::kFoundAndBytes,
      [&snapshot = sides.snapshot, found = std::vector<std::optional<TableView>>(kBlock)](
          std::span<const TableIdent> idents) mutable {
        Sum sum;
        if (!snapshot.find_many(idents, found).ok()) return sum;
        for (const auto& view : found) {
          if (!view) continue;
          ++sum.found;
          sum.location_bytes += view->metadata_location().size();
        }
        return sum;
      });
  register_lookup("tables_exist", workload, blocks, Checks::kFound,
                  [&catalog = sides.catalog](std::span<const TableIdent> idents) {
                    std::array<bool, kBlock> exist;
                    Sum sum;
                    if (!catalog.tables_exist(idents, exist).ok()) return sum;
                    sum.found =
                        static_cast<std::size_t>(std::count(exist.begin(), exist.end(), true));
                    return sum;
                  });
}

void register_lmdb(const Workload& workload, std::size_t blocks, Sides& sides) {
  register_lookup("lmdb", workload, blocks, Checks::kFoundAndBytes,
                  [&reader = *sides.reader](std::span<const TableIdent> idents) {
                    Sum sum;
                    for (const auto& ident : idents) {
                      const std::size_t bytes = reader.renew_and_get(StackKey(ident).view());
                      sum.found += bytes > 0 ? 1 : 0;
                      sum.location_bytes += bytes;
                    }
                    return sum;
                  });
}

/// Lists `namespaces` in turn.
void register_listing(const char* name, const Catalog& catalog, std::vector<Namespace> namespaces,
                      std::size_t listings) {
  benchmark::RegisterBenchmark(
      name,
      [&catalog, namespaces = std::move(namespaces)](benchmark::State& state) {
        std::size_t at = 0;
        for (auto _ : state) {
          std::size_t names = 0;
          for (std::size_t i = 0; i < kListingBlock; ++i) {
            const auto tables = catalog.list_tables(namespaces[at]);
            if (tables.ok()) names += tables->size();
            at = at + 1 < namespaces.size() ? at + 1 : 0;
          }
          if (names != kListingBlock * kTablesPerNamespace) {
            state.SkipWithError("a listing is not complete");
            break;
          }
        }
        state.counters[kItems] = kListingBlock;
      })
      ->Iterations(static_cast<benchmark::IterationCount>(
          std::max<std::size_t>(1, listings / kListingBlock)));
}

void register_listings(const std::string& prefix, const SampleCatalog& sample,
                       const Catalog& catalog, std::size_t listings) {
  std::vector<Namespace> random;
  for (std::size_t i = 0; i < listings; ++i) {
    random.push_back(sample.levels(scramble(i) % sample.namespace_count()));
  }
  register_listing((prefix + "list_random").c_str(), catalog, std::move(random), listings);
  register_listing((prefix + "list_one").c_str(), catalog,
                   {sample.levels(sample.namespace_count() / 2)}, listings);
}

/// Takes the figures of one round.
class RoundReporter : public benchmark::BenchmarkReporter {
 public:
  explicit RoundReporter(Samples& samples) : samples_(samples) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const std::string name = run.run_name.function_name;
      if (run.error_occurred) fail(name + ": " + run.error_message);
      const double items = static_cast<double>(run.iterations) * run.counters.at(kItems).value;
      samples_.add(name + "/cpu", run.cpu_accumulated_time * 1e9 / items);
      samples_.add(name + "/wall", run.real_accumulated_time * 1e9 / items);
    }
  }

 private:
  Samples& samples_;
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);  // for --benchmark_filter
  const SampleCatalog sample(number(argc, argv, "--tables", 10'000));
  const std::size_t lookups = number(argc, argv, "--lookups", 1 << 20) / kBlock * kBlock;
  const std::size_t rounds = number(argc, argv, "--rounds", 11);
  const std::size_t listings = number(argc, argv, "--listings", 0);
  const Maps maps = number(argc, argv, "--one-map", 0) == 0 ? Maps::kBoth : Maps::kByParts;
  // As many questions as tables: a process asks for what there is. Or as many as are asked.
  const std::size_t questions =
      (std::min(sample.table_count(), lookups) + kBlock - 1) / kBlock * kBlock;

  Sides sides = open_sides(argument(argc, argv, "--segment", ""),
                           argument(argc, argv, "--lmdb", ""), sample, maps);
  const Workload workload(sample, questions);
  const std::size_t blocks = lookups / kBlock;
  register_catalog(workload, blocks, sides);
  register_maps(workload, blocks, sides);
  register_many(workload, blocks, sides);
  register_lmdb(workload, std::max<std::size_t>(1, blocks / 4), sides);
  if (maps == Maps::kBoth) register_prepared(workload, blocks, sides);
  if (listings > 0) register_listings("", sample, sides.catalog, listings);
  std::optional<Catalog> beside;
  if (const std::string dir = argument(argc, argv, "--beside", ""); !dir.empty()) {
    beside.emplace(take(Catalog::open(dir)));
    const SampleCatalog small(number(argc, argv, "--beside-tables", 1'000));
    register_listings("beside/", small, *beside, listings);
  }

  Samples samples;
  RoundReporter reporter(samples);
  for (std::size_t round = 0; round < rounds; ++round) {
    benchmark::RunSpecifiedBenchmarks(&reporter);
  }
  samples.print();
  return 0;
}
