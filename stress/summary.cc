#include "stress/summary.h"

#include <cstdio>
#include <filesystem>
#include <string>

#include "shm/fault_point.h"
#include "stress/daemon_lives.h"

namespace iceblink::stress {
namespace {

/// From this length on everything must have happened.
constexpr unsigned kSecondsOfAll = 30;
constexpr unsigned kLivesOfAll = 18;
/// And at every fault point a daemon must have died.
constexpr unsigned kSecondsOfPoints = 900;
constexpr std::uint64_t kMapBytes = std::uint64_t{1} << 20;

bool can_be_absent(Counted what, const Options& options) {
  const bool is_end_of_daemon = what >= Counted::kRandomKills && what <= Counted::kSlowLives;
  const unsigned lives = options.seconds * options.kills_per_minute / 60;
  if (is_end_of_daemon && lives < kLivesOfAll) return true;
  if (what == Counted::kPointKills || what == Counted::kStopKills) {
    return !shm::kHasFaultPoints || !options.plant.empty();
  }
  return what == Counted::kAway || what == Counted::kNoSpace || what == Counted::kBusy ||
         what == Counted::kFullStarts;
}

/// Where daemons died; in a run long enough, everywhere.
std::string point_kills(Stage& stage, const Options& options) {
  std::string all;
  const auto points = shm::fault_points();
  for (std::size_t i = 0; i < points.size() && i < stage.point_kills.size(); ++i) {
    if (!is_passed_in_life(points[i])) continue;
    // relaxed: all have ended
    const std::uint64_t count = stage.point_kills[i].load(std::memory_order_relaxed);
    all += (all.empty() ? "" : ", ") + std::string(points[i]) + " " + std::to_string(count);
    if (count == 0 && options.seconds >= kSecondsOfPoints && options.plant.empty()) {
      stage.report(Wrong::kCheck, "no daemon died at " + std::string(points[i]));
    }
  }
  return all;
}

/// How large the store became, whose map begins with 1 MiB.
std::uint64_t store_bytes(const Scratch& scratch) {
  std::uint64_t bytes = 0;
  std::error_code failed;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(scratch.data_dir() + "/lmdb", failed)) {
    if (entry.is_regular_file(failed)) bytes += entry.file_size(failed);
  }
  return bytes;
}

unsigned long long number(std::uint64_t value) {
  return value;
}

}  // namespace

int summarize(Stage& stage, const Options& options, const Scratch& scratch,
              std::uint64_t milliseconds) {
  // relaxed: all have ended
  const bool was_cut_short = stage.has_wrong.load(std::memory_order_relaxed);
  std::string all;
  for (std::size_t i = 0; i < stage.counts.size(); ++i) {
    const auto what = static_cast<Counted>(i);
    const std::uint64_t count = stage.count_of(what);
    all += (i == 0 ? "" : ", ") + std::to_string(count) + " " + std::string(to_string(what));
    if (count > 0 || options.seconds < kSecondsOfAll || was_cut_short) continue;
    if (!can_be_absent(what, options)) {
      stage.report(Wrong::kCheck, "in all this time there were no " + std::string(to_string(what)));
    }
  }
  const bool has_points = shm::kHasFaultPoints;
  const std::string points = has_points ? point_kills(stage, options) : "";
  const std::uint64_t store = store_bytes(scratch);
  if (store <= kMapBytes && options.seconds >= kSecondsOfAll && !was_cut_short) {
    stage.report(Wrong::kCheck, "the store's map never grew");
  }
  for (const std::string& line : stage.lines()) std::printf("%s\n", line.c_str());
  std::printf("%s\n", all.c_str());
  if (has_points) std::printf("daemons died at: %s\n", points.c_str());
  std::printf("the store has %llu bytes\n", number(store));
  if (!scratch.has_small_tmpfs()) {
    std::printf("without a small tmpfs: it may not be mounted here\n");
  }
  const Stage::Sums& sums = stage.sums;
  const std::uint64_t kills = stage.count_of(Counted::kRandomKills) +
                              stage.count_of(Counted::kPointKills) +
                              stage.count_of(Counted::kStopKills);
  // relaxed: all have ended
  const std::uint64_t wrong = stage.finding_count.load(std::memory_order_relaxed);
  std::printf(
      "stress: %llu.%llu s, seed %llu: %llu operations acknowledged (%llu of them asked again),"
      " %llu unanswered (%llu done), %llu refused, generation %llu; %llu answers and %llu sights"
      " judged, %llu changes, %llu snapshots; %llu daemons killed (%llu at random, %llu at fault"
      " points, %llu while stopping), %llu terminated, %llu flips; wrong: %llu\n",
      number(milliseconds / 1000), number(milliseconds % 1000 / 100), number(options.seed),
      number(sums.acknowledged + sums.repeated), number(sums.repeated),
      number(sums.unknown_done + sums.unknown_not_done), number(sums.unknown_done),
      number(sums.refused), number(sums.generation), number(sums.answers), number(sums.sights),
      number(sums.changes), number(stage.count_of(Counted::kSnapshots)), number(kills),
      number(stage.count_of(Counted::kRandomKills)), number(stage.count_of(Counted::kPointKills)),
      number(stage.count_of(Counted::kStopKills)), number(stage.count_of(Counted::kTerminations)),
      number(stage.count_of(Counted::kFlips)), number(wrong));
  return wrong == 0 ? 0 : 1;
}

}  // namespace iceblink::stress
