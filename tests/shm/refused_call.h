// A process in which the kernel refuses a system call, as another kernel or a sandbox does: for a
// child, since there is no way back.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace iceblink::shm::testing {

struct RefusedCall {
  long number = 0;
  int errno_value = 0;
  int argument = -1;        // refused where this argument...
  std::uint32_t value = 0;  // ...is this; -1: always
};

/// From now on, in this process and its children. False: filters are not to be had.
[[nodiscard]] inline bool refuse(const RefusedCall& call) {
  const auto argument = static_cast<std::uint32_t>(
      offsetof(seccomp_data, args) +
      8 * static_cast<std::size_t>(call.argument < 0 ? 0 : call.argument));
  const auto refused = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(call.errno_value);
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
  const std::uint8_t otherwise = call.argument < 0 ? 0 : 1;
  std::array<sock_filter, 6> filter{{
      {kLoad, 0, 0, offsetof(seccomp_data, nr)},
      {kIfEqual, 0, 3, static_cast<std::uint32_t>(call.number)},
      {kLoad, 0, 0, argument},
      {kIfEqual, 0, otherwise, call.value},
      {kReturn, 0, 0, refused},
      {kReturn, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Refuses, tries, and ends the process: 0 when `is_right` says so.
template <typename IsRight>
[[noreturn]] void end_with(const RefusedCall& call, IsRight&& is_right) {
  if (!refuse(call)) ::_exit(2);
  ::_exit(is_right() ? 0 : 1);
}

}  // namespace iceblink::shm::testing
