#include "client/cli/status/instance_status.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace iceblink::cli {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

std::int64_t now_ms() {
  return duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

bool InstanceStatus::is_alive() const {
  if (daemon.is_alive) return true;
  return daemon.refusal && info && health.pid != 0 && !health.is_stale;
}

std::optional<std::int64_t> InstanceStatus::last_beat_ms() const {
  if (!info || health.heartbeat_age == std::chrono::nanoseconds::max()) return std::nullopt;
  return now_ms - duration_cast<milliseconds>(health.heartbeat_age).count();
}

std::vector<ArenaFile> InstanceStatus::other_arenas() const {
  std::vector<ArenaFile> others;
  for (const ArenaFile& arena : files.arenas) {
    if (!info || arena.epoch != info->epoch) others.push_back(arena);
  }
  return others;
}

ExitCode exit_code_of(const InstanceStatus& status) {
  if (status.daemon.is_alive) return ExitCode::kYes;
  return status.is_alive() ? ExitCode::kNotAllowed : ExitCode::kNoDaemon;
}

InstanceStatus look_at_instance(const std::string& runtime_dir, const Result<Catalog>& catalog) {
  InstanceStatus status;
  status.directory = runtime_dir;
  status.info = catalog ? catalog->info() : Result<SegmentInfo>(catalog.error());
  status.daemon = ask_daemon(runtime_dir);
  // After the question: a daemon that had just stopped is not asked for its last sign of life.
  if (catalog) status.health = catalog->health();
  status.now_ms = now_ms();
  status.room = room_of(runtime_dir);
  status.files = runtime_files_of(runtime_dir);
  return status;
}

InstanceStatus look_at_instance(const Invocation& invocation) {
  return look_at_instance(invocation.runtime_dir, invocation.open());
}

std::string incarnation_text(std::uint64_t incarnation) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(incarnation));
  return digits.data();
}

}  // namespace iceblink::cli
