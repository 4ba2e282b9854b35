// Makes a data directory for a daemon to start on (C8), or reads one as plain LMDB.
//
//   store_filler fill --data-dir DIR --runtime-dir DIR --tables N
//   store_filler scan --data-dir DIR --tables N --rounds N
#include <cstdio>
#include <cstring>

#include "bench/lmdb_table.h"
#include "bench/measurement.h"
#include "bench/scratch_dir.h"
#include "bench/store_side.h"
#include "daemon/data_dir.h"

int main(int argc, char** argv) {
  using namespace iceblink::bench;
  require(argc > 1, "fill or scan");
  const std::string data_dir = argument(argc, argv, "--data-dir", "");
  const SampleCatalog catalog(number(argc, argv, "--tables", 1'000'000));
  if (std::strcmp(argv[1], "fill") == 0) {
    const ScratchDir runtime(argument(argc, argv, "--runtime-dir", "/dev/shm"));
    StoreSide side(data_dir, runtime.path());
    side.fill(catalog);
    require(side.publisher().stats().table_count == catalog.table_count(), "tables are missing");
    return 0;
  }
  Samples samples;
  for (std::size_t round = 0; round < number(argc, argv, "--rounds", 5); ++round) {
    const std::uint64_t begin = wall_ns();
    require(scan_lmdb(iceblink::daemon::store_dir_of(data_dir), "tables") == catalog.table_count(),
            "tables are missing");
    samples.add("scan", static_cast<double>(wall_ns() - begin));
  }
  samples.print();
  return 0;
}
