#include "stress/judge.h"

#include <iceblink/catalog.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

#include "stress/checker.h"
#include "stress/daemon_log.h"

namespace iceblink::stress {
namespace {

constexpr unsigned kPauseUs = 5000;
constexpr unsigned kRoundsPerTrim = 50;
constexpr std::uint64_t kEndMaxNs = 60'000'000'000;  // from the end of all others to our own

class Judge {
 public:
  Judge(Stage& stage, const KeySpace& keys, Catalog catalog)
      : stage_(stage),
        keys_(keys),
        catalog_(std::move(catalog)),
        log_(keys, catalog_.runtime_dir()),
        checker_(keys, findings_) {}

  void run() {
    std::uint64_t over_since_ns = 0;
    for (unsigned round = 1;; ++round) {
      const bool is_over = stage_.is_over.load(std::memory_order_relaxed);  // relaxed: asked again
      judge_round();
      if (round % kRoundsPerTrim == 0) checker_.trim();
      say_findings();
      if (is_over) {
        if (over_since_ns == 0) over_since_ns = now_ns();
        if (is_done()) return audit();
        if (now_ns() - over_since_ns > kEndMaxNs) return give_up();
      }
      ::usleep(kPauseUs);
    }
  }

 private:
  void judge_round() {
    auto part = log_.after(checker_.history().generation());
    const bool is_read = part.ok();
    is_log_whole_ = is_read && !part->has_more;
    if (!is_read && part.error().kind() != ErrorKind::kNoDaemon &&
        part.error().kind() != ErrorKind::kTimedOut && part.error().kind() != ErrorKind::kBusy) {
      findings_.add(part.error().kind() == ErrorKind::kCorrupt ? Wrong::kPhantom : Wrong::kLost,
                    "the log after generation " + std::to_string(checker_.history().generation()) +
                        ": " + part.error().message());
    }
    // After the log was read, so that whoever is in it had been recorded.
    for (unsigned writer = 0; writer < keys_.writers(); ++writer) {
      auto& lane = stage_.lanes[writer];
      for (; const WriterRecord* record = lane.front(); lane.pop()) checker_.take(writer, *record);
    }
    if (is_read) {
      for (const auto& [generation, changes] : part->generations) checker_.log(generation, changes);
      checker_.reach(part->reached);
    }
    checker_.settle();
    for (std::size_t i = 0; i < stage_.streams.size(); ++i) {
      take_stream(static_cast<Checker::StreamId>(i), stage_.streams[i]);
    }
    count_flips();
  }

  void take_stream(Checker::StreamId id, Stage::Stream& stream) {
    // SYNC stress-stream: acquires the end of an owner; partner Stage::abandon_streams_of
    const std::uint64_t owner = stream.owner.load(std::memory_order_acquire);
    if (owner == 0) return;
    checker_.open_stream(id);
    bool is_ended = false;
    for (; const Answer* answer = stream.answers.front(); stream.answers.pop()) {
      if (!checker_.can_judge(*answer)) return;
      checker_.judge(id, *answer);
      is_ended = answer->kind == Answer::Kind::kEnd;
    }
    if (!is_ended && (owner & Stage::kAbandoned) == 0) return;
    checker_.close_stream(id);
    // SYNC stress-stream: releases the emptied ring; partner Stage::claim_stream
    stream.owner.store(0, std::memory_order_release);
  }

  // An epoch more while the same daemon lives is a flip.
  void count_flips() {
    const auto info = catalog_.info();
    if (!info) return;
    const std::uint32_t pid = catalog_.health().pid;
    if (pid != 0 && pid == daemon_pid_) {
      for (; epoch_ < info->epoch; ++epoch_) stage_.count(Counted::kFlips);
    }
    daemon_pid_ = pid;
    epoch_ = info->epoch;
  }

  void say_findings() {
    const auto& lines = findings_.lines();
    for (; said_ < lines.size(); ++said_) stage_.report(findings_.kinds()[said_], lines[said_]);
    const std::uint64_t unsaid = findings_.count() - lines.size();
    // relaxed: a counter, for showing
    stage_.finding_count.fetch_add(unsaid - unsaid_, std::memory_order_relaxed);
    unsaid_ = unsaid;
    const Judged& judged = checker_.judged();
    stage_.sums = {judged.acknowledged, judged.repeated,         judged.refused,
                   judged.unknown_done, judged.unknown_not_done, judged.answers,
                   judged.sights,       judged.changes,          checker_.history().generation()};
  }

  [[nodiscard]] bool is_done() const {
    return is_log_whole_ && !stage_.has_streams() && checker_.open_operations() == 0;
  }

  void give_up() {
    findings_.add(Wrong::kCheck,
                  "not all could be judged: " + std::to_string(checker_.open_operations()) +
                      " operations are open, streams " + (stage_.has_streams() ? "too" : "not") +
                      "; the log is at " + std::to_string(checker_.history().generation()));
    say_findings();
  }

  /// The store, by its listing, and the segment: both are what the history comes to.
  void audit() {
    auto listing = log_.objects();
    const auto snapshot = catalog_.snapshot();
    if (!listing || !snapshot) {
      findings_.add(Wrong::kAudit,
                    !listing ? listing.error().message() : snapshot.error().message());
      return say_findings();
    }
    for (const std::uint64_t generation : {listing->generation, snapshot->generation()}) {
      if (generation == checker_.history().generation()) continue;
      findings_.add(Wrong::kAudit, "the log ends at generation " +
                                       std::to_string(checker_.history().generation()) +
                                       ", store or segment at " + std::to_string(generation));
    }
    for (Key key = 0; key < keys_.first_group(); ++key) {
      if (!keys_.is_namespace(key) && !keys_.is_object(key)) continue;
      const Value right = checker_.history().current(key).value;
      if (const Value stored = listing->values[key]; stored != right) {
        differ("the store", key, stored, right);
      }
      if (const Value seen = in_segment(*snapshot, key); seen != right) {
        differ("the segment", key, seen, right);
      }
    }
    say_findings();
  }

  void differ(std::string_view where, Key key, Value is, Value right) {
    findings_.add(Wrong::kAudit, std::string(where) + " has " + keys_.name(key) + " as " +
                                     std::to_string(is) + ", the history " + std::to_string(right));
  }

  [[nodiscard]] Value in_segment(const Snapshot& snapshot, Key key) const {
    if (keys_.is_namespace(key)) {
      const auto exists = snapshot.namespace_exists({keys_.namespace_name(key)});
      return exists && *exists ? 1 : 0;
    }
    const auto found = snapshot.find(keys_.object(key).ident);
    if (!found || !*found) return kAbsent;
    return value_of_location((*found)->metadata_location(), (*found)->kind());
  }

  Stage& stage_;
  const KeySpace& keys_;
  const Catalog catalog_;
  DaemonLog log_;
  Findings findings_;
  Checker checker_;
  bool is_log_whole_ = false;
  std::size_t said_ = 0;
  std::uint64_t unsaid_ = 0;
  std::uint32_t daemon_pid_ = 0;
  std::uint32_t epoch_ = 0;
};

}  // namespace

void judge_on(Stage& stage, const KeySpace& keys, const std::string& runtime_dir) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto catalog = Catalog::open(runtime_dir);
  if (!catalog) {
    stage.report(Wrong::kReader, "open: " + catalog.error().message());
    ::_exit(1);
  }
  Judge(stage, keys, std::move(*catalog)).run();
  ::_exit(0);
}

}  // namespace iceblink::stress
