#include "stress/reader.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include "stress/witness.h"

namespace iceblink::stress {
namespace {

using std::chrono::milliseconds;

constexpr unsigned kPauseMaxUs = 1500;  // between two looks: the judge has to follow
constexpr unsigned kLooksPerFork = 400;
constexpr unsigned kLooksPerHold = 250;
constexpr unsigned kLooksPerHeldLook = 60;
constexpr unsigned kLooksOfChild = 120;

bool is_stopping(const Stage& stage) {
  return stage.stop_readers.load(std::memory_order_relaxed);  // relaxed: asked again
}

void pause(Witness& witness) {
  ::usleep(static_cast<unsigned>(witness.random(kPauseMaxUs)));
}

Catalog open_or_end(const ReaderTask& task) {
  CatalogOptions options;
  options.ask_daemon = task.seed % 2 == 0 ? AskDaemon::kWhenStale : AskDaemon::kNever;
  auto catalog = Catalog::open(task.runtime_dir, options);
  if (!catalog) {
    task.stage.report(Wrong::kReader, "open: " + catalog.error().message());
    ::_exit(1);
  }
  return std::move(*catalog);
}

/// A child that reads on with what its parent had open, while its parent does too.
class Child {
 public:
  explicit Child(Stage& stage) : stage_(stage) {}

  void start(const Witness& parent, std::uint64_t seed) {
    if (pid_ > 0) return reap(WNOHANG);
    const pid_t self = ::getpid();
    pid_ = ::fork();
    if (pid_ != 0) {
      if (pid_ > 0) stage_.count(Counted::kForks);
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != self) ::_exit(0);
    Witness witness(parent, seed);
    witness.look_at_held();
    for (unsigned i = 0; i < kLooksOfChild && !is_stopping(stage_); ++i) {
      witness.look();
      pause(witness);
    }
    witness.look_at_held();
    witness.end();
    ::_exit(0);
  }

  void reap(int options) {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, options) != pid_) return;
    pid_ = -1;
    if (status != 0) {
      stage_.report(Wrong::kReader, "a forked reader ended with status " + std::to_string(status));
    }
  }

 private:
  Stage& stage_;
  pid_t pid_ = -1;
};

void read_and_hold(const ReaderTask& task, const Catalog& catalog, std::uint64_t seed) {
  Witness witness(task.stage, task.keys, catalog, seed);
  for (unsigned i = 1; !is_stopping(task.stage); ++i) {
    witness.look();
    if (i % kLooksPerHold == 0) witness.hold(milliseconds(1000 + witness.random(4000)));
    if (i % kLooksPerHeldLook == 0) witness.look_at_held();
    pause(witness);
  }
  witness.look_at_held();
  witness.end();
}

void follow_feed(const ReaderTask& task, const Catalog& catalog, std::uint64_t seed) {
  Witness witness(task.stage, task.keys, catalog, seed);
  while (!is_stopping(task.stage)) {
    witness.see_wait(milliseconds(20 + witness.random(200)));
    witness.see_feed();
  }
  witness.end();
}

}  // namespace

void read_on(const ReaderTask& task) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Catalog catalog = open_or_end(task);
  std::vector<std::thread> threads;
  threads.emplace_back(read_and_hold, std::cref(task), std::cref(catalog), task.seed + 1);
  threads.emplace_back(follow_feed, std::cref(task), std::cref(catalog), task.seed + 2);
  Witness witness(task.stage, task.keys, catalog, task.seed);
  Child child(task.stage);
  for (unsigned i = 1; !is_stopping(task.stage); ++i) {
    witness.look();
    if (i % kLooksPerHold == 0) witness.hold(milliseconds(200 + witness.random(2000)));
    if (i % kLooksPerFork == 0) child.start(witness, task.seed + i);
    if (i % kLooksPerHeldLook == 0) witness.look_at_held();
    pause(witness);
  }
  witness.end();
  for (std::thread& thread : threads) thread.join();
  child.reap(0);
  ::_exit(0);
}

void read_briefly(const ReaderTask& task) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  {
    Witness witness(task.stage, task.keys, open_or_end(task), task.seed);
    for (unsigned i = 0; i < 8; ++i) witness.look();
    witness.end();
  }
  task.stage.count(Counted::kShortLived);
  ::_exit(0);
}

}  // namespace iceblink::stress
