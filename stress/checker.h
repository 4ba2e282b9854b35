// Judges every answer of every reader, and every operation of every writer, against the history of
// the daemon's own log.
//
// The history is the log: what is durable, in the order in which it became so. It is read over HTTP
// from the daemon, never from the segment, so that each of log, acknowledgements and answers is
// held against the two others.
//
// Operations against the log. A writer records an operation before it sends anything of it. Each
// change of the log must be claimed by exactly one recorded operation that has such an effect: of
// the key's owner, or, for keys that several writers change, of the writer whose number the value
// is. An operation that has ended is settled once the log reaches its generation:
//   acknowledged as g       all its effects were claimed, at g alone
//   acknowledged again      all, at one generation, which is g or below (a retry with its key)
//   refused, never sent     none
//   unknown                 all at one generation, or none. The writer says so only after a later
//                           daemon has answered it with generation g: the one before is dead
// It is forgotten then, so that a change which comes later, from nowhere or from an operation that
// was not done, finds nobody who claims it.
//
// Answers against the history. An answer is judged once the history reaches its generation; until
// then it stays in its reader's ring, and a full ring holds its reader up.
//   - One generation: each sight is the key's value there. That is what linearisable per table and
//     consistent across tables, groups and listings come to, when the generation is known.
//   - Not known (lookups without a snapshot): there is one generation at which all sights of the
//     call are true, at or above all that the reader's stream had seen and all that was
//     acknowledged before the call, at or below what a look at the generation just after it gave.
//     The earliest such generation is what the stream has seen from then on.
//   - Real time: the reader loads the highest acknowledged generation before it begins; the writers
//     store it after each answer. Whoever reads then sees that generation or a later one. And no
//     value is seen before its operation was begun, by the clock.
//   - Monotonic: a stream (a thread of a process; a forked child goes on from where its parent was)
//     never sees a lower generation, but in a snapshot that it holds.
//   - The feed: each change of generation g at place i of its generation has a hash; the answer's
//     sum over (from, to] must be the difference of two sums of the history.
//   - A wait that passed did not begin after a later generation had been acknowledged.
//
// Costs: O(log n) a sight. Memory: operations in flight, and the history from the oldest generation
// that a stream may still speak of (each answer says which), less a margin for streams that begin.
//
// Thread safety: none. Nothing here knows of processes or shared memory.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stress/findings.h"
#include "stress/history.h"
#include "stress/record.h"

namespace iceblink::stress {

/// What was judged.
struct Judged {
  std::uint64_t acknowledged = 0, refused = 0, unknown_done = 0, unknown_not_done = 0;
  std::uint64_t repeated = 0;  ///< acknowledged when asked again
  std::uint64_t answers = 0, sights = 0, changes = 0;
};

class Checker {
 public:
  Checker(const KeySpace& keys, Findings& findings);

  // ---- Writers and the log. In this order in each round: fetch the log, take in what writers
  // recorded, then tell the log: whatever is in it was recorded before.

  void take(unsigned writer, const WriterRecord& record);
  /// A change as the log has it; `begun_ns` is found out here.
  void log(std::uint64_t generation, std::span<const Change> changes);
  /// The log has nothing more up to `generation`.
  void reach(std::uint64_t generation) { history_.reach(generation); }
  /// Settles what can be.
  void settle();
  /// Operations that have begun, and are not settled.
  [[nodiscard]] std::size_t open_operations() const;

  // ---- Readers.

  using StreamId = std::uint32_t;
  /// A stream that has not yet said anything; holds the history where it is until it does.
  void open_stream(StreamId stream);
  /// False: not yet, the history does not reach so far.
  [[nodiscard]] bool can_judge(const Answer& answer) const;
  void judge(StreamId stream, const Answer& answer);
  /// Nothing follows, whether or not it said so.
  void close_stream(StreamId stream) { streams_.erase(stream); }

  /// Lets go of history that nobody will speak of.
  void trim();

  [[nodiscard]] const History& history() const noexcept { return history_; }
  [[nodiscard]] const Judged& judged() const noexcept { return judged_; }
  /// Generations that are kept for streams that begin.
  static constexpr std::uint64_t kMargin = 4096;
  /// Changes from which on an answer of the feed may be a part, as Catalog::kChangesPerCall.
  static constexpr std::uint64_t kFeedPart = 10'000;

 private:
  struct Operation {
    WriterRecord begun;
    bool has_ended = false;
    Outcome outcome = Outcome::kUnknown;
    std::uint64_t generation = 0;  // of its end
    std::uint32_t claimed = 0;     // a bit for each effect
    std::uint64_t claimed_at = 0;
  };
  struct Stream {
    std::uint64_t low = 0;     // has been seen
    std::uint64_t oldest = 0;  // may still be spoken of
  };

  [[nodiscard]] static bool could_have_done(const Operation& operation, std::uint64_t generation);
  /// Who did it: when that operation began; 0 when nobody did.
  std::uint64_t claim(std::uint64_t generation, const Change& change);
  Operation* find_claimant(unsigned writer, std::uint64_t generation, const Change& change,
                           std::size_t& effect);
  void settle(const Operation& operation);
  void judge_at(StreamId stream, const Answer& answer);
  void judge_within(StreamId stream, Stream& state, const Answer& answer);
  void judge_feed(StreamId stream, const Answer& answer);
  void judge_progress(StreamId stream, Stream& state, const Answer& answer);
  [[nodiscard]] std::vector<Stretch> where(const Answer& answer, Stretch within) const;
  void explain_within(StreamId stream, const Stream& state, const Answer& answer, Stretch within);
  void wrong_sight(StreamId stream, const Answer& answer, std::size_t sight);
  [[nodiscard]] std::string describe(const Operation& operation) const;
  [[nodiscard]] std::string describe(Key key, Value value) const;

  const KeySpace& keys_;
  Findings& findings_;
  History history_;
  std::vector<std::vector<Operation>> open_;  // by writer, in the order of beginning
  std::map<StreamId, Stream> streams_;
  Judged judged_;
};

}  // namespace iceblink::stress
