// Damage to a small segment, as a fuzz input describes it.
//
// The first byte says which checksums are made to match again (Resealed); then come patches, each
// a kind, a place of two bytes, and what goes there. Most of them know the layout, so that damage
// gets past the checks that any other damage would fail.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tests/fuzz/segment/small_segment.h"

namespace iceblink::test {

/// Bits of an input's first byte.
enum Resealed : std::uint8_t {
  kResealedControl = 1,
  kResealedHeader = 2,
  kResealedRecords = 4,
  kResealedSums = 8,
};

struct DamagedSegment {
  ExactBytes control;
  ExactBytes arena;
  /// Ranges of the arena that may differ from the small segment's: [from, to).
  std::vector<std::pair<std::size_t, std::size_t>> patched;

  [[nodiscard]] bool is_patched(std::size_t from, std::size_t to) const noexcept;
};

[[nodiscard]] DamagedSegment damage(const SmallSegment& segment,
                                    std::span<const std::uint8_t> input);

}  // namespace iceblink::test
