// Running a program of the build: its exit code, and what it printed.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace iceblink::testing {

struct Finished {
  int exit_code = -1;  // -1: ended by a signal
  std::string out;
  std::string err;
};

/// A child process with pipes. Killed, if it still runs, at the end.
class Program {
 public:
  Program(const std::string& name, const std::vector<std::string>& arguments) {
    int in[2];
    int out[2];
    int err[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 ||
        ::pipe2(err, O_CLOEXEC) != 0) {
      std::abort();
    }
    const std::string path = std::string(ICEBLINK_BIN_DIR) + "/" + name;
    std::vector<char*> argv{const_cast<char*>(path.c_str())};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::dup2(err[1], 2);
      ::execv(path.c_str(), argv.data());
      ::_exit(127);
    }
    for (const int end : {in[0], out[1], err[1]}) ::close(end);
    in_ = in[1];
    out_ = out[0];
    err_ = err[0];
  }
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (const int end : {in_, out_, err_}) {
      if (end >= 0) ::close(end);
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Writes to its standard input, which stays open. For less than a pipe holds.
  void say(const std::string& text) const {
    if (::write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  }
  /// The same, and its standard input ends there.
  void feed(const std::string& text) {
    say(text);
    ::close(in_);
    in_ = -1;
  }
  /// The next line of its standard output; empty at the end.
  std::string line() { return line_from(out_); }
  /// The same of its standard error.
  std::string error_line() { return line_from(err_); }
  void signal(int number) const { ::kill(pid_, number); }

  Finished wait() {
    if (in_ >= 0) feed("");
    Finished finished;
    pollfd ends[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    std::string* const texts[2] = {&finished.out, &finished.err};
    for (int open = 2; open > 0;) {
      ::poll(ends, 2, -1);
      for (int i = 0; i < 2; ++i) {
        if (ends[i].fd < 0 || ends[i].revents == 0) continue;
        char buffer[4096];
        const auto count = ::read(ends[i].fd, buffer, sizeof(buffer));
        if (count > 0) {
          texts[i]->append(buffer, static_cast<std::size_t>(count));
        } else {
          ends[i].fd = -1;
          --open;
        }
      }
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
    return finished;
  }

 private:
  static std::string line_from(int end) {
    std::string text;
    char c = 0;
    while (::read(end, &c, 1) == 1 && c != '\n') text += c;
    return text;
  }

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
};

}  // namespace iceblink::testing
