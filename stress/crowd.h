// The processes that read, write and judge: forked, stopped, killed, replaced, and ended.
//
// Thread safety: one thread, that of the conductor; children are forked from it.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "stress/options.h"
#include "stress/stage.h"

namespace iceblink::stress {

class Crowd {
 public:
  Crowd(Stage& stage, const KeySpace& keys, std::string runtime_dir, std::uint64_t seed);
  /// Kills all that are left, and those that they left.
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  void add_judge();
  void add_writer(unsigned writer);
  void add_reader();
  void add_short_lived_reader();

  void kill_some_reader();
  /// SIGSTOP to one, if none is stopped; SIGCONT to the one that is.
  void stop_or_continue();
  void continue_stopped();

  /// A child has ended with that status of waitpid; readers that are to stay are replaced.
  void bury(pid_t pid, int status);
  [[nodiscard]] bool has_writers() const { return has(Role::kWriter); }
  [[nodiscard]] bool has_readers() const { return has(Role::kReader) || has(Role::kShortLived); }
  [[nodiscard]] bool has_judge() const { return has(Role::kJudge); }
  /// Ended readers are not replaced any more.
  void let_go() { replaces_ = false; }

 private:
  enum class Role : std::uint8_t { kJudge, kWriter, kReader, kShortLived };
  struct Member {
    Role role;
    pid_t pid;
    bool is_stopped = false;
    bool is_killed = false;
  };
  void add(Role role, const std::function<void()>& run);
  [[nodiscard]] bool has(Role role) const;
  [[nodiscard]] Member* some_reader();
  [[nodiscard]] std::uint64_t next_seed() { return seeds_(); }

  Stage& stage_;
  const KeySpace& keys_;
  const std::string runtime_dir_;
  std::mt19937_64 random_;  // whom something happens to
  std::mt19937_64 seeds_;
  std::vector<Member> members_;
  bool replaces_ = true;
};

}  // namespace iceblink::stress
