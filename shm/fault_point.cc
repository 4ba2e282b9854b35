#include "shm/fault_point.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>

namespace iceblink::shm {
namespace {

constexpr std::array<std::string_view, 31> kFaultPoints = {
    "start.before-restore",   "start.after-restore",   "arena.before-create",
    "arena.after-create",     "arena.before-fill",     "arena.after-fill",
    "control.before-create",  "control.after-create",  "control.before-replace",
    "control.after-retire",   "control.after-replace", "commit.before-lmdb",
    "commit.after-lmdb",      "publish.before-append", "publish.after-append",
    "publish.before-slot",    "publish.after-slot",    "publish.before-root",
    "publish.after-root",     "publish.before-wake",   "publish.after-wake",
    "commit.before-answer",   "flip.before-root",      "flip.after-root",
    "flip.before-unlink",     "flip.after-unlink",     "stop.before-say-stopped",
    "stop.after-say-stopped", "metadata.after-write",  "metadata.after-sync",
    "answer.before-send",
};

#ifdef ICEBLINK_FAULT_POINTS
constexpr std::array<std::string_view, 4> kPlanted = {
    "planted.lost-publish",          // a change's slot is not stored
    "planted.mixed-snapshot",        // the root names a commit of which half is visible
    "planted.backwards-generation",  // the root names a generation before the last
    "planted.lost-commit",           // published and acknowledged, and not in the store
};

template <typename Names>
const std::string_view* find_name(const Names& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &*found;
}

struct Armed {
  std::string_view name;  // points into kFaultPoints or kPlanted
  long period = 1;        // of a planted fault
  std::atomic<long> passes_left{0};
};
Armed armed;  // set once, before threads start
#endif

}  // namespace

std::span<const std::string_view> fault_points() noexcept {
  return kFaultPoints;
}

Status arm_fault_point([[maybe_unused]] std::string_view spec) {
#ifdef ICEBLINK_FAULT_POINTS
  const auto colon = spec.find(':');
  const auto name = spec.substr(0, colon);
  long pass = 1;
  if (colon != std::string_view::npos) {
    const auto digits = spec.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pass);
    if (error != std::errc{} || end != digits.data() + digits.size() || pass < 1) {
      return {ErrorKind::kInvalidArgument,
              "fault point '" + std::string(spec) + "': the pass after ':' is a number from 1"};
    }
  }
  const auto* point = find_name(kFaultPoints, name);
  if (point == nullptr) point = find_name(kPlanted, name);
  if (point == nullptr) {
    return {ErrorKind::kInvalidArgument, "no fault point is named '" + std::string(name) + "'"};
  }
  armed.name = *point;
  armed.period = pass;
  armed.passes_left.store(pass, std::memory_order_relaxed);  // relaxed: before threads start
  return Ok{};
#else
  return {ErrorKind::kUnsupported, "this build has no fault points"};
#endif
}

#ifdef ICEBLINK_FAULT_POINTS
void pass_fault_point(std::string_view name) noexcept {
  if (armed.name.empty()) return;
  if (find_name(kFaultPoints, name) == nullptr) std::abort();
  if (armed.name != name) return;
  // relaxed: a counter, orders nothing
  if (armed.passes_left.fetch_sub(1, std::memory_order_relaxed) != 1) return;
  ::kill(::getpid(), SIGKILL);
}

bool is_planted(std::string_view name) noexcept {
  if (!armed.name.starts_with(kPlantedPrefix)) return false;
  if (armed.name.substr(std::string_view(kPlantedPrefix).size()) != name) return false;
  // relaxed: a counter, orders nothing
  const long left = armed.passes_left.fetch_sub(1, std::memory_order_relaxed);
  return (left - 1) % armed.period == 0;
}
#endif

}  // namespace iceblink::shm
