#include "client/ring.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace iceblink::client {
namespace {

constexpr std::uint64_t kWakeTag = ~std::uint64_t{0};
constexpr int kCalls[] = {IORING_OP_OPENAT, IORING_OP_OPENAT2, IORING_OP_READ, IORING_OP_POLL_ADD};
constexpr unsigned kProbedCalls = 256;

Error refused(const char* call, int code) {
  return {ErrorKind::kUnsupported, std::string(call) + ": " + std::strerror(code)};
}

}  // namespace

Result<std::unique_ptr<Ring>> Ring::make(unsigned call_count_max) {
  std::unique_ptr<Ring> ring(new Ring);
  ICEBLINK_RETURN_IF_ERROR(ring->set_up(call_count_max));
  ICEBLINK_RETURN_IF_ERROR(ring->probe_calls());
  ring->wake_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (ring->wake_fd_ < 0) return refused("eventfd", errno);
  return ring;
}

Ring::~Ring() {
  if (is_set_up_) ::io_uring_queue_exit(&ring_);
  if (wake_fd_ >= 0) ::close(wake_fd_);
}

Status Ring::set_up(unsigned call_count_max) {
  // Threads take turns, so IORING_SETUP_SINGLE_ISSUER and what needs it are out of the question.
  // Without interrupts (5.19) where the kernel has that: the thread waits in the kernel anyway.
  int done = -EINVAL;
  for (const unsigned flags : {IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SUBMIT_ALL, 0u}) {
    io_uring_params params{};
    params.flags = flags;
    done = ::io_uring_queue_init_params(call_count_max + 1, &ring_, &params);
    if (done != -EINVAL) break;
  }
  if (done < 0) return refused("io_uring_setup", -done);
  is_set_up_ = true;
  // From 5.5 on: completions are never dropped, and paths are copied when they are submitted.
  constexpr unsigned kNeeded = IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE;
  if ((ring_.features & kNeeded) != kNeeded) return refused("io_uring_setup: features", ENOSYS);
  return Ok{};
}

Status Ring::probe_calls() {
  const std::unique_ptr<io_uring_probe, void (*)(void*)> probe(
      static_cast<io_uring_probe*>(
          std::calloc(1, sizeof(io_uring_probe) + kProbedCalls * sizeof(io_uring_probe_op))),
      std::free);
  if (probe == nullptr) return refused("io_uring_register", ENOMEM);
  const int done = ::io_uring_register_probe(&ring_, probe.get(), kProbedCalls);
  if (done < 0) return refused("io_uring_register", -done);
  for (const int call : kCalls) {
    if (::io_uring_opcode_supported(probe.get(), call) == 0) {
      return refused("io_uring_register: openat2, read, poll", ENOSYS);
    }
  }
  return Ok{};
}

io_uring_sqe* Ring::entry(std::uint64_t tag) noexcept {
  io_uring_sqe* const sqe = ::io_uring_get_sqe(&ring_);  // sized so that there is one
  ++pending_count_;
  sqe->user_data = tag;
  return sqe;
}

void Ring::open(std::uint64_t tag, const LocalPath& path, open_how& how) noexcept {
  how = how_to_open(path);
  io_uring_sqe* const sqe = entry(tag);
  ::io_uring_prep_openat2(sqe, path.is_below_root() ? path.root_fd : AT_FDCWD, path.path.c_str(),
                          &how);
  sqe->user_data = tag;
}

void Ring::read(std::uint64_t tag, int fd, char* space, std::size_t bytes,
                std::uint64_t offset) noexcept {
  io_uring_sqe* const sqe = entry(tag);
  ::io_uring_prep_read(sqe, fd, space, static_cast<unsigned>(bytes), offset);
  sqe->user_data = tag;
}

int Ring::enter(unsigned wait_count) noexcept {
  while (true) {
    const int done = wait_count == 0 ? ::io_uring_submit(&ring_)
                                     : ::io_uring_submit_and_wait(&ring_, wait_count);
    if (done >= 0 || ::io_uring_cq_ready(&ring_) > 0) return 0;
    if (done == -EINTR) continue;
    if (done != -EAGAIN && done != -EBUSY) return -done;
    // The kernel has no memory for more calls just now: those that it has come first.
    if (pending_count_ == ::io_uring_sq_ready(&ring_)) return -done;
    io_uring_cqe* cqe = nullptr;
    const int waited = ::io_uring_wait_cqe(&ring_, &cqe);
    if (waited == 0) return 0;
    if (waited != -EINTR && waited != -EAGAIN) return -waited;
  }
}

int Ring::submit_and_wait() noexcept {
  if (!is_wake_armed_) {
    if (const int code = enter(0); code != 0) return code;
    if (::io_uring_cq_ready(&ring_) > 0) return 0;
    // It is going to take a while.
    io_uring_sqe* const sqe = entry(kWakeTag);
    ::io_uring_prep_poll_add(sqe, wake_fd_, POLLIN);
    sqe->user_data = kWakeTag;
    is_wake_armed_ = true;
  }
  return enter(1);
}

std::optional<Ring::Completion> Ring::next() noexcept {
  io_uring_cqe* cqe = nullptr;
  while (::io_uring_peek_cqe(&ring_, &cqe) == 0) {
    const Completion completion{cqe->user_data, cqe->res};
    ::io_uring_cqe_seen(&ring_, cqe);
    --pending_count_;
    if (completion.tag != kWakeTag) return completion;
    hear_wake();
  }
  return std::nullopt;
}

void Ring::hear_wake() noexcept {
  is_wake_armed_ = false;
  std::uint64_t count = 0;
  static_cast<void>(::read(wake_fd_, &count, sizeof(count)));
}

void Ring::wake() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake_fd_, &one, sizeof(one)));
}

int Ring::quiesce() noexcept {
  while (is_wake_armed_) {
    wake();
    if (const int code = enter(1); code != 0) return code;
    static_cast<void>(next());
  }
  return 0;
}

}  // namespace iceblink::client
