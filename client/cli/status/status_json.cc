// An instance as JSON.
#include "client/cli/output.h"
#include "client/cli/status/instance_status.h"
#include "client/cli/time_text.h"
#include "shm/layout.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

json::object daemon_json(const InstanceStatus& status) {
  json::object daemon{{"alive", status.is_alive()},
                      {"pid", nullptr},
                      {"version", nullptr},
                      {"since", nullptr},
                      {"last-sign-of-life", nullptr}};
  if (status.health.pid != 0) daemon["pid"] = status.health.pid;
  if (status.info) {
    daemon["version"] = status.info->daemon_version;
    daemon["since"] = to_utc(status.info->daemon_started_s);
    if (!status.is_alive()) daemon["stopped-in-order"] = status.health.pid == 0;
  }
  if (const auto last = status.last_beat_ms()) daemon["last-sign-of-life"] = exact_time_of(*last);
  if (status.daemon.is_alive) daemon["ready"] = !status.daemon.not_ready;
  if (status.daemon.refusal) daemon["refused"] = *status.daemon.refusal;
  return daemon;
}

void add_segment(json::object& document, const InstanceStatus& status) {
  if (!status.info) {
    document["problem"] = status.info.error().message();
    return;
  }
  const SegmentInfo& info = *status.info;
  document["generation"] = info.generation;
  document["epoch"] = info.epoch;
  document["tables"] = info.table_count;
  document["views"] = info.view_count;
  document["namespaces"] = info.namespace_count;
  document["arena-bytes"] = info.arena_bytes;
  document["used-bytes"] = info.used_bytes;
  document["store-uuid"] = info.store_uuid;
  document["incarnation"] = incarnation_text(info.incarnation);
}

json::object memory_json(const InstanceStatus& status) {
  json::object memory;
  if (status.room) {
    memory["tmpfs"] = status.room->is_tmpfs;
    memory["size-bytes"] = status.room->size_bytes;
    memory["used-bytes"] = status.room->used_bytes;
    memory["free-bytes"] = status.room->free_bytes;
  }
  json::array arenas;
  for (const ArenaFile& arena : status.files.arenas) {
    arenas.push_back(json::object{{"file", arena.name},
                                  {"bytes", arena.taken_bytes},
                                  {"current", status.info && status.info->epoch == arena.epoch}});
  }
  memory["arenas"] = std::move(arenas);
  return memory;
}

json::object metrics_json(const DaemonAnswers& answers) {
  constexpr std::pair<const char*, const char*> kShown[] = {
      {"commits", "iceblink_commits_total"},
      {"refused", "iceblink_refused_total"},
      {"commit-queue", "iceblink_commit_queue_length"},
      {"metadata-queue", "iceblink_metadata_queue_length"},
      {"connections-open", "iceblink_http_connections_open"},
      {"connections-refused", "iceblink_http_connections_refused_total"},
      {"garbage-bytes", "iceblink_arena_garbage_bytes"},
      {"lingering-bytes", "iceblink_arena_lingering_bytes"},
      {"flips", "iceblink_flips_total"}};
  json::object metrics;
  for (const auto& [member, name] : kShown) {
    if (const auto value = answers.metric(name)) metrics[member] = *value;
  }
  return metrics;
}

}  // namespace

json::object status_json(const InstanceStatus& status) {
  json::object document{{"generation", nullptr}, {"epoch", nullptr}, {"tables", nullptr}};
  add_segment(document, status);
  document["directory"] = status.directory;
  document["daemon"] = daemon_json(status);
  document["memory"] = memory_json(status);
  document["clients"] =
      json::object{{"attach", status.info.ok()}, {"layout-version", shm::kLayoutVersion}};
  if (!status.daemon.metrics.empty()) document["metrics"] = metrics_json(status.daemon);
  return document;
}

}  // namespace iceblink::cli
