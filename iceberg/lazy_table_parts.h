// What of a table's metadata stays raw until it is asked for: its snapshots and logs.
//
// Thread safety: everything may be called from any thread. A part is built under a lock, in memory
// of its own, and then published; readers of what is built take no lock.
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "iceberg/arena.h"
#include "iceberg/build_lock.h"
#include "iceberg/json_reader.h"
#include "iceberg/snapshot_reader.h"

namespace iceblink::iceberg {

/// A member's value in the text; nothing where the member is not there.
struct TextRange {
  std::uint32_t begin = 0;
  std::uint32_t bytes = 0;
};

/// Where an id belongs in a table of `bucket_count` buckets, a power of two.
[[nodiscard]] inline std::size_t snapshot_bucket(std::int64_t snapshot_id, std::uint64_t seed,
                                                 std::size_t bucket_count) noexcept {
  // Two rounds, each of which carries all bits into the upper half: ids cannot be chosen that fall
  // together under every seed.
  constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  std::uint64_t mixed = (static_cast<std::uint64_t>(snapshot_id) ^ seed) * kMultiplier;
  mixed = (mixed ^ (mixed >> 32) ^ (seed << 7)) * kMultiplier;
  return (mixed ^ (mixed >> 32)) & (bucket_count - 1);
}

/// What is kept of the lazy parts at load. Borrows from the document.
struct RawTableParts {
  std::string_view text;
  TextRange snapshots;
  TextRange snapshot_log;
  TextRange metadata_log;
  std::span<const SnapshotIndexEntry> index;
  std::span<const TextRange> snapshot_ranges;  // as long as `index`
  /// Open addressing over `index`, by id: positions plus one, 0 where there is none.
  std::span<const std::uint32_t> buckets;
  std::uint64_t hash_seed = 0;
  MetadataLimits limits;
};

/// The snapshot's position in the index; index.size() where there is none of this id. O(1).
[[nodiscard]] std::size_t find_snapshot(const RawTableParts& raw,
                                        std::int64_t snapshot_id) noexcept;

class LazyTableParts {
 public:
  /// Throws std::bad_alloc.
  explicit LazyTableParts(const RawTableParts& raw) : raw_(raw) {}
  ~LazyTableParts();
  LazyTableParts(const LazyTableParts&) = delete;
  LazyTableParts& operator=(const LazyTableParts&) = delete;

  [[nodiscard]] std::span<const SnapshotIndexEntry> index() const noexcept { return raw_.index; }

  // What TableMetadata promises; `of` is the document that it is called for.
  [[nodiscard]] Result<const TableSnapshot*> snapshot(const TableMetadata& of,
                                                      std::int64_t snapshot_id) noexcept;
  [[nodiscard]] Result<std::span<const TableSnapshot>> snapshots(const TableMetadata& of) noexcept;
  [[nodiscard]] Result<std::span<const SnapshotLogEntry>> snapshot_log(
      const TableMetadata& of) noexcept;
  [[nodiscard]] Result<std::span<const MetadataLogEntry>> metadata_log(
      const TableMetadata& of) noexcept;

 private:
  /// What one building made, and its memory.
  template <typename T>
  struct Built {
    explicit Built(Arena own) : arena(std::move(own)) {}

    Arena arena;
    std::span<const T> elements;
    Built* older = nullptr;  // of snapshots that were built one by one
  };
  template <typename T>
  using Slot = std::atomic<Built<T>*>;

  /// What is in `slot`, or else what `read` makes of the text in `range`.
  template <typename T, typename Read>
  [[nodiscard]] Result<std::span<const T>> get(const TableMetadata& of, Slot<T>& slot,
                                               TextRange range, JsonReader::Step step, Read read);
  template <typename T, typename Read>
  [[nodiscard]] Result<std::unique_ptr<Built<T>>> build(TextRange range, JsonReader::Step step,
                                                        Read read) const;
  [[nodiscard]] const TableSnapshot* find_built(std::int64_t snapshot_id) const noexcept;

  const RawTableParts raw_;
  BuildLock lock_;  // held by who stores into the slots
  Slot<TableSnapshot> snapshots_{nullptr};
  Slot<TableSnapshot> single_snapshots_{nullptr};  // newest first
  Slot<SnapshotLogEntry> snapshot_log_{nullptr};
  Slot<MetadataLogEntry> metadata_log_{nullptr};
};

}  // namespace iceblink::iceberg
