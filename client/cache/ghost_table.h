// Remembers what was evicted lately: hashes alone, in a table of fixed size. "Lately" is counted in
// bytes evicted since.
//
// A hash may be forgotten early (its bucket was full) and two may be taken for one (32 bits are
// compared): either costs a place in the wrong queue.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace iceblink::client::cache {

class GhostTable {
 public:
  /// Room for about that many. Where it is far off it forgets what it knew. Throws std::bad_alloc.
  void fit(std::size_t count) {
    const std::size_t size = std::bit_ceil(std::max(count, kBucket));
    if (size > ghosts_.size() || size * 4 < ghosts_.size()) std::vector<Ghost>(size).swap(ghosts_);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return ghosts_.capacity() * sizeof(Ghost); }
  [[nodiscard]] static std::size_t bytes_for(std::size_t count) noexcept {
    return std::bit_ceil(std::max(count, kBucket)) * sizeof(Ghost);
  }

  /// `weight_bytes` are evicted, under this hash.
  void remember(std::uint64_t hash, std::size_t weight_bytes) noexcept {
    clock_bytes_ += weight_bytes;
    if (ghosts_.empty()) return;
    Ghost* const bucket = bucket_of(hash);
    Ghost* oldest = bucket;
    for (Ghost* ghost = bucket; ghost != bucket + kBucket; ++ghost) {
      if (ghost->tag == tag_of(hash)) {
        oldest = ghost;
        break;
      }
      if (age_units(*ghost) > age_units(*oldest)) oldest = ghost;
    }
    *oldest = {tag_of(hash), clock_units()};
  }

  /// Whether `hash` went within the last `window_bytes` of evictions. It is forgotten.
  [[nodiscard]] bool take(std::uint64_t hash, std::size_t window_bytes) noexcept {
    if (ghosts_.empty()) return false;
    Ghost* const bucket = bucket_of(hash);
    for (Ghost* ghost = bucket; ghost != bucket + kBucket; ++ghost) {
      if (ghost->tag != tag_of(hash)) continue;
      const bool is_recent = age_units(*ghost) <= window_bytes / kUnitBytes;
      *ghost = {};
      return is_recent;
    }
    return false;
  }

 private:
  static constexpr std::size_t kBucket = 4;
  static constexpr std::size_t kUnitBytes = 256;

  struct Ghost {
    std::uint32_t tag = 0;  // 0: none
    std::uint32_t evicted_at_units = 0;
  };

  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32) | 1;
  }
  [[nodiscard]] Ghost* bucket_of(std::uint64_t hash) noexcept {
    return ghosts_.data() + (hash & (ghosts_.size() - 1) & ~(kBucket - 1));
  }
  [[nodiscard]] std::uint32_t clock_units() const noexcept {
    return static_cast<std::uint32_t>(clock_bytes_ / kUnitBytes);
  }
  [[nodiscard]] std::uint32_t age_units(const Ghost& ghost) const noexcept {
    return ghost.tag == 0 ? ~std::uint32_t{0} : clock_units() - ghost.evicted_at_units;
  }

  std::vector<Ghost> ghosts_;
  std::uint64_t clock_bytes_ = 0;
};

}  // namespace iceblink::client::cache
