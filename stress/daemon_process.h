// iceblinkd as a child process, from the folder of this program.
#pragma once

#include <iceblink/result.h>
#include <sys/types.h>

#include <string>

namespace iceblink::demo {

class DaemonProcess {
 public:
  DaemonProcess(std::string runtime_dir, std::string data_dir);
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  /// Starts it and waits for the line that says it is ready.
  [[nodiscard]] Status start();
  /// SIGKILL: no good-bye, no flush.
  void kill();
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  const std::string runtime_dir_;
  const std::string data_dir_;
  pid_t pid_ = -1;
};

}  // namespace iceblink::demo
