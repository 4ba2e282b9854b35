// The calls of libc that stand under our hand, by the names that ICEBLINK_FILE_FAULTS uses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace iceblink::faults {

enum class Call : std::uint8_t {
  // Files: names and descriptors.
  kOpen,
  kOpenat,
  kOpenat2,  // by syscall(2)
  kOpendir,
  kClose,
  kStat,
  kLstat,
  kFstat,
  kStatfs,
  kStatvfs,
  kFchmod,
  kLink,
  kLinkat,
  kUnlink,
  kUnlinkat,
  kRename,
  kMkdir,
  kMkdirat,
  kRmdir,
  // Files: bytes.
  kRead,
  kPread,
  kPreadv2,
  kLseek,
  kWrite,
  kWritev,
  kPwrite,
  kPwritev,
  kFsync,
  kFdatasync,
  kMsync,
  kFtruncate,
  kFallocate,
  // Memory, threads, processes.
  kMmap,
  kMadvise,
  kPthreadCreate,
  kFork,
  kGetrandom,
  // Sockets.
  kAccept,
  kRecv,
  kSend,
  kSendto,
  kSendmsg,
  kEpollWait,
  kEpollCtl,
  kPoll,
  kGetsockopt,
  // liburing's functions, whose own calls are not libc's.
  kRingSetup,  // io_uring_queue_init_params
  kRingEnter,  // io_uring_submit_and_wait
};

inline constexpr std::array<std::string_view, 48> kCallNames = {
    "open",       "openat",    "openat2",  "opendir",    "close",          "stat",
    "lstat",      "fstat",     "statfs",   "statvfs",    "fchmod",         "link",
    "linkat",     "unlink",    "unlinkat", "rename",     "mkdir",          "mkdirat",
    "rmdir",      "read",      "pread",    "preadv2",    "lseek",          "write",
    "writev",     "pwrite",    "pwritev",  "fsync",      "fdatasync",      "msync",
    "ftruncate",  "fallocate", "mmap",     "madvise",    "pthread_create", "fork",
    "getrandom",  "accept",    "recv",     "send",       "sendto",         "sendmsg",
    "epoll_wait", "epoll_ctl", "poll",     "getsockopt", "io_uring_setup", "io_uring_enter"};
inline constexpr std::size_t kCallCount = kCallNames.size();
static_assert(static_cast<std::size_t>(Call::kRingEnter) + 1 == kCallCount);

[[nodiscard]] constexpr std::string_view name_of(Call call) noexcept {
  return kCallNames[static_cast<std::size_t>(call)];
}

[[nodiscard]] constexpr std::optional<Call> call_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kCallCount; ++i) {
    if (kCallNames[i] == name) return static_cast<Call>(i);
  }
  return std::nullopt;
}

}  // namespace iceblink::faults
