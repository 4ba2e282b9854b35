#include "tests/http/child_daemon.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace iceblink::test {
namespace {

constexpr const char* kProgram = ICEBLINK_BIN_DIR "/iceblinkd";

// Runs in the child, between fork and exec.
[[noreturn]] void become_daemon(const ChildOptions& options, int output_fd, int errors_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that crashes leaves no daemon behind
  ::dup2(output_fd, STDOUT_FILENO);
  ::dup2(errors_fd, STDERR_FILENO);
  if (options.inherited_fd >= 0) {
    ::dup2(options.inherited_fd, 3);
    ::fcntl(3, F_SETFD, 0);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", "1", 1);
  }
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  struct stat errors {};
  if (options.errors_are_journal && ::fstat(STDERR_FILENO, &errors) == 0) {
    const std::string name = std::to_string(errors.st_dev) + ":" + std::to_string(errors.st_ino);
    ::setenv("JOURNAL_STREAM", name.c_str(), 1);
  }
  std::vector<char*> arguments{const_cast<char*>(kProgram)};
  for (const auto& argument : options.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  ::execv(kProgram, arguments.data());
  ::_exit(127);
}

}  // namespace

ChildDaemon::ChildDaemon(const ChildOptions& options) {
  int output[2] = {-1, -1};
  int errors[2] = {-1, -1};
  EXPECT_EQ(::pipe2(output, O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(errors, O_CLOEXEC), 0);
  pid_ = ::fork();
  if (pid_ == 0) become_daemon(options, output[1], errors[1]);
  EXPECT_GT(pid_, 0);
  ::close(output[1]);
  ::close(errors[1]);
  output_fd_ = output[0];
  errors_fd_ = errors[0];
}

ChildDaemon::~ChildDaemon() {
  if (pid_ > 0 && !is_reaped_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(output_fd_);
  ::close(errors_fd_);
}

std::optional<std::string> ChildDaemon::read_line() {
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    char chunk[4096];
    const auto got = ::read(output_fd_, chunk, sizeof(chunk));
    if (got <= 0) return std::nullopt;
    buffer_.append(chunk, static_cast<std::size_t>(got));
  }
}

void ChildDaemon::signal(int number) const {
  ::kill(pid_, number);
}

int ChildDaemon::wait() {
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  is_reaped_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string ChildDaemon::errors() {
  std::string text;
  char chunk[4096];
  for (;;) {
    const auto got = ::read(errors_fd_, chunk, sizeof(chunk));
    if (got <= 0) return text;
    text.append(chunk, static_cast<std::size_t>(got));
  }
}

}  // namespace iceblink::test
