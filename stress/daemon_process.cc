#include "stress/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace iceblink::stress {
namespace {

int outcome_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Between fork and exec.
[[noreturn]] void become(const std::string& program, const DaemonOptions& options, int output_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(output_fd, STDOUT_FILENO);
  if (!options.errors_file.empty()) {
    const int fd = ::open(options.errors_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) ::dup2(fd, STDERR_FILENO);
  }
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const auto& argument : options.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  ::_exit(127);
}

}  // namespace

DaemonProcess::~DaemonProcess() {
  if (pid_ > 0) kill();
}

std::string DaemonProcess::folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

Status DaemonProcess::start(const DaemonOptions& options) {
  const std::string program = folder() + "/iceblinkd";
  int output[2];
  if (::pipe2(output, O_CLOEXEC) != 0) return {ErrorKind::kIo, "pipe"};
  pid_ = ::fork();
  if (pid_ == 0) become(program, options, output[1]);
  ::close(output[1]);
  // One line, in one piece.
  pollfd readable{output[0], POLLIN, 0};
  const bool in_time = ::poll(&readable, 1, static_cast<int>(kPatience.count())) > 0;
  char byte = 0;
  const bool is_ready = in_time && ::read(output[0], &byte, 1) == 1;
  ::close(output[0]);
  if (!in_time) return {ErrorKind::kTimedOut, program + " did not become ready"};
  if (!is_ready) return {ErrorKind::kNoDaemon, program + " did not start"};
  return Ok{};
}

void DaemonProcess::signal(int number) const {
  ::kill(pid_, number);
}

int DaemonProcess::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return outcome_of(status);
}

std::optional<int> DaemonProcess::wait_patiently() {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  auto outcome = try_wait();
  for (; !outcome && std::chrono::steady_clock::now() < until; outcome = try_wait()) ::usleep(2000);
  return outcome;
}

std::optional<int> DaemonProcess::try_wait() {
  int status = 0;
  if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  return outcome_of(status);
}

void DaemonProcess::kill() {
  signal(SIGKILL);
  wait();
}

}  // namespace iceblink::stress
