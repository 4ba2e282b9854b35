#include "daemon/committer.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "daemon/apply.h"
#include "daemon/log_event.h"
#include "daemon/thread_name.h"
#include "daemon/wall_clock.h"
#include "shm/fault_point.h"

namespace iceblink::daemon {
namespace {

using Clock = std::chrono::steady_clock;

/// EX_SOFTWARE, as the daemon's other internal failures exit.
constexpr int kExitStatus = 70;

void end_process(const Error& error) {
  const std::string line =
      "iceblink: the outcome of a commit is unknown, ending without an answer"
      " to be rebuilt from the store: " +
      error.message() + "\n";
  std::fputs(line.c_str(), stderr);
  ::_exit(kExitStatus);
}

struct Request {
  Submission submission;
  std::function<void(CommitAnswer)> answer;
  Clock::time_point submitted_at;
  std::optional<CommitAnswer> verdict = {};  // set when judged, sent when published
};

/// What a group leaves behind in its transaction.
struct GroupEffect {
  std::vector<LoggedChange> changes;
  bool has_answers = false;
};

shm::Change view_of(const LoggedChange& change) {
  return {change.kind,
          change.key,
          change.row.location,
          change.row.table_uuid,
          change.row.metadata_fingerprint,
          change.row.format_version,
          change.generation};
}

}  // namespace

class Committer::State {
 public:
  State(Store& store, shm::Publisher& publisher, CommitterOptions options)
      : store_(store), publisher_(publisher), options_(std::move(options)) {
    if (!options_.on_outcome_unknown) options_.on_outcome_unknown = end_process;
    if (!options_.on_progress) options_.on_progress = [] {};
    if (options_.metrics == nullptr) {
      own_metrics_ = std::make_unique<Metrics>();
      options_.metrics = own_metrics_.get();
    }
    thread_ = std::thread([this] { run(); });
  }
  ~State() { stop(); }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  void hurry() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      hurried_ = true;
    }
    wake_.notify_one();
  }

  void submit(Submission submission, std::function<void(CommitAnswer)> answer);
  [[nodiscard]] CommitterStats stats() const;

 private:
  void run();
  [[nodiscard]] std::vector<Request> take();
  void commit(std::span<Request> group);
  [[nodiscard]] Status attempt(std::span<Request> group);
  [[nodiscard]] Status judge(Store::Writing& writing, std::span<Request> group,
                             GroupEffect& effect) const;
  [[nodiscard]] static Status judge(Store::Writing& writing, Request& request, GroupEffect& effect);
  [[nodiscard]] Status grow();
  void measure(std::span<const Request> group, const Store::Writing& writing,
               Clock::time_point begun_at) const;
  void refuse_queue();
  [[nodiscard]] Status commit_and_publish(Store::Writing& writing, const GroupEffect& effect);
  void answer(std::span<Request> group, std::uint64_t generation);
  void refuse(std::span<Request> group, const Error& error);

  Store& store_;
  shm::Publisher& publisher_;
  CommitterOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Request> queue_;  // guarded by mutex_, as all below
  bool stopping_ = false;
  bool hurried_ = false;
  CommitterStats stats_;

  std::unique_ptr<Metrics> own_metrics_;  // when nobody else wants to see them

  std::thread thread_;
};

void Committer::State::submit(Submission submission, std::function<void(CommitAnswer)> answer) {
  std::optional<Error> refusal;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      refusal = Error(ErrorKind::kNoDaemon, "the daemon is stopping");
    } else if (queue_.size() >= options_.queue_length_max) {
      refusal = Error(ErrorKind::kBusy, std::to_string(queue_.size()) + " commits are waiting");
    } else {
      queue_.push_back({std::move(submission), std::move(answer), Clock::now()});
    }
    if (refusal) ++stats_.refused_count;
  }
  if (refusal) {
    answer(Refused{Refusal::kNone, *refusal, 0});
  } else {
    wake_.notify_one();
  }
}

CommitterStats Committer::State::stats() const {
  const std::lock_guard lock(mutex_);
  CommitterStats stats = stats_;
  stats.queue_length = queue_.size();
  return stats;
}

void Committer::State::run() {
  name_this_thread("committer");
  while (true) {
    // Gone before the next wait: an answered request may hold a connection open.
    std::vector<Request> group = take();
    if (group.empty()) break;
    const auto taken_at = Clock::now();
    for (const Request& request : group) {
      options_.metrics->observe(Timed::kQueueWait, taken_at - request.submitted_at);
    }
    commit(group);
    options_.on_progress();
  }
  refuse_queue();
}

// Everything that waits, up to the group's limit but one list at least. Nothing: it is the end.
std::vector<Request> Committer::State::take() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, options_.progress_period,
                         [&] { return stopping_ || !queue_.empty(); })) {
    lock.unlock();
    options_.on_progress();
    lock.lock();
  }
  std::vector<Request> group;
  if (hurried_) return group;
  std::size_t operation_count = 0;
  while (!queue_.empty()) {
    operation_count += queue_.front().submission.operations.size();
    if (!group.empty() && operation_count > options_.group_operations_max) break;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return group;
}

void Committer::State::commit(std::span<Request> group) {
  const Status status = attempt(group);
  if (status.ok()) return;
  if (group.size() == 1) return refuse(group, status.error());
  // Nothing of the group was done, and one list of it may be the whole cause. Each is judged anew:
  // what was refused may have been refused for what another list had done.
  for (std::size_t i = 0; i < group.size(); ++i) commit(group.subspan(i, 1));
}

// One group, one transaction, one generation. After an error nothing was done and nobody answered.
Status Committer::State::attempt(std::span<Request> group) {
  while (true) {
    const auto begun_at = Clock::now();
    ICEBLINK_ASSIGN_OR_RETURN(auto writing, store_.write());
    const std::uint64_t generation = writing->generation();
    GroupEffect effect;
    Status status = judge(*writing, group, effect);
    if (status.ok() && (!effect.changes.empty() || effect.has_answers)) {
      status = commit_and_publish(*writing, effect);
    }
    const bool map_full = writing->map_full();
    if (status.ok()) measure(group, *writing, begun_at);
    writing.reset();
    if (status.ok()) {
      answer(group, effect.changes.empty() ? generation - 1 : generation);
      return Ok{};
    }
    if (!map_full) return status;
    ICEBLINK_RETURN_IF_ERROR(grow());  // ends with the address space, if not before
  }
}

Status Committer::State::grow() {
  ICEBLINK_RETURN_IF_ERROR(store_.grow());
  options_.metrics->count(Counted::kMapGrown);
  log_event(level::info, "store map grown", {{"map_bytes", store_.extent().map_bytes}});
  options_.on_progress();
  return Ok{};
}

void Committer::State::measure(std::span<const Request> group, const Store::Writing& writing,
                               Clock::time_point begun_at) const {
  std::size_t operation_count = 0;
  for (const Request& request : group) {
    operation_count += request.submission.operations.size();
    const auto* const refused = std::get_if<Refused>(&*request.verdict);
    if (refused != nullptr) options_.metrics->count_conflict(refused->refusal);
  }
  options_.metrics->observe(Sized::kGroupLists, group.size());
  options_.metrics->observe(Sized::kGroupOperations, operation_count);
  options_.metrics->observe(Timed::kTransaction, Clock::now() - begun_at);
  if (writing.sync_time().count() == 0) return;  // nothing was written
  options_.metrics->observe(Timed::kStoreSync, writing.sync_time());
  if (writing.sync_time() < kSlowSync) return;
  options_.metrics->count(Counted::kSlowSync);
  log_event(level::warn, "slow sync",
            {{"what", "store"},
             {"generation", writing.generation()},
             {"duration_ms",
              std::chrono::duration_cast<std::chrono::milliseconds>(writing.sync_time()).count()}});
}

void Committer::State::refuse_queue() {
  std::deque<Request> rest;
  {
    const std::lock_guard lock(mutex_);
    rest.swap(queue_);
    stats_.refused_count += rest.size();
  }
  for (Request& request : rest) {
    request.answer(
        Refused{Refusal::kNone, Error(ErrorKind::kNoDaemon, "the daemon is stopping"), 0});
  }
}

Status Committer::State::judge(Store::Writing& writing, std::span<Request> group,
                               GroupEffect& effect) const {
  for (Request& request : group) {
    ICEBLINK_RETURN_IF_ERROR(judge(writing, request, effect));
    options_.on_progress();
  }
  return Ok{};
}

Status Committer::State::judge(Store::Writing& writing, Request& request, GroupEffect& effect) {
  const auto& [operations, claim] = request.submission;
  if (claim) {
    ICEBLINK_ASSIGN_OR_RETURN(const bool has_room, writing.can_put_answer(now_ms()));
    if (!has_room) {
      request.verdict = Refused{
          Refusal::kNone, Error(ErrorKind::kBusy, "too many idempotency keys have not expired"), 0};
      return Ok{};
    }
  }
  ICEBLINK_ASSIGN_OR_RETURN(auto outcome, apply_operations(writing, operations));
  if (auto* const refused = std::get_if<Refused>(&outcome)) {
    request.verdict = std::move(*refused);
  } else {
    auto& applied = std::get<Applied>(outcome);
    request.verdict = Committed{writing.generation(), std::move(applied.properties)};
    effect.changes.insert(effect.changes.end(), std::make_move_iterator(applied.changes.begin()),
                          std::make_move_iterator(applied.changes.end()));
  }
  if (!claim) return Ok{};
  auto answer = claim->to_store(*request.verdict);
  if (!answer || answer->text.size() > kStoredTextBytesMax) return Ok{};
  answer->binding = claim->binding;
  answer->expires_at_ms = claim->expires_at_ms;
  effect.has_answers = true;
  return writing.put_answer(claim->key, *answer);
}

// Room is reserved for what will be published: after a durable commit, that cannot fail.
Status Committer::State::commit_and_publish(Store::Writing& writing, const GroupEffect& effect) {
  std::vector<shm::Change> views;
  views.reserve(effect.changes.size());
  for (const auto& change : effect.changes) views.push_back(view_of(change));
  ICEBLINK_RETURN_IF_ERROR(publisher_.reserve(views));
  ICEBLINK_FAULT_POINT("commit.before-lmdb");
  if (const Status status = writing.commit(effect.changes); !status.ok()) {
    publisher_.release();
    if (status.error().kind() != ErrorKind::kStateUnknown) return status;
    options_.on_outcome_unknown(status.error());
    std::abort();  // it must not return: there is nothing true to answer
  }
  ICEBLINK_FAULT_POINT("commit.after-lmdb");
  if (views.empty()) {
    publisher_.release();
  } else {
    publisher_.publish(writing.generation(), views);
  }
  return Ok{};
}

void Committer::State::answer(std::span<Request> group, std::uint64_t generation) {
  std::uint64_t refused_count = 0;
  for (Request& request : group) {
    if (auto* const committed = std::get_if<Committed>(&*request.verdict)) {
      committed->generation = generation;
    } else {
      ++refused_count;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    ++stats_.group_count;
    stats_.refused_count += refused_count;
    stats_.commit_count += group.size() - refused_count;
  }
  ICEBLINK_FAULT_POINT("commit.before-answer");
  for (Request& request : group) request.answer(*std::move(request.verdict));
}

void Committer::State::refuse(std::span<Request> group, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    stats_.refused_count += group.size();
  }
  for (Request& request : group) request.answer(Refused{Refusal::kNone, error, 0});
}

Committer::Committer(Store& store, shm::Publisher& publisher, CommitterOptions options)
    : state_(std::make_unique<State>(store, publisher, std::move(options))) {}

Committer::~Committer() = default;

void Committer::submit(Submission submission, std::function<void(CommitAnswer)> answer) {
  state_->submit(std::move(submission), std::move(answer));
}

void Committer::stop() {
  state_->stop();
}

void Committer::hurry() {
  state_->hurry();
}

CommitterStats Committer::stats() const {
  return state_->stats();
}

}  // namespace iceblink::daemon
