// The one writer: takes everything in its queue into one LMDB transaction, reserves room in the
// segment, commits durably, publishes once, and only then answers everybody.
//
// Thread safety: submit from any thread. Answers are called on the committer's thread and must
// be short (post to an executor). No answer, refusals included, leaves before the publish of
// the group it was judged in.
//
// A list of operations is all or nothing. When a group does not fit into the segment or the
// disk, its members are tried one by one, so that one huge list does not refuse the others.
//
// The writer itself says that it gets on: while it waits, after each list that it has judged and
// each group that it has published. A transaction, a sync or a publish that is stuck says nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "daemon/idempotency.h"
#include "daemon/metrics.h"
#include "daemon/operation.h"
#include "shm/publisher.h"

namespace iceblink::daemon {

using CommitAnswer = std::variant<Committed, Refused>;

/// A list of operations, and the key under which its answer is to be found again.
struct Submission {
  std::vector<Operation> operations;  // none: only the claim's answer is stored
  std::optional<IdempotencyClaim> claim;
};

struct CommitterOptions {
  std::size_t queue_length_max = 4096;  // above: refused at once with kBusy
  std::size_t group_operations_max = 65536;
  /// Called when a durable commit's outcome is unknown (rule 13); must not return. Without one,
  /// the message goes to stderr and the process exits with status 70.
  std::function<void(const Error&)> on_outcome_unknown;
  /// Called on the writer's thread whenever it gets on, often: must be short, and must not throw.
  std::function<void()> on_progress;
  std::chrono::milliseconds progress_period{1000};  // while there is nothing to do
  Metrics* metrics = nullptr;  // outlives the committer; null: nothing is counted for others
};

struct CommitterStats {
  std::uint64_t commit_count = 0;  // operation lists committed
  std::uint64_t refused_count = 0;
  std::uint64_t group_count = 0;  // LMDB transactions
  std::uint64_t queue_length = 0;
};

class Committer {
 public:
  Committer(Store& store, shm::Publisher& publisher, CommitterOptions options);
  /// Stops taking, finishes what is queued, ends the thread.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// `answer` is called exactly once; at once, on this thread, when the queue is full (kBusy)
  /// or the committer is stopping (kNoDaemon). With a claim, what it makes of the answer is stored
  /// in the transaction of the effect; a refusal is stored, too, unless the claim makes nothing
  /// of it. kBusy: no more answers can be kept.
  void submit(Submission submission, std::function<void(CommitAnswer)> answer);

  /// Takes no more, finishes what is queued, ends the thread. Idempotent; by one thread.
  void stop();
  /// Takes no more; only the group in hand is finished, the rest of the queue is refused
  /// (kNoDaemon). From any thread, also while stop() runs.
  void hurry();

  [[nodiscard]] CommitterStats stats() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace iceblink::daemon
