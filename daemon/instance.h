// One daemon, running: the store, the publisher, the committer and the server, started in the
// order that the segment's protocol asks for, and stopped in the opposite one.
//
// Thread safety: stop and wait_workers from one thread, none of the server's; reload from one
// thread at a time; the rest from any.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/settings.h"

namespace iceblink::daemon {

class Instance {
 public:
  /// Serves when it returns. kConflict: another daemon holds a lock. kCorrupt, kIncompatible: the
  /// store or the control page. kInvalidArgument: a setting. kNotAllowed, kNoSpace, kIo.
  [[nodiscard]] static Result<std::unique_ptr<Instance>> start(const Settings& settings);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// All that is wrong with settings as far as it can be known without making anything: files of
  /// secrets, users and groups, roots, directories.
  [[nodiscard]] static std::vector<Error> problems_of(const Settings& settings);

  /// Takes what can change from `settings` and uses it for the requests that come from now on.
  /// Returns the names of those settings that differ and need a restart. Errors as problems_of, and
  /// then nothing has changed.
  [[nodiscard]] Result<std::vector<std::string_view>> reload(const Settings& settings);

  /// Answers what was accepted, commits what was queued, says so in the segment, all within the
  /// drain timeout: then whatever has not gone to the writer is refused. Only what the writer has
  /// in hand is waited for without a limit. Idempotent.
  void stop() noexcept;
  /// The time is up now, for the stop() that runs or the one to come.
  void hurry() noexcept;
  /// After stop(): true once no thread has a file in hand any more, which destroying the instance
  /// waits for; false when the drain timeout has passed, or hurry() was called, and some still
  /// have.
  [[nodiscard]] bool wait_workers() noexcept;

  [[nodiscard]] std::uint64_t generation() const;
  [[nodiscard]] std::uint64_t table_count() const;
  [[nodiscard]] std::string socket_path() const;
  /// "https://127.0.0.1:8181"; empty without --listen.
  [[nodiscard]] std::string tcp_url() const;
  /// 0 without --listen.
  [[nodiscard]] std::uint16_t tcp_port() const noexcept;

 private:
  class State;
  explicit Instance(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace iceblink::daemon
