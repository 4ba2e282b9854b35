#include "bench/demo/daemon_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

namespace iceblink::demo {

DaemonProcess::DaemonProcess(std::string runtime_dir, std::string data_dir)
    : runtime_dir_(std::move(runtime_dir)), data_dir_(std::move(data_dir)) {}

DaemonProcess::~DaemonProcess() {
  if (pid_ > 0) kill();
}

Status DaemonProcess::start() {
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "iceblinkd").string();
  int output[2];
  if (::pipe(output) != 0) return {ErrorKind::kIo, "pipe"};
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(output[1], STDOUT_FILENO);
    ::close(output[0]);
    ::close(output[1]);
    ::execl(program.c_str(), program.c_str(), "--runtime-dir", runtime_dir_.c_str(), "--data-dir",
            data_dir_.c_str(), "--log-level", "error", nullptr);
    ::_exit(127);
  }
  ::close(output[1]);
  FILE* lines = ::fdopen(output[0], "r");
  char line[512];
  const bool ready = std::fgets(line, sizeof(line), lines) != nullptr;
  std::fclose(lines);
  if (!ready) return {ErrorKind::kNoDaemon, program + " did not start"};
  return Ok{};
}

void DaemonProcess::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace iceblink::demo
