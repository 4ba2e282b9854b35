// What the catalog was, generation by generation: each key's values, and when each began.
//
// It is made of the daemon's own durable log, read over HTTP, and of nothing that readers see in
// the segment. Listings and groups are keys like others; their values follow from the changes.
//
// Costs: append O(changes); a question O(log versions of the key). Memory: the versions since the
// generation it was trimmed to, and one per key.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "stress/key_space.h"

namespace iceblink::stress {

/// A change as the log has it. `begun_ns`: when its operation began, at which nobody can have seen
/// it yet.
struct Change {
  Key key = kNoKey;
  Value value = kAbsent;
  std::uint64_t begun_ns = 0;
};

struct Version {
  std::uint64_t since = 0;
  Value value = kAbsent;
  std::uint64_t begun_ns = 0;
};

/// From a generation up to another, both included.
struct Stretch {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// All changes up to a generation, as a sum of change_hash() and a count.
struct ChangeSum {
  std::uint64_t sum = 0;
  std::uint64_t count = 0;
};

class History {
 public:
  explicit History(const KeySpace& keys);

  /// All changes of one generation, in order. It is above the last one.
  void append(std::uint64_t generation, std::span<const Change> changes);
  /// Nothing else happened up to `generation`.
  void reach(std::uint64_t generation) noexcept;
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

  /// Lets go of what was before. Questions about generations below are not to be asked any more.
  void trim(std::uint64_t generation);
  [[nodiscard]] std::uint64_t trimmed_to() const noexcept { return trimmed_to_; }

  /// The version of `generation`, which is between trimmed_to() and generation().
  [[nodiscard]] Version at(Key key, std::uint64_t generation) const;
  /// Where within `within` the key had that value; appended, in order.
  void find(Key key, Value value, Stretch within, std::vector<Stretch>& found) const;
  /// Of everything up to `generation`; differences of two such are of the changes between them.
  [[nodiscard]] ChangeSum sum(std::uint64_t generation) const;
  [[nodiscard]] Version current(Key key) const { return versions_[key].back(); }
  [[nodiscard]] std::size_t version_count() const noexcept;

 private:
  void put(Key key, std::uint64_t generation, Value value, std::uint64_t begun_ns);
  void put_bit(Key list, unsigned bit, bool is_set, std::uint64_t generation,
               std::uint64_t begun_ns);

  const KeySpace& keys_;
  std::vector<std::deque<Version>> versions_;  // by key; never empty
  struct Total {
    std::uint64_t generation;
    ChangeSum sum;
  };
  std::deque<Total> totals_;  // never empty
  std::uint64_t generation_ = 0;
  std::uint64_t trimmed_to_ = 0;
};

}  // namespace iceblink::stress
