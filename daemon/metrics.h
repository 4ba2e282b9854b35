// What the daemon counts and times on the way of a commit, to be scraped as Prometheus has it.
//
// Thread safety: all of it. An observation takes a mutex of its own for nanoseconds: once a commit
// or group is fine, once a read is not. What reads count are atomics elsewhere.
//
// Names of tables, views and namespaces are never labels: there is no bound on them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "daemon/operation.h"

namespace prometheus {
struct MetricFamily;
}

namespace iceblink::daemon {

/// What is timed, each a histogram in seconds.
enum class Timed : std::uint8_t {
  kCommit,         // from the request to its answer, of commits that were done
  kQueueWait,      // of an operation list, before the writer took it
  kTransaction,    // of a group, from its begin until it is published
  kStoreSync,      // LMDB's commit: its writes and fdatasync
  kMetadataWrite,  // of a metadata file, without the syncs
  kMetadataSync,   // of a metadata file and its directory
  kFlip,           // an arena, from the start of its build until it is current
};
inline constexpr std::size_t kTimedCount = 7;

/// What is measured by size, each a histogram.
enum class Sized : std::uint8_t {
  kGroupLists,       // operation lists in one LMDB transaction
  kGroupOperations,  // operations in one LMDB transaction
};
inline constexpr std::size_t kSizedCount = 2;

/// What is only counted.
enum class Counted : std::uint8_t { kMapGrown, kSlowSync };
inline constexpr std::size_t kCountedCount = 2;

/// A sync that takes longer is worth a line in the log.
inline constexpr std::chrono::milliseconds kSlowSync{1000};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void observe(Timed what, std::chrono::nanoseconds time) noexcept;
  void observe(Sized what, std::uint64_t size) noexcept;
  void count(Counted what) noexcept;
  /// A list was judged and refused; kNone is no conflict, and counts nowhere.
  void count_conflict(Refusal refusal) noexcept;
  /// An answer of 400 and above, also to a read: without a mutex. `reason`: the error's type;
  /// "other" is counted for one that is not known here.
  void count_refused(unsigned status, std::string_view reason) noexcept;

  /// The writer has got somewhere.
  void note_progress() noexcept;
  /// Since the writer last got somewhere, or since this was made.
  [[nodiscard]] std::chrono::nanoseconds progress_age() const noexcept;

  /// A copy of all that is above, in the library's terms. O(1) in the size of the catalog.
  [[nodiscard]] std::vector<prometheus::MetricFamily> collect() const;

 private:
  class State;
  std::unique_ptr<State> state_;
  std::atomic<std::int64_t> progress_ns_;  // of steady_clock; relaxed: an age, for showing
};

}  // namespace iceblink::daemon
