// iceblinkd: one catalog, one runtime directory.
//
// Exit codes: 0 stopped in order, 1 a system call or the disk, 2 usage or configuration, 4
// another daemon holds a lock, 5 corrupt or incompatible, 7 not allowed, 70 a bug.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "daemon/instance.h"
#include "daemon/log_format.h"
#include "daemon/service_manager.h"
#include "daemon/settings.h"
#include "shm/fault_point.h"

namespace {

using iceblink::Error;
using iceblink::ErrorKind;
using iceblink::daemon::CommandLine;
using iceblink::daemon::Instance;
using iceblink::daemon::Settings;

constexpr int kExitUsage = 2;
constexpr int kExitInternal = 70;

int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return kExitUsage;
    case ErrorKind::kConflict:
      return 4;
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
  std::fprintf(stderr, "iceblinkd: %s\n", message.c_str());
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

int serve(const Settings& settings) {
  if (!settings.fault_point.empty()) {
    if (auto armed = iceblink::shm::arm_fault_point(settings.fault_point); !armed) {
      return fail(armed.error());
    }
  }
  // Before anything starts, so that a signal during the start is an orderly stop after it.
  boost::asio::io_context io(1);
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  auto instance = Instance::start(settings);
  if (!instance) return fail(instance.error());
  std::printf("iceblinkd ready: %s generation %llu, %llu tables\n", settings.runtime_dir.c_str(),
              static_cast<unsigned long long>((*instance)->generation()),
              static_cast<unsigned long long>((*instance)->table_count()));
  std::fflush(stdout);
  iceblink::daemon::notify_service_manager("READY=1");
  signals.async_wait([](const boost::system::error_code&, int signal) {
    spdlog::info("stopping on signal {}", signal);
  });
  io.run();
  iceblink::daemon::notify_service_manager("STOPPING=1");
  (*instance)->stop();
  return 0;
}

int restore(const iceblink::daemon::RestoreOptions& options) {
  const auto restored = iceblink::daemon::restore_backup(options);
  if (!restored) return fail(restored.error());
  if (restored->replaced_dir) {
    std::printf("the store before is kept in %s\n", restored->replaced_dir->c_str());
  }
  std::printf("restored generation %llu, %llu tables\n",
              static_cast<unsigned long long>(restored->generation),
              static_cast<unsigned long long>(restored->table_count));
  return 0;
}

int run(const std::vector<std::string>& arguments) {
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
    case CommandLine::Action::kRestore:
      return restore(line->restore);
    case CommandLine::Action::kRun:
      break;
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("iceblinkd"));
  spdlog::set_formatter(iceblink::daemon::one_line_formatter());
  spdlog::set_level(spdlog::level::from_str(line->settings.log_level));
  std::signal(SIGPIPE, SIG_IGN);
  // Directories of the warehouse are for a group to write; what is not for others says so itself.
  ::umask(0002);
  raise_descriptor_limit();
  return serve(line->settings);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::exception& error) {
    return fail(kExitInternal, std::string("internal error: ") + error.what());
  }
}
