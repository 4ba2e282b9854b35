// A daemon as a child process, in directories of its own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/http/child_daemon.h"
#include "tests/http/http_client.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {

/// Where an instance lives. Several daemons may run there, one after another.
class InstancePlace {
 public:
  [[nodiscard]] std::string runtime_dir() const { return scratch_.path() + "/main"; }
  [[nodiscard]] std::string data_dir() const { return scratch_.path() + "/data"; }
  [[nodiscard]] const ScratchDir& scratch() const noexcept { return scratch_; }

  [[nodiscard]] ChildOptions options(std::vector<std::string> more = {}) const {
    ChildOptions options;
    options.arguments = {"--runtime-dir", runtime_dir(), "--data-dir",
                         data_dir(),      "--map-bytes", "67108864"};
    for (auto& argument : more) options.arguments.push_back(std::move(argument));
    return options;
  }
  [[nodiscard]] HttpClient connect() const {
    return HttpClient::to_unix(runtime_dir() + "/catalog.sock");
  }

 private:
  ScratchDir scratch_;
};

/// What a service manager listens on (sd_notify(3)).
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path);
  ~NotifySocket();
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The next message; empty when none comes within that time.
  std::string receive(int timeout_ms);
  /// Reads until a message has `text` in it. False when it does not come in time (a watchdog's).
  bool wait_for(const std::string& text);
  void forget_what_came();

 private:
  std::string path_;
  int fd_ = -1;
};

/// The thread of that name; -1 when there is none.
[[nodiscard]] pid_t thread_named(pid_t process, const std::string& name);

}  // namespace iceblink::test
