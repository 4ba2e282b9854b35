// An instance on one screen.
#include <array>
#include <cstdio>

#include "client/cli/columns.h"
#include "client/cli/number_text.h"
#include "client/cli/output.h"
#include "client/cli/status/instance_status.h"
#include "client/cli/time_text.h"
#include "shm/layout.h"

namespace iceblink::cli {
namespace {

constexpr std::size_t kLabelColumns = 12;
constexpr const char* kRefused = "may not be asked by this user (permission)";

class Screen {
 public:
  void add(std::string_view label, const std::string& text) {
    lines_.push_back(fit(padded(std::string(label), kLabelColumns) + text, kColumns));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text.data();
}

std::string count_text(std::uint64_t count, const char* singular) {
  return grouped(count) + " " + singular + (count == 1 ? "" : "s");
}

void add_daemon(Screen& screen, const InstanceStatus& status) {
  if (status.is_alive() && status.info) {
    const auto age = std::chrono::milliseconds(
        status.now_ms - static_cast<std::int64_t>(status.info->daemon_started_s) * 1000);
    screen.add("daemon", "alive: pid " + std::to_string(status.health.pid) + ", version " +
                             status.info->daemon_version + ", since " +
                             to_utc(status.info->daemon_started_s) + " (" + duration_text(age) +
                             ")");
    if (status.daemon.refusal) return screen.add("", kRefused);
    screen.add("ready", status.daemon.not_ready ? "NO: " + *status.daemon.not_ready : "yes");
    return;
  }
  if (status.daemon.is_alive) return screen.add("daemon", "answers");
  const auto last = status.last_beat_ms();
  if (!last) return screen.add("daemon", status.daemon.refusal ? kRefused : "does not answer");
  const std::string since = time_of(*last) + " (" + duration_text(status.health.heartbeat_age) +
                            " ago), version " + status.info->daemon_version;
  screen.add("daemon", "NOT alive since " + since);
  screen.add("", status.health.pid == 0
                     ? "it stopped in order"
                     : "it did not say that it stops: pid " + std::to_string(status.health.pid) +
                           " was lost or hangs");
}

void add_segment(Screen& screen, const InstanceStatus& status) {
  if (!status.info) return screen.add("segment", status.info.error().message());
  const SegmentInfo& info = *status.info;
  screen.add("generation", grouped(info.generation) + ", incarnation " +
                               incarnation_text(info.incarnation) + ", epoch " +
                               grouped(info.epoch));
  screen.add("catalog", count_text(info.table_count, "table") + ", " +
                            count_text(info.view_count, "view") + ", " +
                            count_text(info.namespace_count, "namespace"));
  std::string arena = bytes_text(info.used_bytes) + " of " + bytes_text(info.arena_bytes) + " (" +
                      percent_text(info.used_bytes, info.arena_bytes) + ")";
  if (const auto garbage = status.daemon.metric("iceblink_arena_garbage_bytes")) {
    arena += ", " + percent_text(*garbage, info.used_bytes) + " garbage";
  }
  if (const auto flips = status.daemon.metric("iceblink_flips_total")) {
    arena += ", " + count_text(*flips, "flip");
  }
  screen.add("arena", arena);
}

void add_memory(Screen& screen, const InstanceStatus& status) {
  if (status.room) {
    const FileSystemRoom& room = *status.room;
    std::string text = room.is_tmpfs ? "tmpfs" : "NOT a tmpfs";
    if (room.size_bytes > 0) {
      text += " of " + bytes_text(room.size_bytes) + ": " + bytes_text(room.used_bytes) +
              " used, " + bytes_text(room.free_bytes) + " free";
    }
    screen.add("memory", text);
  }
  if (status.files.arenas.empty()) return;
  std::string text = "arenas take " + bytes_text(status.files.taken_bytes());
  const auto others = status.other_arenas();
  if (!others.empty() && status.info) {
    std::uint64_t bytes = 0;
    for (const ArenaFile& arena : others) bytes += arena.taken_bytes;
    text += "; " + count_text(others.size(), "unused file") + ": " + bytes_text(bytes);
  }
  if (const auto lingering = status.daemon.metric("iceblink_arena_lingering_bytes");
      lingering && *lingering > 0) {
    text += "; replaced: " + bytes_text(*lingering);
  }
  screen.add("", text);
}

void add_work(Screen& screen, const DaemonAnswers& daemon) {
  const auto metric = [&](std::string_view name) { return daemon.metric(name).value_or(0); };
  if (daemon.metrics.empty()) return;
  screen.add("commits", grouped(metric("iceblink_commits_total")) + " done, " +
                            grouped(metric("iceblink_refused_total")) + " refused, " +
                            grouped(metric("iceblink_commit_queue_length") +
                                    metric("iceblink_metadata_queue_length")) +
                            " waiting");
  screen.add("requests",
             count_text(metric("iceblink_http_connections_open"), "connection") + " open, " +
                 grouped(metric("iceblink_http_connections_refused_total")) + " refused");
}

}  // namespace

std::vector<std::string> status_lines(const InstanceStatus& status) {
  Screen screen;
  screen.add("directory", status.directory);
  add_daemon(screen, status);
  add_segment(screen, status);
  add_memory(screen, status);
  screen.add("clients",
             status.info ? "can attach, layout version " + std::to_string(shm::kLayoutVersion) +
                               (status.is_alive() ? "" : "; lookups are answered, writes are not")
                         : "cannot attach: neither lookups nor writes are answered");
  add_work(screen, status.daemon);
  return screen.take();
}

}  // namespace iceblink::cli
