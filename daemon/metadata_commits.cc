#include "daemon/metadata_commits.h"

#include <atomic>
#include <exception>
#include <new>
#include <utility>

#include "daemon/live_pointers.h"
#include "daemon/metadata_change.h"

namespace iceblink::daemon {
namespace {

Refused busy(std::string message) {
  return {Refusal::kNone, Error(ErrorKind::kBusy, std::move(message)), 0};
}

StoredAnswer stored_answer_of(StoredAnswer::Form form, const PreparedChanges& prepared,
                              std::uint64_t generation) {
  StoredAnswer stored;
  stored.form = form;
  stored.status = form == StoredAnswer::Form::kEmpty ? 204 : 200;
  if (form == StoredAnswer::Form::kEmpty || prepared.changes.empty()) return stored;
  const PreparedChange& first = prepared.changes.front();
  stored.row = first.changed.row;
  if (first.file) stored.row.generation = generation;
  return stored;
}

}  // namespace

class MetadataCommits::State {
 public:
  State(Store& store, Committer& committer, MetadataFileRules rules, const WriteRoots& roots,
        MetadataCommitsOptions options)
      : store_(store),
        committer_(committer),
        roots_(roots),
        options_(std::move(options)),
        budget_(options_.bytes_max),
        maker_(store, std::move(rules), roots, budget_, options_.warehouse),
        pool_({.threads = options_.threads, .queue_length_max = options_.queue_length_max}) {}

  void submit(std::vector<MetadataChange> changes, std::optional<Claim> claim,
              std::function<void(ChangesAnswer)> answer) {
    run(std::make_shared<Job>(Job{std::move(changes), claim, std::move(answer)}));
  }
  void stop() { pool_.stop(); }
  [[nodiscard]] MetadataCommitsStats stats() const noexcept {
    // relaxed: counts for showing
    return {retries_.load(std::memory_order_relaxed), written_.load(std::memory_order_relaxed),
            removed_.load(std::memory_order_relaxed)};
  }
  [[nodiscard]] std::size_t queue_length() const noexcept { return pool_.queue_length(); }

 private:
  /// One list of changes on its way to its one answer. One thread at a time.
  struct Job {
    std::vector<MetadataChange> changes;
    std::optional<Claim> claim;
    std::function<void(ChangesAnswer)> answer;
    unsigned attempts = 0;
    PreparedChanges prepared{};

    void finish(ChangesAnswer result) {
      if (auto once = std::exchange(answer, {})) once(std::move(result));
    }
    Job(std::vector<MetadataChange> all, std::optional<Claim> key,
        std::function<void(ChangesAnswer)> reply)
        : changes(std::move(all)), claim(key), answer(std::move(reply)) {}
    Job(Job&&) = default;
    Job& operator=(Job&&) = delete;
    /// A pool that stops drops what has not begun.
    ~Job() {
      if (answer) finish(Refused{Refusal::kNone, {ErrorKind::kNoDaemon, "the daemon is stopping"}});
    }
  };
  using JobPtr = std::shared_ptr<Job>;
  enum class Race : std::uint8_t { kNone, kLost };
  /// Metadata files that fell out of a metadata-log.
  struct OldFiles {
    std::string key;  // encoded, of the table or view
    TableRow row;
    std::vector<std::string> locations;
  };

  void run(const JobPtr& job) {
    const bool taken = pool_.run([this, job] { attempt(job); });
    if (!taken) refuse(job, busy("too many commits are waiting to be written"));
  }

  void attempt(const JobPtr& job) noexcept {
    try {
      ++job->attempts;
      const std::size_t earlier_count = job->prepared.file_count();
      auto prepared = maker_.prepare(job->changes, std::exchange(job->prepared, {}));
      if (auto* const refused = std::get_if<Refused>(&prepared)) {
        // On the newest base: final, unless that moved while its file was read.
        const Race race = refused->refusal == Refusal::kStaleBase ? Race::kLost : Race::kNone;
        return settle(job, std::move(*refused), race);
      }
      job->prepared = std::get<PreparedChanges>(std::move(prepared));
      const std::size_t new_count = job->prepared.new_file_count;
      // relaxed: counts for showing
      written_.fetch_add(new_count, std::memory_order_relaxed);
      removed_.fetch_add(earlier_count + new_count - job->prepared.file_count(),
                         std::memory_order_relaxed);
      submit(job);
    } catch (const std::bad_alloc&) {
      refuse(job, busy("out of memory"));
    } catch (const std::exception& error) {
      refuse(job, busy(std::string("cannot begin the commit: ") + error.what()));
    }
  }

  void submit(const JobPtr& job) {
    Submission submission{job->prepared.operations(), std::nullopt};
    if (job->claim) submission.claim = claim_of(job);
    if (submission.operations.empty() && !submission.claim)
      return done(job, job->prepared.generation);
    committer_.submit(std::move(submission), [this, job](CommitAnswer answer) {
      if (const auto* const committed = std::get_if<Committed>(&answer)) {
        return done(job, committed->generation);
      }
      // Off the committer's thread: files are to be removed, or made again.
      // Operation for operation, the list is that of the changes.
      Refused refused = std::get<Refused>(std::move(answer));
      const Race race = is_lost_race(refused, job->changes) ? Race::kLost : Race::kNone;
      const bool taken = pool_.run([this, job, refused, race] { settle(job, refused, race); });
      if (taken) return;
      refuse(job, race == Race::kLost ? busy("too many commits are waiting to be written")
                                      : std::move(refused));
    });
  }

  // The pointer moved meanwhile: on the new base the requirements may still hold.
  // What was made on bases that still stand is not made again.
  void settle(const JobPtr& job, Refused refused, Race race) {
    if (race == Race::kNone) return refuse(job, std::move(refused));
    if (job->attempts >= options_.attempts_max) {
      refused.refusal = Refusal::kCommitFailed;
      return refuse(job, std::move(refused));
    }
    // relaxed: a count for showing
    retries_.fetch_add(1, std::memory_order_relaxed);
    run(job);
  }

  void refuse(const JobPtr& job, Refused refused) {
    drop_files(*job);
    if (refused.refusal == Refusal::kStaleBase) refused.refusal = Refusal::kCommitFailed;
    job->finish(std::move(refused));
  }

  // On the committer's thread: only what is quick.
  void done(const JobPtr& job, std::uint64_t generation) {
    ChangesDone answer;
    answer.generation = generation;
    std::vector<OldFiles> old_files;
    for (std::size_t i = 0; i < job->prepared.changes.size(); ++i) {
      PreparedChange& change = job->prepared.changes[i];
      if (change.file) {
        change.file->keep();
        change.changed.row.generation = generation;
      }
      if (!change.old_files.empty()) {
        old_files.push_back(
            {encode(job->changes[i].ident), change.changed.row, std::move(change.old_files)});
      }
      answer.changed.push_back(std::move(change.changed));
    }
    job->finish(std::move(answer));
    if (old_files.empty()) return;
    // What cannot be deleted now stays: nothing names it any more.
    static_cast<void>(pool_.run([this, old = std::move(old_files)] {
      for (const OldFiles& files : old) remove_old(files);
    }));
  }

  // Never what another row names, whoever wrote it into the metadata-log.
  void remove_old(const OldFiles& files) noexcept {
    try {
      const auto unnamed = without_named(store_, files.key, files.row, files.locations);
      if (!unnamed) return;
      for (const auto& location : *unnamed) {
        if (maker_.is_old_file_of(files.row, location)) static_cast<void>(roots_.remove(location));
      }
    } catch (const std::bad_alloc&) {
      // They stay.
    }
  }

  void drop_files(Job& job) {
    // relaxed: a count for showing
    removed_.fetch_add(job.prepared.file_count(), std::memory_order_relaxed);
    job.prepared = {};
  }

  [[nodiscard]] static IdempotencyClaim claim_of(const JobPtr& job) {
    return {job->claim->key, job->claim->binding, job->claim->expires_at_ms,
            [job](const CommitAnswer& answer) -> std::optional<StoredAnswer> {
              const auto* const committed = std::get_if<Committed>(&answer);
              if (committed == nullptr) return std::nullopt;  // it may be tried again
              return stored_answer_of(job->claim->form, job->prepared, committed->generation);
            }};
  }

  Store& store_;
  Committer& committer_;
  const WriteRoots& roots_;
  const MetadataCommitsOptions options_;
  ByteBudget budget_;
  const ChangeMaker maker_;
  std::atomic<std::uint64_t> retries_{0};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> removed_{0};
  FilePool pool_;
};

MetadataCommits::MetadataCommits(Store& store, Committer& committer, MetadataFileRules rules,
                                 const WriteRoots& roots, MetadataCommitsOptions options)
    : state_(
          std::make_unique<State>(store, committer, std::move(rules), roots, std::move(options))) {}

MetadataCommits::~MetadataCommits() = default;

void MetadataCommits::submit(std::vector<MetadataChange> changes, std::optional<Claim> claim,
                             std::function<void(ChangesAnswer)> answer) {
  state_->submit(std::move(changes), claim, std::move(answer));
}

void MetadataCommits::stop() {
  state_->stop();
}

MetadataCommitsStats MetadataCommits::stats() const noexcept {
  return state_->stats();
}

std::size_t MetadataCommits::queue_length() const noexcept {
  return state_->queue_length();
}

}  // namespace iceblink::daemon
