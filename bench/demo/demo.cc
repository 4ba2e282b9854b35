// The whole system at work: readers that look up without pause, committers, a daemon that is
// killed and started again; then what each of them saw, beside the same lookups done otherwise.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>

#include "bench/demo/catalog_tables.h"
#include "bench/demo/latency.h"
#include "bench/demo/peers.h"
#include "bench/demo/roles.h"
#include "stress/daemon_process.h"

namespace iceblink::demo {
namespace {

using stress::DaemonProcess;

constexpr std::size_t kReaders = 4;
constexpr std::size_t kCommitters = 2;
constexpr unsigned kUndisturbedMs = 3000;
constexpr unsigned kDeadMs = 1000;
constexpr unsigned kAfterRestartMs = 3000;
constexpr std::chrono::milliseconds kPeerTime{1500};

/// Everything the demonstration leaves on disk, gone at its end.
class Scratch {
 public:
  Scratch() {
    runtime_ = make(std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp");
    data_ = make("/tmp");
  }
  ~Scratch() {
    std::filesystem::remove_all(runtime_);
    std::filesystem::remove_all(data_);
  }
  [[nodiscard]] const std::string& runtime_dir() const { return runtime_; }
  [[nodiscard]] std::string data_dir() const { return data_ + "/store"; }
  [[nodiscard]] std::string scratch_dir() const { return data_; }

 private:
  static std::string make(const char* parent) {
    std::string path = std::string(parent) + "/iceblink-demo-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) std::abort();
    return path;
  }
  std::string runtime_;
  std::string data_;
};

struct Show {
  Stage stage;
  std::array<ReaderAccount, kReaders> readers;
  std::array<CommitterAccount, kCommitters> committers;
};

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void row(const char* who, const Latency& latency, const std::string& rest) {
  std::printf("  %-24s %14s %9s %9s %9s  %s\n", who, human_count(latency.count()).c_str(),
              human_time(latency.quantile_ns(0.5)).c_str(),
              human_time(latency.quantile_ns(0.99)).c_str(), human_time(latency.max_ns()).c_str(),
              rest.c_str());
}

stress::DaemonOptions daemon_options(const Scratch& scratch) {
  return {.arguments = {"--runtime-dir", scratch.runtime_dir(), "--data-dir", scratch.data_dir(),
                        "--log-level", "error"}};
}

Status perform(DaemonProcess& daemon, const Scratch& scratch, const DemoTables& demo, Show& show) {
  std::vector<pid_t> children;
  for (auto& account : show.readers) {
    children.push_back(start_reader(scratch.runtime_dir(), demo, show.stage, account));
  }
  for (std::size_t i = 0; i < kCommitters; ++i) {
    children.push_back(start_committer(scratch.runtime_dir(), demo, show.stage, show.committers[i],
                                       i, kCommitters));
  }
  say("* " + std::to_string(kReaders) + " reader processes look up without pause, " +
      std::to_string(kCommitters) + " more commit pointer moves");
  ::usleep(kUndisturbedMs * 1000);
  daemon.kill();
  show.stage.daemon_is_dead.store(true, std::memory_order_relaxed);
  say("* the daemon was killed (SIGKILL)");
  ::usleep(kDeadMs * 1000);
  show.stage.daemon_is_dead.store(false, std::memory_order_relaxed);
  Status restarted = daemon.start(daemon_options(scratch));
  if (restarted) {
    say("* the daemon is back; nobody was told");
    ::usleep(kAfterRestartMs * 1000);
  }
  show.stage.stop.store(true, std::memory_order_relaxed);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0 && restarted) restarted = Status{ErrorKind::kInternal, "a process failed"};
  }
  return restarted;
}

bool report(const Show& show, const PeerOutcome& lmdb, const PeerOutcome& socket) {
  std::printf("\n  %-24s %14s %9s %9s %9s\n", "", "lookups", "p50", "p99", "max");
  Latency all;
  std::uint64_t wrong = 0;
  std::uint64_t while_dead = 0;
  for (std::size_t i = 0; i < kReaders; ++i) {
    const ReaderAccount& reader = show.readers[i];
    row(("reader " + std::to_string(i + 1)).c_str(), reader.latency,
        human_count(reader.generations_seen) + " generations seen");
    all.merge(reader.latency);
    wrong += reader.wrong_count;
    while_dead += reader.lookups_while_dead;
  }
  row("the same with LMDB", lmdb.latency, "");
  row("the same over the socket", socket.latency, "");
  Latency commits;
  std::uint64_t refused = 0;
  for (const auto& committer : show.committers) {
    commits.merge(committer.latency);
    refused += committer.refused;
  }
  row("durable commits", commits, "");
  std::printf("\n  lookups answered while the daemon was dead: %s\n",
              human_count(while_dead).c_str());
  std::printf("  commits refused meanwhile, none lost:       %s\n", human_count(refused).c_str());
  std::printf("  wrong answers:                              %s\n", human_count(wrong).c_str());
  for (const auto& reader : show.readers) {
    if (reader.first_wrong[0] != '\0') std::printf("  e.g. %s\n", reader.first_wrong);
  }
  std::printf(
      "\n  (Each lookup is timed on its own, with about 25 ns for the clock; %zu processes\n"
      "  share %ld processors, which is where the maxima come from.)\n",
      kReaders + kCommitters + 1, ::sysconf(_SC_NPROCESSORS_ONLN));
  return wrong == 0 && while_dead > 0 && commits.count() > 0 && lmdb.wrong_count == 0 &&
         socket.wrong_count == 0;
}

Result<bool> run() {
  const Scratch scratch;
  DaemonProcess daemon;
  ICEBLINK_RETURN_IF_ERROR(daemon.start(daemon_options(scratch)));
  say("* iceblinkd serves " + scratch.runtime_dir());
  DemoTables demo;
  {
    ICEBLINK_ASSIGN_OR_RETURN(Catalog catalog, Catalog::open(scratch.runtime_dir()));
    ICEBLINK_ASSIGN_OR_RETURN(demo, register_tables(catalog, scratch.scratch_dir()));
  }
  say("* registered " + std::to_string(demo.tables.size()) + " tables (" + demo.origin +
      (demo.refused_count > 0
           ? "; " + std::to_string(demo.refused_count) + " files refused as invalid)"
           : ")"));
  auto& show = *new (shared_memory(sizeof(Show))) Show;
  ICEBLINK_RETURN_IF_ERROR(perform(daemon, scratch, demo, show));
  say("* the same lookups with LMDB, and over the socket");
  ICEBLINK_ASSIGN_OR_RETURN(const PeerOutcome lmdb,
                            look_up_in_lmdb(demo, scratch.scratch_dir(), kPeerTime));
  ICEBLINK_ASSIGN_OR_RETURN(const PeerOutcome socket,
                            look_up_over_socket(demo, scratch.runtime_dir(), kPeerTime));
  return report(show, lmdb, socket);
}

}  // namespace
}  // namespace iceblink::demo

int main() {
  const auto good = iceblink::demo::run();
  if (!good) {
    std::fprintf(stderr, "demo: %s\n", good.error().message().c_str());
    return 1;
  }
  return *good ? 0 : 1;
}
