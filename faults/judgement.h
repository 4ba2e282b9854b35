// What becomes of a call: it waits, it is counted, it fails, or it is carried out.
//
// Thread safety: any thread. Nothing here allocates.
#pragma once

#include <cerrno>
#include <type_traits>

#include "faults/calls.h"
#include "faults/fault_page.h"

namespace iceblink::faults {

struct Verdict {
  Action action = Action::kNone;
  int error = 0;
};

/// Of a call on a descriptor, or on a path (`fd` is then -1), or on neither.
[[nodiscard]] Verdict judge(Call call, int fd, const char* path = nullptr) noexcept;

/// The result of `carry_out`, or of the failure that the call was to have.
template <typename CarryOut>
auto judged(Call call, int fd, const char* path, CarryOut carry_out) noexcept {
  using Result = std::invoke_result_t<CarryOut>;
  const Verdict verdict = judge(call, fd, path);
  if (verdict.action == Action::kNone) return carry_out();
  errno = verdict.error;
  return static_cast<Result>(-1);
}

/// As above, of a call that moves up to `bytes`; `carry_out` takes how many it is to move.
template <typename CarryOut>
auto judged_transfer(Call call, int fd, std::size_t bytes, CarryOut carry_out) noexcept {
  using Result = std::invoke_result_t<CarryOut, std::size_t>;
  const Verdict verdict = judge(call, fd);
  if (verdict.action == Action::kShort) return carry_out((bytes + 1) / 2);
  if (verdict.action == Action::kNone) return carry_out(bytes);
  errno = verdict.error;
  return static_cast<Result>(-1);
}

}  // namespace iceblink::faults
