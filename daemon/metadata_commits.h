// Commits that make metadata: creations and updates of tables and views.
//
// The way of one: read the pointer, read and parse its file, check the requirements, apply the
// updates, write and sync the new file, compare and swap the pointer in the committer's next group.
// Nothing is locked on that way. When the pointer has moved meanwhile, the file is removed, and all
// of it is done again on the new base: only a requirement that fails goes to the client.
//
// Several changes are one operation list: all or nothing, one generation.
//
// Thread safety: all of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/committer.h"
#include "daemon/file_pool.h"
#include "daemon/metadata_change.h"
#include "daemon/metadata_file.h"
#include "daemon/operation.h"
#include "daemon/store.h"
#include "daemon/write_roots.h"

namespace iceblink::daemon {

struct ChangesDone {
  std::vector<ChangedMetadata> changed;  // in the order of the changes
  /// Of the commit. Nothing was to be done: what was read last.
  std::uint64_t generation = 0;
  unsigned retry_count = 0;  // how often it was begun anew
};

using ChangesAnswer = std::variant<ChangesDone, Refused>;

struct MetadataCommitsOptions {
  std::string warehouse;  // where tables without a location go
  std::size_t threads = 64;
  std::size_t queue_length_max = 1024;
  /// Of metadata in hand, about; above, other commits are refused with kBusy.
  std::uint64_t bytes_max = std::uint64_t{2} << 30;
  /// How often a commit begins anew before it is refused with kCommitFailed.
  unsigned attempts_max = 100;
  Metrics* metrics = nullptr;  // outlives it; null: nothing is counted for others
};

struct MetadataCommitsStats {
  std::uint64_t retry_count = 0;
  std::uint64_t files_written_count = 0;
  std::uint64_t files_removed_count = 0;  // of commits that failed or were made again
};

class MetadataCommits {
 public:
  /// What is passed by reference outlives it.
  MetadataCommits(Store& store, Committer& committer, MetadataFileRules rules,
                  const WriteRoots& roots, MetadataCommitsOptions options);
  ~MetadataCommits();
  MetadataCommits(const MetadataCommits&) = delete;
  MetadataCommits& operator=(const MetadataCommits&) = delete;

  /// What is stored under the claim's key is told by this; see IdempotencyClaim::to_store.
  struct Claim {
    IdempotencyKey key{};
    shm::Id binding{};
    std::int64_t expires_at_ms = 0;
    StoredAnswer::Form form = StoredAnswer::Form::kTable;  // kEmpty: 204, of a transaction
  };

  /// `answer` is called exactly once, on a thread of this or on the committer's; it must be short,
  /// and must not throw. A refusal is final and not stored under the claim's key: the caller does
  /// that. kBusy at once when too much is waiting.
  void submit(std::vector<MetadataChange> changes, std::optional<Claim> claim,
              std::function<void(ChangesAnswer)> answer);

  /// Refuses, with kNoDaemon and at once, whatever has not gone to the committer yet, and all that
  /// comes; begins no further step of it. Gives how many were refused.
  std::size_t cut_off();
  /// Takes no more; true once nothing is in hand, false at `until`.
  [[nodiscard]] bool end_until(std::chrono::steady_clock::time_point until);
  /// Waits for the changes that have begun; takes no more. Idempotent. Before the committer ends.
  void stop();

  [[nodiscard]] MetadataCommitsStats stats() const noexcept;
  [[nodiscard]] std::size_t queue_length() const noexcept;
  /// Threads with a commit in hand.
  [[nodiscard]] std::size_t busy_count() const noexcept;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace iceblink::daemon
