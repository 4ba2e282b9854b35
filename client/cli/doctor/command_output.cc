#include "client/cli/doctor/command_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

extern char** environ;

namespace iceblink::cli {
namespace {

/// Until its end, or the deadline.
std::string read_all(int fd, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd end{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&end, 1, static_cast<int>(left.count())) <= 0) return {};
    char buffer[1024];
    const auto count = ::read(fd, buffer, sizeof(buffer));
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string command_output(const std::vector<std::string>& arguments,
                           std::chrono::milliseconds timeout) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  if (error == 0) {
    text = read_all(ends[0], std::chrono::steady_clock::now() + timeout);
    ::kill(child, SIGKILL);  // no effect on one that has ended
    ::waitpid(child, nullptr, 0);
  }
  ::close(ends[0]);
  return text.substr(0, text.find('\n'));
}

}  // namespace iceblink::cli
