#include "daemon/metadata_commits.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "daemon/live_pointers.h"
#include "daemon/metadata_change.h"

namespace iceblink::daemon {
namespace {

Refused stopping() {
  return {Refusal::kNone, {ErrorKind::kNoDaemon, "the daemon is stopping"}};
}

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
        own_metrics_(options_.metrics == nullptr ? std::make_unique<Metrics>() : nullptr),
        metrics_(own_metrics_ ? *own_metrics_ : *options_.metrics),
        maker_(store, std::move(rules), roots, budget_, options_.warehouse, metrics_),
        pool_({.threads = options_.threads,
               .queue_length_max = options_.queue_length_max,
               .name = "commit"}) {}

  void submit(std::vector<MetadataChange> changes, std::optional<Claim> claim,
              std::function<void(ChangesAnswer)> answer) {
    run(std::make_shared<Job>(Job{std::move(changes), claim, std::move(answer)}));
  }
  void stop() { pool_.stop(); }
  std::size_t cut_off();
  [[nodiscard]] bool end_until(std::chrono::steady_clock::time_point until) {
    pool_.close();
    return pool_.wait_idle(until);
  }
  [[nodiscard]] MetadataCommitsStats stats() const noexcept {
    // relaxed: counts for showing
    return {retries_.load(std::memory_order_relaxed), written_.load(std::memory_order_relaxed),
            removed_.load(std::memory_order_relaxed)};
  }
  [[nodiscard]] std::size_t queue_length() const noexcept { return pool_.queue_length(); }
  [[nodiscard]] std::size_t busy_count() const noexcept { return pool_.busy_count(); }

 private:
  /// One list of changes on its way to its one answer. One thread at a time, but for the answer:
  /// that is given by whoever has claimed it.
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
    if (!put_on_the_way(job)) return refuse(job, stopping());
    const bool taken = pool_.run([this, job] { attempt(job); });
    if (!taken && claim(job)) refuse(job, busy("too many commits are waiting to be written"));
  }

  // False: nothing more is begun.
  [[nodiscard]] bool put_on_the_way(const JobPtr& job) {
    const std::lock_guard lock(mutex_);
    // relaxed: under the mutex, as where it is set
    if (is_cut_off_.load(std::memory_order_relaxed)) return false;
    on_the_way_.insert_or_assign(job.get(), job);
    return true;
  }

  // True for one caller, who then sees to the answer.
  [[nodiscard]] bool claim(const JobPtr& job) {
    const std::lock_guard lock(mutex_);
    return on_the_way_.erase(job.get()) == 1;
  }

  void attempt(const JobPtr& job) noexcept {
    bool is_claimed = false;
    try {
      ++job->attempts;
      const std::size_t earlier_count = job->prepared.file_count();
      auto prepared = maker_.prepare(job->changes, std::exchange(job->prepared, {}), is_cut_off_);
      is_claimed = claim(job);
      if (!is_claimed) return;  // what was prepared goes with it
      if (auto* const refused = std::get_if<Refused>(&prepared)) {
        // On the newest base: final, unless that moved while its file was read.
        const Race race = refused->refusal == Refusal::kStaleBase ? Race::kLost : Race::kNone;
        metrics_.count_conflict(refused->refusal);
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
      if (is_claimed || claim(job)) refuse(job, busy("out of memory"));
    } catch (const std::exception& error) {
      if (!is_claimed && !claim(job)) return;
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
    answer.retry_count = job->attempts - 1;
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
  const std::unique_ptr<Metrics> own_metrics_;  // when nobody else wants to see them
  Metrics& metrics_;
  const ChangeMaker maker_;
  std::atomic<bool> is_cut_off_{false};  // set under mutex_
  std::mutex mutex_;
  /// What has not gone to the committer, guarded by mutex_. What the pool has dropped is null.
  std::unordered_map<const Job*, std::weak_ptr<Job>> on_the_way_;
  std::atomic<std::uint64_t> retries_{0};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> removed_{0};
  FilePool pool_;
};

std::size_t MetadataCommits::State::cut_off() {
  std::unordered_map<const Job*, std::weak_ptr<Job>> claimed;
  {
    const std::lock_guard lock(mutex_);
    // relaxed: a sign, after which less is done
    is_cut_off_.store(true, std::memory_order_relaxed);
    claimed.swap(on_the_way_);
  }
  std::size_t count = 0;
  for (const auto& [address, weak] : claimed) {
    const JobPtr job = weak.lock();
    if (!job) continue;
    job->finish(stopping());
    ++count;
  }
  return count;
}

MetadataCommits::MetadataCommits(Store& store, Committer& committer, MetadataFileRules rules,
                                 const WriteRoots& roots, MetadataCommitsOptions options)
    : state_(
          std::make_unique<State>(store, committer, std::move(rules), roots, std::move(options))) {}

MetadataCommits::~MetadataCommits() = default;

void MetadataCommits::submit(std::vector<MetadataChange> changes, std::optional<Claim> claim,
                             std::function<void(ChangesAnswer)> answer) {
  state_->submit(std::move(changes), claim, std::move(answer));
}

std::size_t MetadataCommits::cut_off() {
  return state_->cut_off();
}

bool MetadataCommits::end_until(std::chrono::steady_clock::time_point until) {
  return state_->end_until(until);
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

std::size_t MetadataCommits::busy_count() const noexcept {
  return state_->busy_count();
}

}  // namespace iceblink::daemon
