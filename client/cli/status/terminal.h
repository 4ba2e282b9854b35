// A terminal that shows one screen over and over, until a key or a signal ends it.
//
// Thread safety: one thread, before others are started: signals are blocked for those, too.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace iceblink::cli {

class Terminal {
 public:
  /// Blocks SIGINT, SIGTERM and SIGHUP (unless it is ignored, as nohup does) until the end. Where
  /// standard output is a terminal, SIGTSTP, too, and the cursor is hidden; and where standard
  /// input is one, too, keys are read as they are pressed.
  Terminal();
  /// Everything as it was.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] bool is_one() const noexcept { return is_terminal_; }
  /// In place of what was shown before, as much of it as the terminal has lines and columns for.
  void show(const std::vector<std::string>& lines);
  /// True when `duration` has passed, or the process was stopped and goes on (what was shown may be
  /// gone from the screen); false: SIGINT, SIGTERM, SIGHUP or the key q asked for the end. While it
  /// is stopped by SIGTSTP the terminal is as it was.
  [[nodiscard]] bool wait(std::chrono::milliseconds duration);

 private:
  void take_over();
  void give_back();
  void stop();

  bool is_terminal_ = false;
  std::optional<termios> before_;  // of standard input, when that was changed
  bool is_full_ = false;           // the cursor is behind the last line
  sigset_t mask_before_{};
  int signals_ = -1;
};

}  // namespace iceblink::cli
