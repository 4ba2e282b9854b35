// An io_uring: calls go in, results come out.
//
// Thread safety: one thread at a time, which drains what it started before another takes over: the
// kernel finishes a call in the thread that submitted it.
#pragma once

#include <iceblink/result.h>
#include <liburing.h>
#include <linux/openat2.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "client/file_places.h"

namespace iceblink::client {

/// Why there is no ring, or no longer: kBusy when something was short just then (descriptors,
/// memory), kUnsupported when it will not do. Names the call and errno.
[[nodiscard]] Error ring_refusal(const char* call, int code) noexcept;

class Ring {
 public:
  struct Completion {
    std::uint64_t tag;
    int result;  // of the call; or a negative errno
  };

  /// Room for `call_count_max` calls at a time. The error is a ring_refusal().
  [[nodiscard]] static Result<std::unique_ptr<Ring>> make(unsigned call_count_max);
  /// In a child process, too: the parent's ring goes on. A descriptor that the host closed, and has
  /// for something else by now, is left alone.
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Queue a call; there are never more than `call_count_max` that are not completed. What they
  // point to stays until they are.
  void open(std::uint64_t tag, const LocalPath& path, open_how& how) noexcept;
  void read(std::uint64_t tag, int fd, char* space, std::size_t bytes,
            std::uint64_t offset) noexcept;

  /// Submits what was queued; returns when there is a completion. Other than 0: the errno for which
  /// the ring cannot be used any longer.
  [[nodiscard]] int submit_and_wait() noexcept;
  [[nodiscard]] std::optional<Completion> next() noexcept;

  /// Whether the kernel has no call that is not completed.
  [[nodiscard]] bool is_idle() const noexcept;

 private:
  Ring() = default;
  [[nodiscard]] Status set_up(unsigned call_count_max);
  [[nodiscard]] Status probe_calls();
  [[nodiscard]] io_uring_sqe* entry(std::uint64_t tag) noexcept;

  io_uring ring_{};
  bool is_set_up_ = false;
  unsigned pending_count_ = 0;  // queued or submitted, not completed
};

}  // namespace iceblink::client
