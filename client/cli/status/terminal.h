// A terminal that shows one screen over and over, until a key or a signal ends it.
//
// Thread safety: one thread, before others are started: signals are blocked for those, too.
#pragma once

#include <termios.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace iceblink::cli {

class Terminal {
 public:
  /// Blocks SIGINT, SIGTERM and SIGTSTP until the end. Where standard output is a terminal, the
  /// cursor is hidden, and where standard input is one, too, keys are read as they are pressed.
  Terminal();
  /// Everything as it was.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] bool is_one() const noexcept { return is_terminal_; }
  /// In place of what was shown before.
  void show(const std::vector<std::string>& lines);
  /// True when `duration` has passed; false: SIGINT, SIGTERM or the key q asked for the end. At
  /// SIGTSTP the process stops with the terminal as it was.
  [[nodiscard]] bool wait(std::chrono::milliseconds duration);

 private:
  void enter();
  void leave();
  void suspend();
  /// Takes a signal; whether it asks for the end.
  [[nodiscard]] bool is_end();

  bool is_terminal_ = false;
  std::optional<termios> before_;  // of standard input, when that was changed
  sigset_t mask_before_{};
  int signals_ = -1;
};

}  // namespace iceblink::cli
