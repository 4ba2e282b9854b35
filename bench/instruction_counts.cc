// What calls cost in instructions, for callgrind: each call is made in windows of kWindow, and the
// counts of each window are dumped under the call's name. counts_test.py runs it and compares.
//
//   valgrind --tool=callgrind --collect-atstart=yes instruction_counts --dir DIR
#include <iceblink/catalog.h>
#include <valgrind/callgrind.h>

#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "bench/measurement.h"
#include "bench/private_map.h"
#include "bench/publisher_side.h"
#include "bench/sample_catalog.h"
#include "bench/sample_documents.h"
#include "bench/scratch_dir.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

constexpr std::size_t kTables = 1000;
constexpr std::size_t kWindow = 50;
constexpr std::size_t kWindows = 12;  // the cheapest counts: others also check the place

/// `call(i)` says whether it was answered rightly.
template <typename Call>
void count(const char* name, Call call) {
  std::size_t index = 0;
  std::size_t right = 0;
  for (std::size_t window = 0; window < kWindows; ++window) {
    CALLGRIND_ZERO_STATS;
    for (std::size_t i = 0; i < kWindow; ++i) right += call(index++) ? 1 : 0;
    CALLGRIND_DUMP_STATS_AT(name);
  }
  require(right == kWindow * kWindows, name);
}

template <typename Ask>
void warm_up(const std::vector<TableIdent>& idents, const Ask& ask) {
  for (int turn = 0; turn < 2; ++turn) {
    for (const auto& ident : idents) require(ask(ident), "a table was not found");
  }
}

void count_lookups(const Catalog& catalog, const SampleCatalog& sample,
                   const std::vector<TableIdent>& idents) {
  const Snapshot snapshot = take(catalog.snapshot());
  std::vector<TableIdent> absent;
  std::vector<PreparedKey> keys;
  for (std::size_t i = 0; i < kWindow * kWindows; ++i) {
    absent.push_back(sample.absent_ident(i % kTables));
    keys.push_back(take(catalog.prepare(idents[i])));
  }
  count("table_exists", [&](std::size_t i) { return *catalog.table_exists(idents[i]); });
  count("table_exists, absent", [&](std::size_t i) { return !*catalog.table_exists(absent[i]); });
  count("table_exists, prepared", [&](std::size_t i) { return *catalog.table_exists(keys[i]); });
  count("Snapshot::find", [&](std::size_t i) { return snapshot.find(idents[i])->has_value(); });
  count("resolve_location",
        [&](std::size_t i) { return catalog.resolve_location(idents[i]).ok(); });
  MapByParts map;
  for (std::size_t i = 0; i < kTables; ++i) map.emplace(encode(sample.ident(i)), "");
  count("a private map", [&](std::size_t i) {
    return map.find(shm::TableKey{idents[i].levels, idents[i].name}) != map.end();
  });
  std::vector<std::optional<TableView>> found(kWindow);
  count("Snapshot::find_many, 50 names", [&](std::size_t i) {
    const std::size_t begin = i % kWindows * kWindow;
    return snapshot.find_many({idents.data() + begin, kWindow}, found).ok() && found[0].has_value();
  });
  count("list_tables, 100 names", [&](std::size_t i) {
    return catalog.list_tables(sample.levels(i % sample.namespace_count()))->size() ==
           kTablesPerNamespace;
  });
}

void count_loads(const Catalog& catalog, const std::vector<TableIdent>& idents) {
  warm_up(idents, [&](const TableIdent& ident) { return catalog.resolve_metadata(ident).ok(); });
  count("resolve_metadata",
        [&](std::size_t i) { return *catalog.resolve_metadata(idents[i]) != nullptr; });
  warm_up(idents, [&](const TableIdent& ident) { return catalog.load_table(ident).ok(); });
  count("load_table", [&](std::size_t i) { return *catalog.load_table(idents[i]) != nullptr; });
}

void count_publishes(const std::string& runtime_dir, const SampleCatalog& sample) {
  PublisherSide side(runtime_dir, sample);
  const auto moves = side.prepare(kWindow * kWindows, 1, kTables);
  count("publish", [&](std::size_t i) { return side.commit(moves[i]) == i + 2; });
}

}  // namespace

int main(int argc, char** argv) {
  if (RUNNING_ON_VALGRIND == 0) fail("runs under valgrind --tool=callgrind alone");
  const SampleCatalog sample(kTables);
  const ScratchDir scratch(argument(argc, argv, "--dir", "/tmp"));
  const std::string runtime_dir = scratch.path() + "/segment";
  const auto publisher = publish(runtime_dir, DocumentSource(sample, scratch.path() + "/files"));
  std::thread([] {}).join();  // a process of one thread counts references without atomics
  CatalogOptions options;
  options.ask_daemon = AskDaemon::kNever;
  options.table_cache_bytes_max = std::size_t{1} << 30;
  options.object_cache_bytes_max = 0;  // so that all handles fit
  const Catalog catalog = take(Catalog::open(runtime_dir, options));
  std::vector<TableIdent> idents;
  for (std::size_t i = 0; i < kTables; ++i) idents.push_back(sample.ident(scramble(i) % kTables));
  warm_up(idents, [&](const TableIdent& ident) { return *catalog.table_exists(ident); });
  count_lookups(catalog, sample, idents);
  count_loads(catalog, idents);
  count_publishes(scratch.path() + "/published", sample);
  std::printf("%zu\n", kWindow);
  return 0;
}
