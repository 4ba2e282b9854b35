#include "client/ring.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace iceblink::client {
namespace {

constexpr int kCalls[] = {IORING_OP_OPENAT, IORING_OP_OPENAT2, IORING_OP_READ};
constexpr unsigned kProbedCalls = 256;

/// Of something that there may be enough of in a moment.
bool is_short(int code) noexcept {
  return code == EMFILE || code == ENFILE || code == ENOMEM || code == EAGAIN || code == EBUSY;
}

}  // namespace

Error ring_refusal(const char* call, int code) noexcept {
  char text[128] = "";
  return {is_short(code) ? ErrorKind::kBusy : ErrorKind::kUnsupported,
          {call, ": ", ::strerror_r(code, text, sizeof(text))}};
}

Result<std::unique_ptr<Ring>> Ring::make(unsigned call_count_max) {
  std::unique_ptr<Ring> ring(new Ring);
  ICEBLINK_RETURN_IF_ERROR(ring->set_up(call_count_max));
  ICEBLINK_RETURN_IF_ERROR(ring->probe_calls());
  return ring;
}

Ring::~Ring() {
  if (!is_set_up_) return;
  // Does nothing, which only a ring can be asked for.
  if (::io_uring_enter(static_cast<unsigned>(ring_.ring_fd), 0, 0, 0, nullptr) < 0) {
    ring_.ring_fd = -1;
  }
  ::io_uring_queue_exit(&ring_);
}

Status Ring::set_up(unsigned call_count_max) {
  // Threads take turns, so IORING_SETUP_SINGLE_ISSUER and what needs it are out of the question.
  // Without interrupts (5.19) where the kernel has that: the thread waits in the kernel anyway.
  int done = -EINVAL;
  for (const unsigned flags : {IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SUBMIT_ALL, 0u}) {
    io_uring_params params{};
    params.flags = flags;
    done = ::io_uring_queue_init_params(call_count_max, &ring_, &params);
    if (done != -EINVAL) break;
  }
  if (done < 0) return ring_refusal("io_uring_setup", -done);
  is_set_up_ = true;
  // From 5.5 on: completions are never dropped, and paths are copied when they are submitted.
  constexpr unsigned kNeeded = IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE;
  if ((ring_.features & kNeeded) != kNeeded)
    return ring_refusal("io_uring_setup: features", ENOSYS);
  return Ok{};
}

Status Ring::probe_calls() {
  const std::unique_ptr<io_uring_probe, void (*)(void*)> probe(
      static_cast<io_uring_probe*>(
          std::calloc(1, sizeof(io_uring_probe) + kProbedCalls * sizeof(io_uring_probe_op))),
      std::free);
  if (probe == nullptr) return ring_refusal("io_uring_register", ENOMEM);
  const int done = ::io_uring_register_probe(&ring_, probe.get(), kProbedCalls);
  if (done < 0) return ring_refusal("io_uring_register", -done);
  for (const int call : kCalls) {
    if (::io_uring_opcode_supported(probe.get(), call) == 0) {
      return ring_refusal("io_uring_register: openat2, read", ENOSYS);
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

int Ring::submit_and_wait() noexcept {
  while (true) {
    const int done = ::io_uring_submit_and_wait(&ring_, 1);
    if (done >= 0 || ::io_uring_cq_ready(&ring_) > 0) return 0;
    if (done == -EINTR) continue;
    if (!is_short(-done) || is_idle()) return -done;
    // The kernel has no memory for more calls just now: those that it has come first.
    io_uring_cqe* cqe = nullptr;
    const int waited = ::io_uring_wait_cqe(&ring_, &cqe);
    if (waited == 0) return 0;
    if (waited != -EINTR && waited != -EAGAIN) return -waited;
  }
}

std::optional<Ring::Completion> Ring::next() noexcept {
  io_uring_cqe* cqe = nullptr;
  if (::io_uring_peek_cqe(&ring_, &cqe) != 0) return std::nullopt;
  const Completion completion{cqe->user_data, cqe->res};
  ::io_uring_cqe_seen(&ring_, cqe);
  --pending_count_;
  return completion;
}

bool Ring::is_idle() const noexcept {
  return pending_count_ == ::io_uring_sq_ready(&ring_);
}

}  // namespace iceblink::client
