// The iceblinkd program as a child process: killed and reaped by its pid, whatever happens.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace iceblink::test {

struct ChildOptions {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // set on top of ours
  int inherited_fd = -1;            // becomes descriptor 3, with LISTEN_PID and LISTEN_FDS
  bool errors_are_journal = false;  // JOURNAL_STREAM names its standard error
};

class ChildDaemon {
 public:
  explicit ChildDaemon(const ChildOptions& options);
  ~ChildDaemon();
  ChildDaemon(const ChildDaemon&) = delete;
  ChildDaemon& operator=(const ChildDaemon&) = delete;

  /// The next line of its standard output; nullopt when it ended without one.
  std::optional<std::string> read_line();
  void signal(int number) const;
  /// Waits for its end: the exit code, or minus the number of the signal that killed it.
  int wait();
  /// What it wrote to standard error; after wait().
  std::string errors();
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = -1;
  bool is_reaped_ = false;
  int output_fd_ = -1;
  int errors_fd_ = -1;
  std::string buffer_;
};

}  // namespace iceblink::test
