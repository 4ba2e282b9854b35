// An io_uring: calls go in, results come out, a wait can be woken.
//
// Thread safety: one thread at a time, which drains what it started before another takes over: the
// kernel finishes a call in the thread that submitted it. wake() may be called from any thread.
#pragma once

#include <iceblink/result.h>
#include <liburing.h>
#include <linux/openat2.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "client/file_places.h"

namespace iceblink::client {

class Ring {
 public:
  struct Completion {
    std::uint64_t tag;
    int result;  // of the call; or a negative errno
  };

  /// Room for `call_count_max` calls at a time. The error is kUnsupported; its message names the
  /// call that was refused, and errno.
  [[nodiscard]] static Result<std::unique_ptr<Ring>> make(unsigned call_count_max);
  /// In a child process, too: the parent's ring goes on.
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Queue a call; there are never more than `call_count_max` that are not completed. What they
  // point to stays until they are.
  void open(std::uint64_t tag, const LocalPath& path, open_how& how) noexcept;
  void read(std::uint64_t tag, int fd, char* space, std::size_t bytes,
            std::uint64_t offset) noexcept;

  /// Submits what was queued; returns when there is a completion, or after wake(). Other than 0:
  /// the errno for which the ring cannot be used any longer.
  [[nodiscard]] int submit_and_wait() noexcept;
  [[nodiscard]] std::optional<Completion> next() noexcept;

  void wake() noexcept;
  /// Completes the wait for wake() that may be under way; no other call is. As submit_and_wait().
  [[nodiscard]] int quiesce() noexcept;

 private:
  Ring() = default;
  [[nodiscard]] Status set_up(unsigned call_count_max);
  [[nodiscard]] Status probe_calls();
  [[nodiscard]] io_uring_sqe* entry(std::uint64_t tag) noexcept;
  [[nodiscard]] int enter(unsigned wait_count) noexcept;
  void hear_wake() noexcept;

  io_uring ring_{};
  bool is_set_up_ = false;
  int wake_fd_ = -1;
  bool is_wake_armed_ = false;
  unsigned pending_count_ = 0;  // queued or submitted, not completed; the wait for wake() included
};

}  // namespace iceblink::client
