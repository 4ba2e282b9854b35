// A table loaded from end to end: by a catalog that is opened for it, and by one that has it.
// Prints wall time, in ns, round by round.
//
//   load_bench --make FILE                                      a metadata file, 25 snapshots
//   load_bench --segment DIR --table NAMESPACE.NAME --rounds N
#include <iceblink/catalog.h>

#include <fstream>
#include <string>

#include "bench/measurement.h"
#include "bench/sample_metadata.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

constexpr std::size_t kSnapshots = 25;
constexpr std::size_t kWarmLoads = 10'000;

void make(const std::string& file) {
  SampleMetadataShape shape;
  shape.snapshot_count = kSnapshots;
  shape.location = "file://" + file.substr(0, file.rfind('/'));
  std::ofstream(file, std::ios::binary) << sample_metadata(shape);
}

void require_right(const Result<std::shared_ptr<const Table>>& table) {
  require_ok(table);
  require(take((*table)->metadata().snapshots()).size() == kSnapshots, "another table");
}

}  // namespace

int main(int argc, char** argv) {
  if (const std::string file = argument(argc, argv, "--make", ""); !file.empty()) {
    make(file);
    return 0;
  }
  const std::string segment = argument(argc, argv, "--segment", "");
  const TableIdent ident = take(parse_table(argument(argc, argv, "--table", "")));
  const std::size_t rounds = number(argc, argv, "--rounds", 11);
  Samples samples;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::uint64_t begin = wall_ns();
    const Catalog catalog = take(Catalog::open(segment));
    require_right(catalog.load_table(ident));
    samples.add("cold", static_cast<double>(wall_ns() - begin));
    require_right(catalog.load_table(ident));  // which this thread keeps from now on
    const std::uint64_t warm_begin = wall_ns();
    for (std::size_t i = 0; i < kWarmLoads; ++i) require_ok(catalog.load_table(ident));
    samples.add("warm", static_cast<double>(wall_ns() - warm_begin) / kWarmLoads);
  }
  samples.print();
  return 0;
}
