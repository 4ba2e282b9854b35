// What readers and writers say about what they did, in words that fit into shared memory.
//
// Times are of CLOCK_MONOTONIC, which all processes of a host share, in nanoseconds.
#pragma once

#include <array>
#include <cstdint>

#include "stress/key_space.h"

namespace iceblink::stress {

/// What an operation makes of a key. `value` kFileBit alone: a metadata file whose name the daemon
/// chooses.
struct Effect {
  Key key = kNoKey;
  Value value = kAbsent;
};
inline constexpr std::size_t kEffectsMax = 12;

enum class Outcome : std::uint8_t {
  kDone,        ///< acknowledged as `generation`
  kDoneBefore,  ///< acknowledged when asked again: `generation` or an earlier one
  kNotDone,     ///< refused, or never sent
  kUnknown,     ///< no answer, and who might have done it is dead; settled at `generation`
};

/// An operation begins, before anything of it is sent; or ends.
struct WriterRecord {
  enum class Type : std::uint8_t { kBegun, kEnded };
  Type type = Type::kBegun;
  std::uint8_t kind = 0;  // for people: OperationKind
  Outcome outcome = Outcome::kUnknown;
  std::uint8_t effect_count = 0;
  std::uint64_t number = 0;
  std::uint64_t at_ns = 0;
  std::uint64_t generation = 0;
  std::array<Effect, kEffectsMax> effects{};
};

inline constexpr std::size_t kSightsMax = 8;

/// One answer that a reader got, or something that it says about itself.
struct Answer {
  enum class Kind : std::uint8_t {
    kStart,    ///< the stream begins; `generation`: it has seen that, as its parent
    kAt,       ///< `generation` was current; the sights, if any, are of it
    kHeld,     ///< the same, of a snapshot that was taken before
    kWithin,   ///< the sights are of one generation, `generation` or below
    kChanges,  ///< `count` changes after `from` and up to `generation`, with that `sum`
    kWaited,   ///< for more than `from`: saw `generation`, or nothing (0)
    kEnd,      ///< nothing follows
  };
  Kind kind = Kind::kStart;
  std::uint8_t sight_count = 0;
  std::array<Key, kSightsMax> keys{};
  std::uint64_t begun_ns = 0;
  std::uint64_t ended_ns = 0;
  std::uint64_t acknowledged = 0;  ///< had been, when it began
  std::uint64_t generation = 0;
  std::uint64_t from = 0;
  std::uint64_t oldest = 0;  ///< no answer that follows is of a generation below
  union {
    std::array<Value, kSightsMax> values;
    struct {
      std::uint64_t sum, count;
    } changes;
  };

  Answer() : values{} {}
  void add(Key key, Value value) {
    keys[sight_count] = key;
    values[sight_count++] = value;
  }
  [[nodiscard]] bool is_full() const { return sight_count == kSightsMax; }
};

/// One change's share in the sum of a stretch of the feed: its place, name, and value all count.
[[nodiscard]] constexpr std::uint64_t change_hash(std::uint64_t generation, std::uint64_t index,
                                                  Key key, Value value) noexcept {
  std::uint64_t hash = generation * 0x9E3779B97F4A7C15 + index;
  for (const std::uint64_t word : {std::uint64_t{key}, value}) {
    hash ^= word + 0x9E3779B97F4A7C15 + (hash << 6) + (hash >> 2);
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
    hash ^= hash >> 31;
  }
  return hash;
}

}  // namespace iceblink::stress
