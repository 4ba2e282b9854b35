#include "client/cli/status/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "client/cli/columns.h"

namespace iceblink::cli {

namespace {

struct Size {
  std::size_t lines = 24;
  std::size_t columns = kColumns;
};

/// Of the terminal on standard output; of a usual one where it does not say.
Size terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return {};
  }
  return {size.ws_row, size.ws_col};
}

bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Terminal::Terminal() : is_terminal_(::isatty(STDOUT_FILENO) == 1) {
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGINT);
  sigaddset(&taken, SIGTERM);
  if (!is_ignored(SIGHUP)) sigaddset(&taken, SIGHUP);
  if (is_terminal_) sigaddset(&taken, SIGTSTP);
  ::sigprocmask(SIG_BLOCK, &taken, &mask_before_);
  signals_ = ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  take_over();
}

Terminal::~Terminal() {
  give_back();
  // What ended the command is taken, so that it does not end the process again.
  signalfd_siginfo taken{};
  while (signals_ >= 0 && ::read(signals_, &taken, sizeof(taken)) > 0) {
  }
  if (signals_ >= 0) ::close(signals_);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void Terminal::take_over() {
  if (!is_terminal_) return;
  std::fputs("\x1b[?25l", stdout);
  std::fflush(stdout);
  termios now{};
  if (::tcgetattr(STDIN_FILENO, &now) != 0) return;
  before_ = now;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

void Terminal::give_back() {
  if (before_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
  before_.reset();
  if (!is_terminal_) return;
  std::fputs(is_full_ ? "\n\x1b[?25h" : "\x1b[?25h", stdout);
  std::fflush(stdout);
  is_full_ = false;
}

void Terminal::stop() {
  give_back();
  // Let in here, it does what it does to others; SIGSTOP would stop also whom nobody continues.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
  take_over();
}

void Terminal::show(const std::vector<std::string>& lines) {
  const Size size = terminal_size();
  std::string screen = "\x1b[H";
  // Cleared before it is written: the cursor stays on the last character of a line that is full.
  for (std::size_t i = 0; i < lines.size() && i < size.lines; ++i) {
    if (i > 0) screen += '\n';
    screen += "\x1b[K" + fit(lines[i], size.columns);
  }
  // A line's end behind the last one would move all of a full screen up.
  is_full_ = lines.size() >= size.lines;
  if (!is_full_) screen += "\n\x1b[J";
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
      signalfd_siginfo taken{};
      if (::read(signals_, &taken, sizeof(taken)) != sizeof(taken)) continue;
      if (taken.ssi_signo != SIGTSTP) return false;
      stop();
      return true;
    }
    if (ends[1].revents == 0) continue;
    char key = 0;
    if (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q') return false;
  }
}

}  // namespace iceblink::cli
