// Processes that live for one lookup: fork, attach, look one table up, exit; against the same with
// LMDB, and with nothing. Prints the wall time until the parent has collected the child, the
// child's CPU time, both in ns, and its page faults, round by round. Both sides leave in order: a
// reader of LMDB that does not leaves its slot behind, of which there are 126.
//
//   process_bench --segment DIR --lmdb DIR --tables N --rounds N
#include <iceblink/catalog.h>
#include <lmdb.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "bench/measurement.h"
#include "bench/private_map.h"
#include "bench/sample_catalog.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

std::uint64_t ns_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_usec) * 1'000;
}

/// A child that does `work`, from its fork to its end.
template <typename Work>
void run_child(Samples& samples, const std::string& name, Work work) {
  const std::uint64_t begin = wall_ns();
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) ::_exit(work() ? 0 : 1);
  int status = 0;
  struct rusage usage {};
  require(::wait4(child, &status, 0, &usage) == child && status == 0,
          "a child found the wrong thing");
  samples.add(name + "/wall", static_cast<double>(wall_ns() - begin));
  samples.add(name + "/cpu", static_cast<double>(ns_of(usage.ru_utime) + ns_of(usage.ru_stime)));
  samples.add(name + "/faults", static_cast<double>(usage.ru_minflt));
}

bool look_up(const std::string& segment, const TableIdent& ident, const std::string& location) {
  const auto catalog = Catalog::open(segment);
  if (!catalog.ok()) return false;
  const auto found = catalog->resolve_location(ident);
  return found.ok() && *found == location;
}

/// The least that a reader of LMDB has to do.
bool look_up_in_lmdb(const std::string& dir, const TableIdent& ident, const std::string& location) {
  MDB_env* env = nullptr;
  if (mdb_env_create(&env) != MDB_SUCCESS) return false;
  MDB_txn* txn = nullptr;
  MDB_dbi dbi = 0;
  bool found = false;
  if (mdb_env_open(env, dir.c_str(), MDB_RDONLY | MDB_NORDAHEAD, 0600) == MDB_SUCCESS &&
      mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn) == MDB_SUCCESS) {
    const StackKey key(ident);
    MDB_val key_value{key.view().size(), const_cast<char*>(key.view().data())};
    MDB_val value{};
    found = mdb_dbi_open(txn, nullptr, 0, &dbi) == MDB_SUCCESS &&
            mdb_get(txn, dbi, &key_value, &value) == MDB_SUCCESS &&
            std::string_view(static_cast<const char*>(value.mv_data), value.mv_size) == location;
    mdb_txn_abort(txn);
  }
  mdb_env_close(env);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const SampleCatalog sample(number(argc, argv, "--tables", 10'000));
  const std::size_t rounds = number(argc, argv, "--rounds", 201);
  const std::string segment = argument(argc, argv, "--segment", "");
  const std::string lmdb_dir = argument(argc, argv, "--lmdb", "");
  // The parent has done both once, as a server has that forks for each of its clients.
  require(look_up(segment, sample.ident(0), sample.location(0, 0)) &&
              look_up_in_lmdb(lmdb_dir, sample.ident(0), sample.location(0, 0)),
          "the parent found the wrong thing");
  Samples samples;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t index = scramble(round) % sample.table_count();
    const TableIdent ident = sample.ident(index);
    const std::string location = sample.location(index, 0);
    run_child(samples, "catalog", [&] { return look_up(segment, ident, location); });
    run_child(samples, "lmdb", [&] { return look_up_in_lmdb(lmdb_dir, ident, location); });
    run_child(samples, "nothing", [] { return true; });
  }
  samples.print();
  return 0;
}
