// C7: a process opens the catalog and looks one table up; another does the same with LMDB. Each
// sample is a process of its own, so that nothing is mapped or registered already.
//
//   open_bench --segment DIR --lmdb DIR --tables N --rounds N
#include <iceblink/catalog.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "bench/lmdb_table.h"
#include "bench/measurement.h"
#include "bench/private_map.h"
#include "bench/sample_catalog.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

struct Timing {
  std::uint64_t wall = 0;
  std::uint64_t cpu = 0;
};

/// What `work` takes in a child process.
template <typename Work>
Timing in_a_child(Timing* shared, Work work) {
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) {
    const std::uint64_t wall_begin = wall_ns();
    const std::uint64_t cpu_begin = thread_cpu_ns();
    const bool right = work();
    *shared = {wall_ns() - wall_begin, thread_cpu_ns() - cpu_begin};
    std::_Exit(right ? 0 : 1);
  }
  int status = 0;
  require(::waitpid(child, &status, 0) == child && status == 0, "a child found the wrong thing");
  return *shared;
}

}  // namespace

int main(int argc, char** argv) {
  const SampleCatalog sample(number(argc, argv, "--tables", 1'000'000));
  const std::size_t rounds = number(argc, argv, "--rounds", 41);
  const std::string segment = argument(argc, argv, "--segment", "");
  const std::string lmdb_dir = argument(argc, argv, "--lmdb", "");
  void* page =
      ::mmap(nullptr, sizeof(Timing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(page != MAP_FAILED, "mmap");
  auto* shared = new (page) Timing;
  Samples samples;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t index = scramble(round) % sample.table_count();
    const TableIdent ident = sample.ident(index);
    const std::string location = sample.location(index, 0);
    const Timing ours = in_a_child(shared, [&] {
      const auto catalog = Catalog::open(segment);
      if (!catalog.ok()) return false;
      const auto found = catalog->resolve_location(ident);
      return found.ok() && *found == location;
    });
    const Timing theirs = in_a_child(shared, [&] {
      const LmdbTable table(lmdb_dir, LmdbTable::Durability::kNone);
      LmdbTable::Reader reader(table);
      return reader.renew_and_get(StackKey(ident).view()) == location.size();
    });
    samples.add("catalog/wall", static_cast<double>(ours.wall));
    samples.add("catalog/cpu", static_cast<double>(ours.cpu));
    samples.add("lmdb/wall", static_cast<double>(theirs.wall));
    samples.add("lmdb/cpu", static_cast<double>(theirs.cpu));
  }
  samples.print();
  return 0;
}
