#include "stress/conductor.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <random>

#include "shm/fault_point.h"
#include "stress/crowd.h"
#include "stress/daemon_lives.h"
#include "stress/scratch.h"
#include "stress/summary.h"

namespace iceblink::stress {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kAfterWrongNs = 2000 * kNsPerMs;  // more of the same is seen until then
constexpr std::uint64_t kPatienceNs = 2000 * kNsPerMs;
constexpr std::uint64_t kEndNs = 90'000 * kNsPerMs;  // a watchdog for the end

/// Something that happens again and again.
struct Recurring {
  std::uint64_t at_ns;
  std::uint64_t min_ms;
  std::uint64_t max_ms;
  std::mt19937_64 random;  // its own, so that its course does not hang on what else happens when
};

class Conductor {
 public:
  Conductor(const Options& options, const Scratch& scratch, const sigset_t& signals)
      : options_(options),
        stage_(Stage::make()),
        keys_(options.writers),
        random_(options.seed),
        lives_(stage_, scratch, options, random_()),
        crowd_(stage_, keys_, scratch.runtime_dir(), random_()),
        scratch_(scratch),
        signals_(signals) {}

  int run() {
    if (const Status begun = lives_.begin(); !begun) {
      std::fprintf(stderr, "iceblink-stress: %s\n", begun.error().message().c_str());
      return 2;
    }
    const std::uint64_t begun_ns = now_ns();
    crowd_.add_judge();
    for (unsigned writer = 0; writer < options_.writers; ++writer) crowd_.add_writer(writer);
    for (unsigned reader = 0; reader < options_.readers; ++reader) crowd_.add_reader();
    play(begun_ns + options_.seconds * 1000 * kNsPerMs);
    if (is_interrupted_) {
      std::printf("interrupted\n");
      return 2;
    }
    finish();
    return summarize(stage_, options_, scratch_, (now_ns() - begun_ns) / kNsPerMs);
  }

 private:
  void play(std::uint64_t until_ns) {
    const std::uint64_t now = now_ns();
    Recurring short_lived{now, 50, 150, next_random()};
    Recurring kills{now + 1500 * kNsPerMs, 1000, 4000, next_random()};
    Recurring stops{now + 1000 * kNsPerMs, 1000, 7000, next_random()};
    std::uint64_t wrong_since_ns = 0;
    while (!is_interrupted_ && now_ns() < until_ns) {
      const std::uint64_t next =
          std::min({short_lived.at_ns, kills.at_ns, stops.at_ns, lives_.ends_at_ns(), until_ns});
      wait_until(std::min(next, now_ns() + 100 * kNsPerMs));
      if (is_due(short_lived)) crowd_.add_short_lived_reader();
      if (is_due(kills)) crowd_.kill_some_reader();
      if (is_due(stops)) crowd_.stop_or_continue();
      lives_.look(now_ns());
      if (!stage_.has_wrong.load(std::memory_order_relaxed)) continue;  // relaxed: asked again
      if (wrong_since_ns == 0) wrong_since_ns = now_ns();
      if (now_ns() - wrong_since_ns > kAfterWrongNs || lives_.has_given_up()) return;
    }
  }

  /// Writers first, over one more restart, so that what is unknown is settled; then readers; then
  /// the judge.
  void finish() {
    crowd_.continue_stopped();
    stage_.stop_writers.store(true, std::memory_order_relaxed);  // relaxed: a hint
    if (!crowd_.has_judge() || !lives_.begin_last()) return;
    const std::uint64_t until = now_ns() + kEndNs;
    const auto wait_while = [&](auto&& condition) {
      while (condition() && now_ns() < until && !is_interrupted_ && lives_.pid() > 0) {
        wait_until(now_ns() + 20 * kNsPerMs);
      }
    };
    while (crowd_.has_writers() && now_ns() < until && !is_interrupted_) {
      const std::uint64_t patience = now_ns() + kPatienceNs;
      wait_while([&] { return crowd_.has_writers() && now_ns() < patience; });
      // Who lost an answer in this restart waits for the next one.
      if (crowd_.has_writers() && !lives_.begin_last()) return;
    }
    crowd_.let_go();
    stage_.stop_readers.store(true, std::memory_order_relaxed);  // relaxed: a hint
    wait_while([this] { return crowd_.has_readers(); });
    stage_.is_over.store(true, std::memory_order_relaxed);  // relaxed: a hint
    wait_while([this] { return crowd_.has_judge(); });
    if (now_ns() >= until) {
      stage_.report(Wrong::kCheck, crowd_.has_writers()   ? "a writer did not end"
                                   : crowd_.has_readers() ? "a reader did not end"
                                                          : "the judge did not end");
    }
    verify();
    if (!lives_.end_last()) stage_.report(Wrong::kDaemon, "the last one did not end in good order");
  }

  /// `iceblink verify`: segment, store and metadata files.
  void verify() {
    const std::string program = DaemonProcess::folder() + "/iceblink";
    const std::string runtime_dir = scratch_.runtime_dir();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl(program.c_str(), program.c_str(), "--dir", runtime_dir.c_str(), "verify", nullptr);
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) {
      stage_.report(Wrong::kAudit, "iceblink verify ended with " + std::to_string(status));
    }
  }

  /// Sleeps, and buries whoever ends.
  void wait_until(std::uint64_t at_ns) {
    while (true) {
      reap();
      const std::uint64_t now = now_ns();
      if (now >= at_ns) return;
      const timespec left{static_cast<time_t>((at_ns - now) / 1'000'000'000),
                          static_cast<long>((at_ns - now) % 1'000'000'000)};
      const int signal = ::sigtimedwait(&signals_, nullptr, &left);
      if (signal == SIGINT || signal == SIGTERM) is_interrupted_ = true;
      if (signal == SIGCHLD) {
        reap();
        return;
      }
      if (is_interrupted_) return;
    }
  }

  void reap() {
    while (true) {
      siginfo_t ended{};
      if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
      if (ended.si_pid == lives_.pid()) return lives_.look(now_ns());
      int status = 0;
      ::waitpid(ended.si_pid, &status, 0);
      crowd_.bury(ended.si_pid, status);
    }
  }

  std::mt19937_64 next_random() { return std::mt19937_64(random_()); }

  bool is_due(Recurring& event) {
    const std::uint64_t now = now_ns();
    if (now < event.at_ns) return false;
    event.at_ns = now + (event.min_ms + event.random() % (event.max_ms - event.min_ms)) * kNsPerMs;
    return true;
  }

  const Options& options_;
  Stage& stage_;
  const KeySpace keys_;
  std::mt19937_64 random_;
  DaemonLives lives_;
  Crowd crowd_;
  const Scratch& scratch_;
  const sigset_t& signals_;
  bool is_interrupted_ = false;
};

}  // namespace

int conduct(const Options& options) {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::printf(
      "iceblink-stress --seconds %u --seed %llu --readers %u --writers %u"
      " --kills-per-minute %u%s%s\n",
      options.seconds, static_cast<unsigned long long>(options.seed), options.readers,
      options.writers, options.kills_per_minute, options.plant.empty() ? "" : " --plant ",
      options.plant.c_str());
  std::fflush(stdout);
  const auto scratch = Scratch::make(options.dir, options.keeps_files);
  if (!scratch) {
    std::fprintf(stderr, "iceblink-stress: %s\n", scratch.error().message().c_str());
    return 2;
  }
  return Conductor(options, *scratch, signals).run();
}

}  // namespace iceblink::stress
