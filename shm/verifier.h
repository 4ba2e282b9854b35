// Checks every byte of a control page and an arena, which lookups do not.
//
// Records carry a checksum. The index is a function of the records (a slot's tag and place follow
// from the key, its offset names the key's newest record), and each block of slots has a sum. So
// are the chains of children, the counts, the tail; and free room is zero. Whatever single byte
// is changed, something no longer agrees.
//
// An arena that is being written is judged between two publishes; when none of a few attempts
// finds it at rest, what may legally be in motion is left out (`complete` is false).
//
// Thread safety: pure readers. O(file size), memory for one map entry a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shm/layout.h"

namespace iceblink::shm {

struct VerifyReport {
  std::vector<std::string> problems;  // at most kVerifyProblemsMax, each naming file and offset
  std::uint64_t record_count = 0;
  std::uint64_t key_count = 0;
  std::uint64_t generation = 0;
  bool complete = true;
};
inline constexpr std::size_t kVerifyProblemsMax = 100;

/// Checks the control page's bytes.
[[nodiscard]] VerifyReport verify_control(std::span<const std::byte> bytes,
                                          const std::string& name);

/// Checks an arena. `page`, when given, is the control page whose root should name it.
[[nodiscard]] VerifyReport verify_arena(std::span<const std::byte> bytes, const std::string& name,
                                        const ControlPage* page);

/// Opens and checks control and arena of a runtime directory.
[[nodiscard]] VerifyReport verify_segment(const std::string& runtime_dir);

}  // namespace iceblink::shm
