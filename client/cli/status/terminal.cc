#include "client/cli/status/terminal.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace iceblink::cli {

Terminal::Terminal() : is_terminal_(::isatty(STDOUT_FILENO) == 1) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGTSTP);
  ::sigprocmask(SIG_BLOCK, &ends, &mask_before_);
  signals_ = ::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  enter();
}

Terminal::~Terminal() {
  leave();
  // What ended the command is taken, so that it does not end the process again.
  signalfd_siginfo taken{};
  while (signals_ >= 0 && ::read(signals_, &taken, sizeof(taken)) > 0) {
  }
  if (signals_ >= 0) ::close(signals_);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void Terminal::enter() {
  if (!is_terminal_) return;
  std::fputs("\x1b[?25l", stdout);
  std::fflush(stdout);
  termios now{};
  if (::tcgetattr(STDIN_FILENO, &now) != 0) return;
  before_ = now;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

void Terminal::leave() {
  if (before_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
  before_.reset();
  if (!is_terminal_) return;
  std::fputs("\x1b[?25h", stdout);
  std::fflush(stdout);
}

// As Ctrl-Z does without this, with the terminal as the shell wants it meanwhile.
void Terminal::suspend() {
  leave();
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // stops here, until SIGCONT
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
  enter();
}

bool Terminal::is_end() {
  signalfd_siginfo taken{};
  if (::read(signals_, &taken, sizeof(taken)) != sizeof(taken)) return true;
  if (taken.ssi_signo != SIGTSTP) return true;
  suspend();
  return false;
}

void Terminal::show(const std::vector<std::string>& lines) {
  std::string screen = "\x1b[H";
  for (const auto& line : lines) screen += line + "\x1b[K\n";
  screen += "\x1b[J";
  std::fputs(screen.c_str(), stdout);
  std::fflush(stdout);
}

bool Terminal::wait(std::chrono::milliseconds duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    pollfd ends[2] = {{signals_, POLLIN, 0}, {before_ ? STDIN_FILENO : -1, POLLIN, 0}};
    if (::poll(ends, 2, static_cast<int>(left.count())) <= 0) continue;
    if (ends[0].revents != 0) {
      if (is_end()) return false;
      continue;
    }
    if (ends[1].revents == 0) continue;
    char key = 0;
    if (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q') return false;
  }
}

}  // namespace iceblink::cli
