#include "stress/daemon_lives.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <vector>

#include "shm/fault_point.h"

namespace iceblink::stress {
namespace {

constexpr std::uint64_t kRetryNs = 200'000'000;
constexpr std::uint64_t kLastStartNs = 30'000'000'000;

std::vector<std::string> points_of_life() {
  std::vector<std::string> points;
  for (const auto point : shm::fault_points()) {
    if (is_passed_in_life(point) && !point.starts_with("stop.")) points.emplace_back(point);
  }
  return points;
}

std::vector<std::string> points_of_stops() {
  std::vector<std::string> points;
  for (const auto point : shm::fault_points()) {
    if (point.starts_with("stop.")) points.emplace_back(point);
  }
  return points;
}

/// How often it is passed in a short life, as far as that matters.
std::uint64_t passes_max(const std::string& point) {
  if (point.starts_with("arena.") || point.starts_with("flip.")) return 4;
  if (point.starts_with("metadata.")) return 12;
  return 150;
}

std::string last_lines(const std::string& file) {
  std::ifstream in(file);
  std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  constexpr std::size_t kBytes = 400;
  return all.size() > kBytes ? all.substr(all.size() - kBytes) : all;
}

}  // namespace

bool is_passed_in_life(std::string_view fault_point) {
  return !fault_point.starts_with("start.") && !fault_point.starts_with("control.");
}

DaemonLives::DaemonLives(Stage& stage, const Scratch& scratch, const Options& options,
                         std::uint64_t seed)
    : stage_(stage), scratch_(scratch), options_(options), random_(seed) {}

template <typename T>
T DaemonLives::draw(std::vector<T>& deck, const std::vector<T>& all) {
  if (deck.empty()) {
    deck = all;
    std::shuffle(deck.begin(), deck.end(), random_);
  }
  T drawn = deck.back();
  deck.pop_back();
  return drawn;
}

DaemonLives::Life DaemonLives::plan() {
  using enum End;
  static const std::vector<End> kEnds = {kRandom, kRandom, kRandom, kRandom,      kPoint,
                                         kPoint,  kPoint,  kPoint,  kTermination, kStopPoint};
  static const std::vector<End> kEndsWithoutPoints = {kRandom, kRandom, kRandom, kTermination};
  Life life;
  const std::uint64_t mean_ns = 60'000'000'000 / options_.kills_per_minute;
  life.lasts_ns = mean_ns / 3 + random(mean_ns * 4 / 3);
  life.headroom_bytes = static_cast<unsigned>(4096 << random(4));
  life.is_on_slow_disk = random(4) == 0;
  life.slow_seed = random(1'000'000);
  const bool may_have_points = shm::kHasFaultPoints && options_.plant.empty();
  life.end = draw(ends_, may_have_points ? kEnds : kEndsWithoutPoints);
  if (life.end == kStopPoint) life.fault_point = draw(stop_points_, points_of_stops());
  if (life.end == kPoint) {
    const std::string point = draw(points_, points_of_life());
    life.fault_point = point + ":" + std::to_string(1 + random(passes_max(point)));
  }
  return life;
}

DaemonOptions DaemonLives::options_of(const Life& life) const {
  DaemonOptions options;
  options.arguments = {"--runtime-dir",
                       scratch_.runtime_dir(),
                       "--data-dir",
                       scratch_.data_dir(),
                       "--log-level",
                       "warning",
                       "--headroom-bytes",
                       std::to_string(life.headroom_bytes),
                       "--map-bytes",
                       "1048576",
                       "--log-entries-max",
                       "30000",
                       "--idempotency-lifetime-ms",
                       "300000",
                       "--commit-threads",
                       "4"};
  options.errors_file = scratch_.daemon_errors_file();
  const std::string point =
      options_.plant.empty() ? life.fault_point : shm::kPlantedPrefix + options_.plant + ":100";
  if (!point.empty()) options.arguments.insert(options.arguments.end(), {"--fault-point", point});
  if (life.is_on_slow_disk) {
    options.environment["LD_PRELOAD"] = DaemonProcess::folder() + "/libiceblink_file_faults.so";
    options.environment["ICEBLINK_FILE_FAULTS"] =
        "slow:" + std::to_string(life.slow_seed) + ":1000";
  }
  return options;
}

Status DaemonLives::begin() {
  life_ = plan();
  life_.fault_point.clear();
  life_.end = End::kRandom;
  ICEBLINK_RETURN_IF_ERROR(daemon_.start(options_of(life_)));
  ends_at_ns_ = now_ns() + life_.lasts_ns;
  return Ok{};
}

void DaemonLives::start(Life life) {
  while (true) {
    life_ = life;
    if (life_.is_on_slow_disk) stage_.count(Counted::kSlowLives);
    const Status started = daemon_.start(options_of(life_));
    if (started) break;
    if (started.error().kind() == ErrorKind::kTimedOut) {
      daemon_.signal(SIGKILL);
      life_.fault_point.clear();  // it is not what ended it
    }
    const int outcome = daemon_.wait();
    if (had_no_room(outcome)) {
      // SYNC stress-life: releases the daemon's end; partner Writer::settle
      stage_.life.fetch_add(1, std::memory_order_release);
      stage_.count(Counted::kFullStarts);
      ends_at_ns_ = now_ns() + kRetryNs;
      return;
    }
    account(outcome);
    if (has_given_up()) return;
    life.fault_point.clear();
    life.end = End::kRandom;
  }
  failed_starts_ = 0;
  ends_at_ns_ = now_ns() + life_.lasts_ns;
}

bool DaemonLives::had_no_room(int outcome) const {
  const std::string said = last_lines(scratch_.daemon_errors_file());
  return outcome == 1 && said.ends_with("No space left on device\n");
}

void DaemonLives::account(int outcome) {
  // SYNC stress-life: releases the daemon's end; partner Writer::settle
  stage_.life.fetch_add(1, std::memory_order_release);
  if (outcome == -SIGKILL && !life_.fault_point.empty()) {
    return count_point_kill();
  }
  ++failed_starts_;
  stage_.report(Wrong::kDaemon, "it ended with " + std::to_string(outcome) + " (fault point '" +
                                    life_.fault_point +
                                    "'): " + last_lines(scratch_.daemon_errors_file()));
}

void DaemonLives::count_point_kill() {
  stage_.count(life_.end == End::kStopPoint ? Counted::kStopKills : Counted::kPointKills);
  const auto points = shm::fault_points();
  const auto name = std::string_view(life_.fault_point).substr(0, life_.fault_point.find(':'));
  const auto place = std::find(points.begin(), points.end(), name) - points.begin();
  // relaxed: a counter, for showing
  stage_.point_kills[static_cast<std::size_t>(place)].fetch_add(1, std::memory_order_relaxed);
}

void DaemonLives::terminate() {
  daemon_.signal(SIGTERM);
  const auto outcome = daemon_.wait_patiently();
  if (!outcome) {
    stage_.report(Wrong::kDaemon, "it did not stop when it was terminated");
    daemon_.kill();
  } else if (*outcome != 0) {
    return account(*outcome);
  }
  // SYNC stress-life: releases the daemon's end; partner Writer::settle
  stage_.life.fetch_add(1, std::memory_order_release);
  stage_.count(Counted::kTerminations);
}

void DaemonLives::look(std::uint64_t now) {
  if (daemon_.pid() <= 0) {
    if (now >= ends_at_ns_ && !has_given_up()) start(life_);
    return;
  }
  if (const auto outcome = daemon_.try_wait()) {
    account(*outcome);
    return start(plan());
  }
  if (now < ends_at_ns_) return;
  if (life_.end == End::kTermination || life_.end == End::kStopPoint) {
    terminate();
  } else {
    daemon_.kill();
    // SYNC stress-life: releases the daemon's end; partner Writer::settle
    stage_.life.fetch_add(1, std::memory_order_release);
    stage_.count(Counted::kRandomKills);
  }
  start(plan());
}

bool DaemonLives::begin_last() {
  if (daemon_.pid() > 0) {
    daemon_.kill();
    // SYNC stress-life: releases the daemon's end; partner Writer::settle
    stage_.life.fetch_add(1, std::memory_order_release);
  }
  Life last = plan();
  last.end = End::kRandom;
  last.fault_point.clear();
  last.is_on_slow_disk = false;
  start(last);
  for (const std::uint64_t until = now_ns() + kLastStartNs;
       daemon_.pid() <= 0 && !has_given_up() && now_ns() < until;) {
    ::usleep(kRetryNs / 1000);  // readers let go of what they hold meanwhile
    start(last);
  }
  ends_at_ns_ = ~std::uint64_t{0};
  return daemon_.pid() > 0;
}

bool DaemonLives::end_last() {
  if (daemon_.pid() <= 0) return false;
  daemon_.signal(SIGTERM);
  return daemon_.wait_patiently() == 0;
}

}  // namespace iceblink::stress
