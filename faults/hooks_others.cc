// Memory, threads, processes and sockets, in front of libc's.
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "faults/judgement.h"
#include "faults/next.h"
#include "faults/recorder.h"

#define ICEBLINK_HOOK extern "C" [[gnu::visibility("default")]]

namespace iceblink::faults {
namespace {

constinit Next<decltype(::mmap)> next_mmap("mmap");
constinit Next<decltype(::madvise)> next_madvise("madvise");
constinit Next<decltype(::pthread_create)> next_pthread_create("pthread_create");
constinit Next<decltype(::fork)> next_fork("fork");
constinit Next<decltype(::getrandom)> next_getrandom("getrandom");
constinit Next<decltype(::accept)> next_accept("accept");
constinit Next<decltype(::recv)> next_recv("recv");
constinit Next<decltype(::send)> next_send("send");
constinit Next<decltype(::sendto)> next_sendto("sendto");
constinit Next<decltype(::sendmsg)> next_sendmsg("sendmsg");
constinit Next<decltype(::epoll_wait)> next_epoll_wait("epoll_wait");
constinit Next<decltype(::epoll_ctl)> next_epoll_ctl("epoll_ctl");
constinit Next<decltype(::poll)> next_poll("poll");
constinit Next<decltype(::getsockopt)> next_getsockopt("getsockopt");
constinit Next<int(unsigned, void*, void*)> next_ring_setup("io_uring_queue_init_params");
constinit Next<int(void*, unsigned)> next_ring_enter("io_uring_submit_and_wait");

/// Before it is sent: who has it, has it after this entry.
void record_sending(const void* bytes, std::size_t size) noexcept {
  const Recording recording;
  if (!recording.is_on()) return;
  recording.append({.kind = RecordKind::kSend}, {}, {static_cast<const char*>(bytes), size});
}

}  // namespace
}  // namespace iceblink::faults

using namespace iceblink::faults;  // the hooks stand outside, under libc's names

ICEBLINK_HOOK void* mmap(void* address, size_t bytes, int protection, int flags, int fd,
                         off_t offset) noexcept {
  const Verdict verdict = judge(Call::kMmap, fd);
  if (verdict.action == Action::kNone) {
    return next_mmap(address, bytes, protection, flags, fd, offset);
  }
  errno = verdict.error;
  return MAP_FAILED;
}

ICEBLINK_HOOK int madvise(void* address, size_t bytes, int advice) noexcept {
  return judged(Call::kMadvise, -1, nullptr, [=] { return next_madvise(address, bytes, advice); });
}

ICEBLINK_HOOK int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                 void* (*run)(void*), void* argument) {
  const Verdict verdict = judge(Call::kPthreadCreate, -1);
  if (verdict.action != Action::kNone) return verdict.error;  // errno is not its way
  return next_pthread_create(thread, attributes, run, argument);
}

ICEBLINK_HOOK pid_t fork() noexcept {
  return judged(Call::kFork, -1, nullptr, [] { return next_fork(); });
}

ICEBLINK_HOOK ssize_t getrandom(void* to, size_t bytes, unsigned flags) {
  return judged_transfer(Call::kGetrandom, -1, bytes,
                         [=](std::size_t n) { return next_getrandom(to, n, flags); });
}

ICEBLINK_HOOK int accept(int fd, struct sockaddr* address, socklen_t* bytes) {
  return judged(Call::kAccept, fd, nullptr, [=] { return next_accept(fd, address, bytes); });
}

ICEBLINK_HOOK ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  return judged_transfer(Call::kRecv, fd, bytes,
                         [=](std::size_t n) { return next_recv(fd, to, n, flags); });
}

ICEBLINK_HOOK ssize_t send(int fd, const void* from, size_t bytes, int flags) {
  return judged_transfer(Call::kSend, fd, bytes, [=](std::size_t n) {
    record_sending(from, n);
    return next_send(fd, from, n, flags);
  });
}

ICEBLINK_HOOK ssize_t sendto(int fd, const void* from, size_t bytes, int flags,
                             const struct sockaddr* to, socklen_t to_bytes) {
  return judged(Call::kSendto, fd, nullptr,
                [=] { return next_sendto(fd, from, bytes, flags, to, to_bytes); });
}

ICEBLINK_HOOK ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  const Verdict verdict = judge(Call::kSendmsg, fd);
  if (verdict.action == Action::kFail) {
    errno = verdict.error;
    return -1;
  }
  if (message->msg_iovlen > 0) {
    record_sending(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
  }
  if (verdict.action == Action::kNone) return next_sendmsg(fd, message, flags);
  struct msghdr shorter = *message;  // the first part of several, or a half of one
  struct iovec part = message->msg_iov[0];
  if (message->msg_iovlen == 1) part.iov_len = (part.iov_len + 1) / 2;
  shorter.msg_iov = &part;
  shorter.msg_iovlen = 1;
  return next_sendmsg(fd, &shorter, flags);
}

ICEBLINK_HOOK int epoll_wait(int fd, struct epoll_event* events, int count, int timeout_ms) {
  return judged(Call::kEpollWait, fd, nullptr,
                [=] { return next_epoll_wait(fd, events, count, timeout_ms); });
}

ICEBLINK_HOOK int epoll_ctl(int fd, int operation, int other, struct epoll_event* event) noexcept {
  return judged(Call::kEpollCtl, other, nullptr,
                [=] { return next_epoll_ctl(fd, operation, other, event); });
}

ICEBLINK_HOOK int poll(struct pollfd* descriptors, nfds_t count, int timeout_ms) {
  return judged(Call::kPoll, -1, nullptr,
                [=] { return next_poll(descriptors, count, timeout_ms); });
}

ICEBLINK_HOOK int getsockopt(int fd, int level, int name, void* value, socklen_t* bytes) noexcept {
  return judged(Call::kGetsockopt, fd, nullptr,
                [=] { return next_getsockopt(fd, level, name, value, bytes); });
}

// Of liburing, which gives minus the errno; its types are of no matter here.
ICEBLINK_HOOK int io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) {
  const Verdict verdict = judge(Call::kRingSetup, -1);
  if (verdict.action != Action::kNone) return -verdict.error;
  return next_ring_setup(entries, ring, parameters);
}

ICEBLINK_HOOK int io_uring_submit_and_wait(void* ring, unsigned wait_count) {
  const Verdict verdict = judge(Call::kRingEnter, -1);
  if (verdict.action != Action::kNone) return -verdict.error;
  return next_ring_enter(ring, wait_count);
}
