// Commands about the instance itself.
#include <chrono>

#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "client/daemon_client.h"
#include "client/wire.h"
#include "shm/layout.h"
#include "shm/verifier.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kHealthTimeout{1000};

/// What there is to say; parts are missing where they cannot be had.
struct InstanceStatus {
  Result<SegmentInfo> info;
  DaemonHealth health;
  bool daemon_answers = false;
};

bool daemon_answers(const std::string& runtime_dir) {
  client::DaemonClient daemon(runtime_dir + "/" + shm::kSocketName);
  const auto answer = daemon.call({.method = "GET", .target = "/healthz"}, kHealthTimeout);
  return answer && client::is_success(*answer);
}

InstanceStatus status_of(const Invocation& invocation) {
  const auto catalog = invocation.open();
  InstanceStatus status{
      catalog ? catalog->info() : Result<SegmentInfo>(catalog.error()), {}, false};
  if (catalog) status.health = catalog->health();
  status.daemon_answers = daemon_answers(invocation.runtime_dir);
  return status;
}

json::object daemon_json(const InstanceStatus& status) {
  json::object daemon{
      {"alive", status.daemon_answers}, {"pid", nullptr}, {"version", nullptr}, {"since", nullptr}};
  if (status.health.pid != 0) daemon["pid"] = status.health.pid;
  if (status.info) {
    daemon["version"] = status.info->daemon_version;
    daemon["since"] = to_utc(status.info->daemon_started_s);
  }
  return daemon;
}

void print_status_json(const Invocation& invocation, const InstanceStatus& status) {
  json::object document{{"generation", nullptr}, {"epoch", nullptr}, {"tables", nullptr}};
  if (status.info) {
    document["generation"] = status.info->generation;
    document["epoch"] = status.info->epoch;
    document["tables"] = status.info->table_count;
    document["views"] = status.info->view_count;
    document["namespaces"] = status.info->namespace_count;
    document["arena-bytes"] = status.info->arena_bytes;
    document["used-bytes"] = status.info->used_bytes;
    document["store-uuid"] = status.info->store_uuid;
  } else {
    document["problem"] = status.info.error().message();
  }
  document["directory"] = invocation.runtime_dir;
  document["daemon"] = daemon_json(status);
  print_json(document);
}

void print_status_text(const Invocation& invocation, const InstanceStatus& status) {
  print_line("directory   " + invocation.runtime_dir);
  std::string daemon = status.daemon_answers ? "answers" : "does not answer";
  if (status.info) {
    const SegmentInfo& info = *status.info;
    print_line("generation  " + std::to_string(info.generation));
    print_line("epoch       " + std::to_string(info.epoch));
    print_line("tables      " + std::to_string(info.table_count));
    print_line("views       " + std::to_string(info.view_count));
    print_line("namespaces  " + std::to_string(info.namespace_count));
    print_line("arena       " + std::to_string(info.used_bytes) + " of " +
               std::to_string(info.arena_bytes) + " bytes");
    if (status.health.pid != 0) daemon += ", pid " + std::to_string(status.health.pid);
    daemon += ", version " + info.daemon_version + ", since " + to_utc(info.daemon_started_s);
  } else {
    print_line("segment     " + status.info.error().message());
  }
  print_line("daemon      " + daemon);
}

Result<ExitCode> print_status(const Invocation& invocation) {
  const InstanceStatus status = status_of(invocation);
  if (invocation.is_json()) {
    print_status_json(invocation, status);
  } else {
    print_status_text(invocation, status);
  }
  return status.daemon_answers ? ExitCode::kYes : ExitCode::kNoDaemon;
}

Result<ExitCode> verify(const Invocation& invocation) {
  // Whether there is a segment at all is another question than whether it is sound.
  const auto catalog = invocation.open();
  if (!catalog && catalog.error().kind() != ErrorKind::kCorrupt &&
      catalog.error().kind() != ErrorKind::kIncompatible) {
    return catalog.error();
  }
  const shm::VerifyReport report = shm::verify_segment(invocation.runtime_dir);
  const bool is_sound = report.problems.empty();
  if (invocation.is_json()) {
    print_json(json::object{{"sound", is_sound},
                            {"complete", report.complete},
                            {"generation", report.generation},
                            {"records", report.record_count},
                            {"keys", report.key_count},
                            {"problems", to_json(report.problems)}});
  } else {
    for (const auto& problem : report.problems) print_line(problem);
    print_line((is_sound ? "sound: " : "damaged: ") + std::to_string(report.record_count) +
               " records of " + std::to_string(report.key_count) + " names, generation " +
               std::to_string(report.generation) +
               (report.complete ? "" : "; commits went on, so some checks were left out"));
  }
  return is_sound ? ExitCode::kYes : ExitCode::kInvalid;
}

}  // namespace

void add_status_commands(CLI::App& app, Invocation& invocation) {
  app.add_subcommand("status", "show the segment and the daemon (exit code 3: it does not answer)")
      ->callback(
          [&invocation] { invocation.run = [&invocation] { return print_status(invocation); }; });
  app.add_subcommand("verify", "check every byte of the segment")->callback([&invocation] {
    invocation.run = [&invocation] { return verify(invocation); };
  });
}

}  // namespace iceblink::cli
