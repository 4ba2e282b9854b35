// C4: what one commit of one pointer move costs its thread between two fsyncs, in a small catalog
// and in a large one, where it moves any table, or few; and what it costs while arenas are being
// built beside it.
//
//   publish_bench --dir DIR --small TABLES --large TABLES --rounds N --commits N
//                 --build-commits N --pace-ns N
//
// With --build-commits 0 without the last.
#include <algorithm>
#include <atomic>
#include <thread>

#include "bench/measurement.h"
#include "bench/publisher_side.h"
#include "bench/scratch_dir.h"

namespace {

using namespace iceblink::bench;

constexpr int kBuilderCpu = 0;
constexpr int kCommitterCpu = 1;
/// In which a disk would sync; less than any does.
constexpr std::uint64_t kPauseNs = 10'000;

/// What it takes to read the thread's clock: part of every sample, and not the commit's.
std::uint64_t clock_cost_ns(clockid_t clock) {
  std::vector<std::uint64_t> costs;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t begin = clock_ns(clock);
    costs.push_back(clock_ns(clock) - begin);
  }
  return static_cast<std::uint64_t>(quantile(costs, 0.5));
}

class CommitTimer {
 public:
  void reserve(std::size_t count) {
    cpu_ns.reserve(count);
    wall.reserve(count);
  }
  void commit(PublisherSide& side, const PublisherSide::Move& move) {
    const std::uint64_t wall_begin = wall_ns();
    const std::uint64_t cpu_begin = thread_cpu_ns();
    side.commit(move);
    const std::uint64_t cpu_end = thread_cpu_ns();
    const std::uint64_t wall_end = wall_ns();
    cpu_ns.push_back(less(cpu_end - cpu_begin, cpu_cost_));
    wall.push_back(less(wall_end - wall_begin, 2 * cpu_cost_));
  }

  std::vector<std::uint64_t> cpu_ns;
  std::vector<std::uint64_t> wall;

 private:
  static std::uint64_t less(std::uint64_t value, std::uint64_t by) {
    return value > by ? value - by : 0;
  }
  const std::uint64_t cpu_cost_ = clock_cost_ns(CLOCK_THREAD_CPUTIME_ID);
};

/// The two halves of a commit apart, with a pause where a daemon syncs its store.
void measure_paused(const std::string& name, PublisherSide& side,
                    const std::vector<PublisherSide::Move>& moves, Samples& samples) {
  const std::uint64_t clock_cost = clock_cost_ns(CLOCK_THREAD_CPUTIME_ID);
  std::vector<std::uint64_t> reserves;
  std::vector<std::uint64_t> publishes;
  reserves.reserve(moves.size());
  publishes.reserve(moves.size());
  const auto time = [&](std::vector<std::uint64_t>& times, auto work) {
    const std::uint64_t begin = thread_cpu_ns();
    work();
    const std::uint64_t taken = thread_cpu_ns() - begin;
    times.push_back(taken > clock_cost ? taken - clock_cost : 0);
  };
  for (const auto& move : moves) {
    time(reserves, [&] { side.reserve(move); });
    const std::uint64_t end = wall_ns() + kPauseNs;
    while (wall_ns() < end) {
    }
    time(publishes, [&] { side.publish(move); });
  }
  samples.add(name + "/reserve", quantile(reserves, 0.5));
  samples.add(name + "/publish", quantile(publishes, 0.5));
}

/// The newest location of every table moved is what the arena says.
void check_moved(PublisherSide& side, std::size_t commits) {
  const auto stats = side.publisher().stats();
  require(stats.table_count == side.catalog().table_count(), "tables were lost or made");
  require(stats.publish_count == commits, "commits were lost");
  require(stats.failed_build_count == 0, "an arena could not be built");
}

void measure_sizes(const std::string& dir, std::size_t small, std::size_t large, std::size_t rounds,
                   std::size_t commits, Samples& samples) {
  pin_to_cpu(kBuilderCpu);  // inherited by the publishers' builders
  PublisherSide small_side(dir + "/small", SampleCatalog(small));
  PublisherSide large_side(dir + "/large", SampleCatalog(large));
  pin_to_cpu(kCommitterCpu);
  const auto measure = [&](const char* name, PublisherSide& side, std::size_t among,
                           std::size_t round) {
    const auto moves = side.prepare(commits, round * commits, among);
    CommitTimer timer;
    timer.reserve(commits);
    for (const auto& move : moves) timer.commit(side, move);
    samples.add(name + std::string("/cpu"), quantile(timer.cpu_ns, 0.5));
    samples.add(name + std::string("/wall"), quantile(timer.wall, 0.5));
  };
  const std::size_t paused = commits / 8;
  for (std::size_t round = 0; round < rounds; ++round) {
    measure("small", small_side, small, round);
    measure("large", large_side, large, round);
    measure("large_few", large_side, small, round);
    const std::size_t other = (rounds + round) * commits;
    measure_paused("small_paused", small_side, small_side.prepare(paused, other, small), samples);
    measure_paused("large_paused", large_side, large_side.prepare(paused, other, large), samples);
  }
  samples.add("pause_us", kPauseNs / 1000.0);
  check_moved(small_side, rounds * (commits + paused));
  check_moved(large_side, rounds * (2 * commits + paused));
}

/// Builds arenas one after another, each after a pause as long as the last one took.
class Flipper {
 public:
  explicit Flipper(iceblink::shm::Publisher& publisher)
      : thread_([this, &publisher] {
          pin_to_cpu(kBuilderCpu);
          while (!ends_.load(std::memory_order_relaxed)) {
            const std::uint64_t begin = wall_ns();
            require_ok(publisher.flip());
            std::this_thread::sleep_for(std::chrono::nanoseconds(wall_ns() - begin));
          }
        }) {}
  ~Flipper() {
    ends_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  Flipper(const Flipper&) = delete;
  Flipper& operator=(const Flipper&) = delete;

 private:
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

struct Pace {
  std::size_t commits = 0;
  std::uint64_t interval_ns = 0;
};

/// One round of commits in even steps, as they come from a disk that is busy with them.
void measure_paced(const std::string& name, PublisherSide& side, Pace pace, std::uint64_t seed,
                   Samples& samples) {
  const auto before = side.publisher().stats();
  const auto moves = side.prepare(pace.commits, seed, side.catalog().table_count());
  CommitTimer timer;
  timer.reserve(pace.commits);
  std::uint64_t due = wall_ns();
  for (const auto& move : moves) {
    while (wall_ns() < due) {
    }
    timer.commit(side, move);
    due = std::max(due + pace.interval_ns, wall_ns() - 10 * pace.interval_ns);
  }
  const auto after = side.publisher().stats();
  samples.add(name + "/share", static_cast<double>(after.publishes_during_build_count -
                                                   before.publishes_during_build_count) /
                                   static_cast<double>(pace.commits));
  samples.add(name + "/flips", static_cast<double>(after.flip_count - before.flip_count));
  samples.add(name + "/cpu_p50", quantile(timer.cpu_ns, 0.5));
  samples.add(name + "/cpu_p999", quantile(timer.cpu_ns, 0.999));
  samples.add(name + "/wall_p50", quantile(timer.wall, 0.5));
  samples.add(name + "/wall_p999", quantile(timer.wall, 0.999));
}

void measure_builds(const std::string& dir, std::size_t tables, std::size_t rounds, Pace pace,
                    Samples& samples) {
  pin_to_cpu(kBuilderCpu);
  PublisherSide side(dir + "/builds", SampleCatalog(tables));
  pin_to_cpu(kCommitterCpu);
  for (std::size_t round = 0; round < rounds; ++round) {
    // What the machine itself does to a quantile, then with builds. A fresh arena has room for the
    // first, so that none is built.
    require_ok(side.publisher().flip());
    measure_paced("alone", side, pace, 2 * round * pace.commits, samples);
    const Flipper flipper(side.publisher());
    measure_paced("builds", side, pace, (2 * round + 1) * pace.commits, samples);
  }
  check_moved(side, 2 * rounds * pace.commits);
}

}  // namespace

int main(int argc, char** argv) {
  const auto size = [&](const char* name, std::size_t otherwise) {
    return number(argc, argv, name, otherwise);
  };
  const ScratchDir scratch(argument(argc, argv, "--dir", "/dev/shm"));
  Samples samples;
  const std::size_t large = size("--large", 1'000'000);
  measure_sizes(scratch.path(), size("--small", 1'000), large, size("--rounds", 9),
                size("--commits", 20'000), samples);
  const Pace pace{size("--build-commits", 25'000), size("--pace-ns", 40'000)};
  if (pace.commits > 0) measure_builds(scratch.path(), large, size("--rounds", 9), pace, samples);
  samples.print();
  return 0;
}
