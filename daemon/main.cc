// iceblinkd: one catalog, one runtime directory.
//
// Exit codes: 0 stopped in order, 1 a system call or the disk, 2 usage or configuration, 4
// another daemon holds a lock, or a store is there already, 5 corrupt or incompatible, 7 not
// allowed, 70 a bug.
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>

#include "daemon/instance.h"
#include "daemon/log_event.h"
#include "daemon/log_format.h"
#include "daemon/log_sink.h"
#include "daemon/service_manager.h"
#include "daemon/settings.h"
#include "daemon/settings_table.h"
#include "daemon/taken_signals.h"
#include "iceberg/utf8.h"
#include "shm/fault_point.h"

namespace {

using iceblink::Error;
using iceblink::ErrorKind;
using iceblink::daemon::CommandLine;
using iceblink::daemon::Instance;
using iceblink::daemon::log_event;
using iceblink::daemon::Settings;
using iceblink::daemon::TakenSignals;
namespace level = iceblink::daemon::level;

constexpr int kExitUsage = 2;
constexpr int kExitConflict = 4;
constexpr int kExitInternal = 70;

int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return kExitUsage;
    case ErrorKind::kConflict:
      return kExitConflict;
    case ErrorKind::kCorrupt:
    case ErrorKind::kIncompatible:
      return 5;
    case ErrorKind::kNotAllowed:
      return 7;
    case ErrorKind::kInternal:
      return kExitInternal;
    default:
      return 1;
  }
}

int fail(int code, const std::string& message) {
  std::fprintf(stderr, "iceblinkd: %s\n", iceblink::on_one_line(message).c_str());
  return code;
}

int fail(const Error& error) {
  return fail(exit_code_of(error.kind()), error.message());
}

void list_fault_points() {
  for (const auto name : iceblink::shm::fault_points()) {
    std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
  }
}

// A connection is a descriptor, and so is a file being read.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

using Arguments = std::vector<std::string>;

std::string status_of(const Instance& instance) {
  return "generation " + std::to_string(instance.generation()) + ", " +
         std::to_string(instance.table_count()) + " tables";
}

// What is wrong leaves everything as it is.
void reload(Instance& instance, const Arguments& arguments) {
  iceblink::daemon::notify_reloading();
  const auto line =
      iceblink::daemon::parse_command_line(arguments, iceblink::daemon::process_environment());
  const auto kept = line ? instance.reload(line->settings) : line.error();
  if (!kept) {
    log_event(level::err, "settings not reloaded", {{"reason", kept.error().message()}});
  } else {
    log_event(level::info, "settings reloaded", {});
    std::string names;
    for (const auto name : *kept) names.append(names.empty() ? "" : ", ").append(name);
    if (!names.empty()) log_event(level::warn, "restart needed", {{"settings", names}});
  }
  iceblink::daemon::notify_service_manager("READY=1\nSTATUS=" + status_of(instance));
}

void reload_until_stop(Instance& instance, const TakenSignals& signals,
                       const Arguments& arguments) {
  for (;;) {
    const int signal = signals.wait();
    if (signal != SIGHUP) return log_event(level::info, "stopping", {{"signal", signal}});
    reload(instance, arguments);
  }
}

// A second signal cuts short what the first one waits for.
void hurry_at_signal(Instance& instance, const TakenSignals& signals) {
  int signal = SIGHUP;
  while (signal == SIGHUP) signal = signals.wait();
  if (signal == 0) return;
  log_event(level::warn, "stopping at once", {{"signal", signal}});
  instance.hurry();
}

void stop(Instance& instance, const TakenSignals& signals) {
  std::thread listening([&] { hurry_at_signal(instance, signals); });
  instance.stop();
  const bool is_idle = instance.wait_workers();
  TakenSignals::wake(listening.native_handle());
  listening.join();
  if (is_idle) return;
  // A thread is in the middle of a file that nobody waits for any more: as after a crash, nothing
  // names it.
  log_event(level::warn, "threads left behind", {});
  std::_Exit(0);
}

int serve(const Settings& settings, const Arguments& arguments) {
  if (!settings.fault_point.empty()) {
    if (auto armed = iceblink::shm::arm_fault_point(settings.fault_point); !armed) {
      return fail(armed.error());
    }
  }
  // Before anything starts, so that a signal during the start is an orderly stop after it.
  const TakenSignals signals;
  auto instance = Instance::start(settings);
  if (!instance) return fail(instance.error());
  const std::string url = (*instance)->tcp_url();
  std::printf("iceblinkd ready: %s generation %llu, %llu tables%s%s\n",
              iceblink::on_one_line(settings.runtime_dir).c_str(),
              static_cast<unsigned long long>((*instance)->generation()),
              static_cast<unsigned long long>((*instance)->table_count()), url.empty() ? "" : ", ",
              url.c_str());
  std::fflush(stdout);
  iceblink::daemon::notify_service_manager("READY=1\nSTATUS=" + status_of(**instance));
  reload_until_stop(**instance, signals, arguments);
  iceblink::daemon::notify_service_manager("STOPPING=1");
  stop(**instance, signals);
  return 0;
}

int check(const Settings& settings) {
  const auto problems = Instance::problems_of(settings);
  for (const Error& problem : problems) fail(problem);
  if (!problems.empty()) return kExitUsage;
  std::puts("settings are valid");
  const Settings defaults;
  for (const auto& setting : iceblink::daemon::settings_table()) {
    if (setting.value.get(settings) == setting.value.get(defaults)) continue;
    std::puts(iceblink::on_one_line(iceblink::daemon::toml_line(setting, settings)).c_str());
  }
  return 0;
}

int restore(const iceblink::daemon::RestoreOptions& options) {
  const auto restored = iceblink::daemon::restore_backup(options);
  if (!restored) {
    const Error& error = restored.error();
    const bool is_there = error.kind() == ErrorKind::kAlreadyExists;
    return fail(is_there ? kExitConflict : exit_code_of(error.kind()), error.message());
  }
  if (restored->replaced_dir) {
    std::printf("the store before is kept in %s\n", restored->replaced_dir->c_str());
  }
  if (restored->checksum == iceblink::daemon::Restored::Checksum::kNone) {
    std::puts("the file has no checksum: a changed byte in a name or location would not be seen");
  }
  std::printf("restored generation %llu, %llu tables\n",
              static_cast<unsigned long long>(restored->generation),
              static_cast<unsigned long long>(restored->table_count));
  return 0;
}

int run(const Arguments& arguments) {
  auto line =
      iceblink::daemon::parse_command_line(arguments, iceblink::daemon::process_environment());
  if (!line) return fail(kExitUsage, line.error().message());
  switch (line->action) {
    case CommandLine::Action::kHelp:
      std::fputs(line->help.c_str(), stdout);
      return 0;
    case CommandLine::Action::kVersion:
      std::puts("iceblinkd " ICEBLINK_VERSION);
      return 0;
    case CommandLine::Action::kListFaultPoints:
      list_fault_points();
      return 0;
    case CommandLine::Action::kCheckConfig:
      return check(line->settings);
    case CommandLine::Action::kRestore:
      return restore(line->restore);
    case CommandLine::Action::kRun:
      break;
  }
  constexpr std::chrono::milliseconds kLogPatience{100};
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "iceblinkd", std::make_shared<iceblink::daemon::LogSink>(STDERR_FILENO, kLogPatience)));
  spdlog::set_formatter(iceblink::daemon::stderr_is_journal()
                            ? iceblink::daemon::journal_formatter()
                            : iceblink::daemon::one_line_formatter());
  spdlog::set_level(spdlog::level::from_str(line->settings.log_level));
  std::signal(SIGPIPE, SIG_IGN);
  // Directories of the warehouse are for a group to write; what is not for others says so itself.
  ::umask(0002);
  raise_descriptor_limit();
  return serve(line->settings, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(Arguments(argv + std::min(argc, 1), argv + argc));
  } catch (const std::exception& error) {
    return fail(kExitInternal, std::string("internal error: ") + error.what());
  }
}
