// A page that a test and the programs under the library share: how often each call was made, and
// which one of them fails next. The test arms and disarms while the program runs.
//
// Thread safety: any thread of any process. `counts` and what is armed change only while
// `is_counting`; the test sets everything else first and that last.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "faults/calls.h"

namespace iceblink::faults {

enum class Action : std::uint32_t {
  kNone,
  kFail,   // not carried out, and fails with `error`; close(2) is carried out, as Linux does
  kShort,  // carried out for a half
};

struct FaultPage {
  static constexpr std::uint32_t kMagic = 0x46617531;

  std::uint32_t magic = kMagic;
  std::atomic<std::uint32_t> is_counting{0};
  std::atomic<Action> action{Action::kNone};
  std::atomic<std::uint32_t> call{0};       // a Call
  std::atomic<std::uint64_t> at_number{0};  // of that call, counted from 1
  std::atomic<std::int32_t> error{0};
  std::atomic<std::uint32_t> fired_count{0};
  char fired_on[256] = {};  // the path behind the descriptor, when there is one
  std::array<std::atomic<std::uint64_t>, kCallCount> counts{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace iceblink::faults
