// The memory that all processes of a run share.
//
// Who reads claims a stream and pushes its answers there; who writes has a lane; the judge takes
// all of it. A stream whose process was killed is abandoned: the judge takes what is left, and
// frees it.
//
// Thread safety: all of it, from any process.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stress/findings.h"
#include "stress/record.h"
#include "stress/ring.h"

namespace iceblink::stress {

/// What is counted because it must happen in a run that is long enough to mean something.
enum class Counted : std::uint8_t {
  // Operations that were acknowledged; the first of these are OperationKind too.
  kRegister,
  kOverwrite,
  kSwap,
  kDrop,
  kRename,
  kGroupBatch,
  kMixedBatch,
  kNamespaceMade,
  kNamespaceDropped,
  kProperties,
  kContested,
  kFileCreated,
  kFileCommit,
  kTransaction,
  kViewPut,
  kViewDropped,
  kWrongSwap,
  kWrongDrop,
  kWrongBatch,
  kSentTwice,  // with its Idempotency-Key, though it had been answered
  kRepeated,   // asked again with its Idempotency-Key after no answer had come
  // What readers did.
  kSnapshots,
  kLookups,
  kBatches,
  kLists,
  kFeeds,
  kWaits,
  kWaitsPassed,
  kHolds,
  kForks,
  kInheritedSnapshots,
  kShortLived,
  // What was done to readers and daemons.
  kStops,
  kReaderKills,
  kRandomKills,
  kPointKills,
  kTerminations,
  kStopKills,
  kSlowLives,
  kFlips,
  // What writers met. May well not happen.
  kAway,     // no daemon: never sent
  kNoSpace,  // refused for want of room, in the segment or the store
  kBusy,
  kFullStarts,  // of daemons, refused for want of room in the runtime directory
  kCount
};
[[nodiscard]] std::string_view to_string(Counted what) noexcept;

struct Stage {
  static constexpr std::size_t kStreams = 96;
  static constexpr std::size_t kFaultPointsMax = 64;
  static constexpr std::uint64_t kAbandoned = std::uint64_t{1} << 32;

  struct Stream {
    std::atomic<std::uint64_t> owner;  // 0: free; a pid; a pid and kAbandoned
    Ring<Answer, 512> answers;
  };
  using Lane = Ring<WriterRecord, 128>;

  std::atomic<std::uint64_t> acknowledged;  // the highest generation that a writer was told
  std::atomic<std::uint64_t> life;          // how many daemons have ended
  std::atomic<bool> stop_writers;
  std::atomic<bool> stop_readers;
  std::atomic<bool> is_over;  // nobody runs any more but the judge, and the daemon for it
  std::atomic<bool> has_wrong;
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Counted::kCount)> counts;
  /// Daemons that died at each of shm::fault_points().
  std::array<std::atomic<std::uint64_t>, kFaultPointsMax> point_kills;
  std::array<Stream, kStreams> streams;
  std::array<Lane, kWritersMax> lanes;

  struct Finding {
    std::atomic<bool> is_there;
    Wrong kind;
    std::array<char, 700> text;
  };
  std::atomic<std::uint64_t> finding_count;
  std::array<Finding, 80> findings;

  struct Sums {  // written by the judge, read when it has ended
    std::uint64_t acknowledged, repeated, refused, unknown_done, unknown_not_done;
    std::uint64_t answers, sights, changes, generation;
  } sums;

  /// Zeroed, and shared with all processes that are forked from then on.
  static Stage& make();

  void count(Counted what) noexcept {
    // relaxed: a counter, for showing
    counts[static_cast<std::size_t>(what)].fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t count_of(Counted what) const noexcept {
    // relaxed: a counter, for showing
    return counts[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }
  /// Something is wrong; the first few are kept in words.
  void report(Wrong kind, std::string_view what) noexcept;
  [[nodiscard]] std::vector<std::string> lines() const;

  void acknowledge(std::uint64_t generation) noexcept;
  /// A free stream, for the calling process; waits for one.
  Stream& claim_stream() noexcept;
  /// The process has ended; nobody else pushes to what it claimed.
  void abandon_streams_of(pid_t pid) noexcept;
  [[nodiscard]] bool has_streams() const noexcept;
};

[[nodiscard]] std::uint64_t now_ns() noexcept;

}  // namespace iceblink::stress
