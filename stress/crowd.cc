#include "stress/crowd.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "stress/judge.h"
#include "stress/reader.h"
#include "stress/writer.h"

namespace iceblink::stress {

Crowd::Crowd(Stage& stage, const KeySpace& keys, std::string runtime_dir, std::uint64_t seed)
    : stage_(stage),
      keys_(keys),
      runtime_dir_(std::move(runtime_dir)),
      random_(seed),
      seeds_(seed + 1) {}

Crowd::~Crowd() {
  for (const Member& member : members_) ::kill(member.pid, SIGKILL);
  for (const Member& member : members_) ::waitpid(member.pid, nullptr, 0);
  // Children of readers have died with them, and have come to us.
  for (const auto& stream : stage_.streams) {
    const auto pid = static_cast<pid_t>(stream.owner.load(std::memory_order_relaxed) &
                                        (Stage::kAbandoned - 1));  // relaxed: all have ended
    if (pid > 0) ::waitpid(pid, nullptr, 0);
  }
}

void Crowd::add(Role role, const std::function<void()>& run) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    run();
    ::_exit(70);
  }
  if (pid < 0) std::abort();
  members_.push_back({role, pid});
}

void Crowd::add_judge() {
  add(Role::kJudge, [this] { judge_on(stage_, keys_, runtime_dir_); });
}

void Crowd::add_writer(unsigned writer) {
  const std::uint64_t seed = next_seed();
  add(Role::kWriter, [=, this] { write_on(stage_, keys_, writer, runtime_dir_, seed); });
}

void Crowd::add_reader() {
  const std::uint64_t seed = next_seed();
  add(Role::kReader, [=, this] { read_on({stage_, keys_, runtime_dir_, seed}); });
}

void Crowd::add_short_lived_reader() {
  const std::uint64_t seed = next_seed();
  add(Role::kShortLived, [=, this] { read_briefly({stage_, keys_, runtime_dir_, seed}); });
}

bool Crowd::has(Role role) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return member.role == role; });
}

Crowd::Member* Crowd::some_reader() {
  std::vector<Member*> readers;
  for (Member& member : members_) {
    if (member.role == Role::kReader && !member.is_stopped && !member.is_killed) {
      readers.push_back(&member);
    }
  }
  return readers.empty() ? nullptr : readers[random_() % readers.size()];
}

void Crowd::kill_some_reader() {
  Member* const reader = some_reader();
  if (reader == nullptr) return;
  reader->is_killed = true;
  ::kill(reader->pid, SIGKILL);
  stage_.count(Counted::kReaderKills);
}

void Crowd::stop_or_continue() {
  const bool had_one = std::any_of(members_.begin(), members_.end(),
                                   [](const Member& member) { return member.is_stopped; });
  if (had_one) return continue_stopped();
  if (Member* const reader = some_reader()) {
    reader->is_stopped = true;
    ::kill(reader->pid, SIGSTOP);
    stage_.count(Counted::kStops);
  }
}

void Crowd::continue_stopped() {
  for (Member& member : members_) {
    if (!member.is_stopped) continue;
    member.is_stopped = false;
    ::kill(member.pid, SIGCONT);
  }
}

void Crowd::bury(pid_t pid, int status) {
  stage_.abandon_streams_of(pid);
  const auto member = std::find_if(members_.begin(), members_.end(),
                                   [&](const Member& one) { return one.pid == pid; });
  if (member == members_.end()) return;  // a child of a reader that was killed
  const bool is_killed = member->is_killed;
  const Role role = member->role;
  members_.erase(member);
  if (!is_killed && status != 0) {
    stage_.report(Wrong::kReader, "a process of ours ended with status " + std::to_string(status));
  }
  if (role == Role::kReader && replaces_) add_reader();
}

}  // namespace iceblink::stress
