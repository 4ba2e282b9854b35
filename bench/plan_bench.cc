// A table's files from nothing: load_table and plan_files with every cache switched off, so that
// metadata, manifest list and manifests are read and parsed each time (from the page cache); the
// same with all that is kept. Prints CPU time of the process and wall time, in ns a plan, round by
// round, and how many files were planned.
//
//   plan_bench --metadata FILE --rounds N [--location-prefix FROM=TO]
//   plan_bench --make DIR --manifests N --files N     writes a sample table, prints its metadata
//   file
#include <iceblink/catalog.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/build_check.h"
#include "bench/measurement.h"
#include "bench/publisher_side.h"
#include "bench/sample_manifests.h"
#include "bench/scratch_dir.h"
#include "iceberg/location_map.h"
#include "shm/change.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

const TableIdent kTable{{"a"}, "t"};

/// One table, registered unverified.
class OneTable : public shm::CatalogSource {
 public:
  explicit OneTable(std::string location) : location_(std::move(location)) {}
  [[nodiscard]] std::uint64_t generation() const override { return 1; }
  [[nodiscard]] Status for_each(
      const std::function<Status(const shm::Change&)>& visit) const override {
    const std::string space = encode(kTable.levels);
    shm::Change change{};
    change.kind = shm::RecordKind::kNamespace;
    change.key = space;
    ICEBLINK_RETURN_IF_ERROR(visit(change));
    const std::string table = encode(kTable);
    change.kind = shm::RecordKind::kTable;
    change.key = table;
    change.location = location_;
    return visit(change);
  }

 private:
  std::string location_;
};

std::size_t plan(const Catalog& catalog) {
  const auto table = take(catalog.load_table(kTable));
  return take(table->plan_files()).tasks().size();
}

void measure(Samples& samples, const std::string& name, const Catalog& catalog,
             std::size_t expected) {
  const std::uint64_t wall_begin = wall_ns();
  const std::uint64_t cpu_begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const std::size_t files = plan(catalog);
  samples.add(name + "/cpu", static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin));
  samples.add(name + "/wall", static_cast<double>(wall_ns() - wall_begin));
  require(files == expected, "another number of files");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argument(argc, argv, "--make", "");
  if (!directory.empty()) {
    SampleManifestsShape shape;
    shape.manifest_count = number(argc, argv, "--manifests", shape.manifest_count);
    shape.files_per_manifest = number(argc, argv, "--files", shape.files_per_manifest);
    std::puts(write_sample_table(directory, shape).c_str());
    return 0;
  }
  const std::size_t rounds = number(argc, argv, "--rounds", 11);
  const ScratchDir scratch(argument(argc, argv, "--dir", "/tmp"));
  const std::string runtime_dir = scratch.path() + "/segment";
  const auto publisher = publish(runtime_dir, OneTable(argument(argc, argv, "--metadata", "")));

  CatalogOptions options;
  const std::string prefix = argument(argc, argv, "--location-prefix", "");
  if (!prefix.empty()) {
    options.files.location_prefixes.push_back(take(iceberg::parse_location_prefix(prefix)));
  }
  // Room for all of it, however large: what is compared is kept and not kept.
  options.object_cache_bytes_max = std::size_t{256} << 20;
  options.table_cache_bytes_max = std::size_t{1} << 30;
  const Catalog keeping = take(Catalog::open(runtime_dir, options));
  options.metadata_cache_bytes_max = options.table_cache_bytes_max = 0;
  options.object_cache_bytes_max = 0;
  const Catalog reading = take(Catalog::open(runtime_dir, options));
  const std::size_t expected = plan(reading);
  require(plan(keeping) == expected, "another number of files");
  Samples samples;
  for (std::size_t round = 0; round < rounds; ++round) {
    measure(samples, "cold", reading, expected);
    measure(samples, "warm", keeping, expected);
  }
  samples.add("files", static_cast<double>(expected));
  samples.print();
  return 0;
}
