// iceblinkd as a child process, from the folder of this program.
//
// Thread safety: one thread, which must live as long as the daemon: with it the daemon is killed.
#pragma once

#include <iceblink/result.h>
#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace iceblink::stress {

struct DaemonOptions {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment = {};  // set on top of ours
  std::string errors_file = {};  // standard error is appended; empty: stays ours
};

class DaemonProcess {
 public:
  DaemonProcess() = default;
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  /// Starts it and waits for the line that says it is ready. kNoDaemon: it ended instead;
  /// kTimedOut: it said nothing for kPatience. In both cases it is there for wait(), or kill().
  [[nodiscard]] Status start(const DaemonOptions& options);
  void signal(int number) const;
  /// Waits for its end: the exit code, or minus the number of the signal that killed it.
  int wait();
  /// As wait(), for kPatience at most: nothing when it goes on.
  [[nodiscard]] std::optional<int> wait_patiently();
  /// As wait(), when it has ended; does not wait.
  [[nodiscard]] std::optional<int> try_wait();
  /// SIGKILL: no good-bye, no flush.
  void kill();
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// The folder of this program and the daemon's.
  [[nodiscard]] static std::string folder();

  static constexpr std::chrono::milliseconds kPatience{60'000};

 private:
  pid_t pid_ = -1;
};

}  // namespace iceblink::stress
