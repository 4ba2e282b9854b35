#include "bench/demo/roles.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace iceblink::demo {
namespace {

using Clock = std::chrono::steady_clock;

class Reader {
 public:
  Reader(Catalog catalog, const DemoTables& demo, const Stage& stage, ReaderAccount& account)
      : catalog_(std::move(catalog)), demo_(demo), stage_(stage), account_(account) {}

  void run() {
    for (std::uint64_t i = 0; !stage_.stop.load(std::memory_order_relaxed); ++i) {
      look_up(demo_.tables[i % demo_.tables.size()]);
      if (i % 256 == 0) look_at_generation();
    }
  }

 private:
  void look_up(const DemoTable& table) {
    const auto start = Clock::now();
    const auto location = catalog_.resolve_location(table.ident);
    account_.latency.record(ns_since(start));
    if (!location) {
      fail(location.error().message());
    } else if (std::find(table.versions.begin(), table.versions.end(), *location) ==
               table.versions.end()) {
      fail(table.ident.name + " at " + *location);
    }
    if (stage_.daemon_is_dead.load(std::memory_order_relaxed)) ++account_.lookups_while_dead;
  }

  void look_at_generation() {
    const std::uint64_t acknowledged = stage_.acknowledged.load(std::memory_order_acquire);
    const auto generation = catalog_.generation();
    if (!generation) return fail(generation.error().message());
    if (*generation < acknowledged) fail("an acknowledged commit is not visible");
    if (*generation < last_generation_) fail("the catalog went back");
    if (*generation > last_generation_) ++account_.generations_seen;
    last_generation_ = *generation;
  }

  void fail(const std::string& what) {
    if (account_.wrong_count++ == 0) {
      std::strncpy(account_.first_wrong, what.c_str(), sizeof(account_.first_wrong) - 1);
    }
  }

  Catalog catalog_;
  const DemoTables& demo_;
  const Stage& stage_;
  ReaderAccount& account_;
  std::uint64_t last_generation_ = 0;
};

void commit_on(Catalog& catalog, const DemoTables& demo, Stage& stage, CommitterAccount& account,
               std::size_t number, std::size_t count) {
  RegisterOptions overwrite;
  overwrite.if_exists = RegisterOptions::IfExists::kOverwrite;
  for (std::size_t i = number; !stage.stop.load(std::memory_order_relaxed); i += count) {
    const DemoTable& table = demo.tables[i % demo.tables.size()];
    const std::string& version = table.versions[i / demo.tables.size() % table.versions.size()];
    const auto start = Clock::now();
    const auto done = catalog.register_table(table.ident, version, overwrite);
    if (!done) {
      ++account.refused;
      ::usleep(1000);  // no daemon: try again in a moment
      continue;
    }
    account.latency.record(ns_since(start));
    ++account.commits;
    std::uint64_t known = stage.acknowledged.load(std::memory_order_relaxed);
    while (known < *done &&
           !stage.acknowledged.compare_exchange_weak(known, *done, std::memory_order_acq_rel)) {
    }
  }
}

template <typename Role>
pid_t start(const std::string& runtime_dir, const Role& role) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto catalog = Catalog::open(runtime_dir);
  if (!catalog) ::_exit(1);
  role(std::move(*catalog));
  ::_exit(0);
}

}  // namespace

void* shared_memory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return memory;
}

pid_t start_reader(const std::string& runtime_dir, const DemoTables& demo, const Stage& stage,
                   ReaderAccount& account) {
  return start(runtime_dir,
               [&](Catalog catalog) { Reader(std::move(catalog), demo, stage, account).run(); });
}

pid_t start_committer(const std::string& runtime_dir, const DemoTables& demo, Stage& stage,
                      CommitterAccount& account, std::size_t number, std::size_t count) {
  return start(runtime_dir,
               [&](Catalog catalog) { commit_on(catalog, demo, stage, account, number, count); });
}

}  // namespace iceblink::demo
