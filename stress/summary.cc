#include "stress/summary.h"

#include <cstdio>
#include <string>

#include "shm/fault_point.h"

namespace iceblink::stress {
namespace {

/// From this length on everything must have happened.
constexpr unsigned kSecondsOfAll = 30;

bool can_be_absent(Counted what, const Options& options) {
  if (what == Counted::kPointKills || what == Counted::kStopKills) {
    return !shm::kHasFaultPoints || !options.plant.empty();
  }
  return false;
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
  for (const std::string& line : stage.lines()) std::printf("%s\n", line.c_str());
  std::printf("%s\n", all.c_str());
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
