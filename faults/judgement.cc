#include "faults/judgement.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "faults/next.h"
#include "faults/plan.h"
#include "faults/recorder.h"

namespace iceblink::faults {
namespace {

constinit Next<decltype(::syscall)> next_syscall("syscall");

struct State {
  Plan plan;
  FaultPage* page = nullptr;
  std::atomic<std::uint64_t> slowed_count{0};
  std::array<std::atomic<std::uint64_t>, kCallCount> counts{};
};

State state;
pthread_once_t started = PTHREAD_ONCE_INIT;

[[noreturn]] void refuse(const char* what) {
  std::fprintf(stderr, "libiceblink_file_faults: %s\n", what);
  ::_exit(127);
}

FaultPage* map_page(const char* path) {
  const int fd = static_cast<int>(next_syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0));
  if (fd < 0) refuse("the page cannot be opened");
  auto* const page = reinterpret_cast<FaultPage*>(next_syscall(
      SYS_mmap, nullptr, sizeof(FaultPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L));
  next_syscall(SYS_close, fd);
  if (page == MAP_FAILED || page->magic != FaultPage::kMagic) refuse("the page is none");
  return page;
}

void start() {
  const char* const text = std::getenv("ICEBLINK_FILE_FAULTS");
  if (text == nullptr) return;
  if (!parse_plan(text, state.plan)) refuse("ICEBLINK_FILE_FAULTS is not understood");
  if (state.plan.page_file[0] != '\0') state.page = map_page(state.plan.page_file);
  if (state.plan.record_file[0] != '\0' && !start_recording(state.plan.record_file)) {
    refuse("the record cannot be opened");
  }
}

[[gnu::constructor]] void start_with_the_program() {
  ::pthread_once(&started, start);
}

mode_t type_of(int fd) noexcept {
  struct stat status {};
  const bool is_known = next_syscall(SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH) == 0;
  return is_known ? status.st_mode & S_IFMT : S_IFREG;
}

/// An eventfd or timerfd, which no disk and no peer makes fail.
bool is_of_kernel_alone(Call call, int fd) noexcept {
  return (call == Call::kRead || call == Call::kWrite) && type_of(fd) == 0;
}

bool writes_or_syncs_files(Call call, int fd) noexcept {
  switch (call) {
    case Call::kWrite:
    case Call::kWritev:
    case Call::kPwrite:
    case Call::kPwritev:
      return type_of(fd) == S_IFREG;
    case Call::kFsync:
    case Call::kFdatasync:
    case Call::kMsync:
    case Call::kFtruncate:
    case Call::kFallocate:
    case Call::kLink:
    case Call::kLinkat:
    case Call::kUnlink:
    case Call::kUnlinkat:
    case Call::kRename:
    case Call::kMkdir:
    case Call::kMkdirat:
    case Call::kRmdir:
      return true;
    default:
      return false;
  }
}

void wait_as_planned() noexcept {
  // relaxed: a number, orders nothing
  const auto index = state.slowed_count.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t us = delay_us(state.plan, index);
  struct timespec rest {
    static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000) * 1000
  };
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR) {
  }
}

void note_where(FaultPage& page, int fd, const char* path) noexcept {
  char link[32];
  ssize_t bytes = 0;
  if (path != nullptr) {
    std::strncpy(page.fired_on, path, sizeof(page.fired_on) - 1);
  } else if (fd >= 0) {
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    bytes = next_syscall(SYS_readlinkat, AT_FDCWD, link, page.fired_on, sizeof(page.fired_on) - 1);
    if (bytes >= 0) page.fired_on[bytes] = '\0';
  }
}

Verdict judge_by_page(FaultPage& page, Call call, int fd, const char* path) noexcept {
  // SYNC fault-page-armed: what is armed was set before; partner: the test that arms
  if (page.is_counting.load(std::memory_order_acquire) == 0) return {};
  auto& count = page.counts[static_cast<std::size_t>(call)];
  // relaxed: a number, orders nothing
  const auto number = count.fetch_add(1, std::memory_order_relaxed) + 1;
  // relaxed, all three: set before is_counting
  const Action action = page.action.load(std::memory_order_relaxed);
  if (action == Action::kNone ||
      page.call.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(call) ||
      page.at_number.load(std::memory_order_relaxed) != number) {
    return {};
  }
  note_where(page, fd, path);
  // SYNC fault-page-fired: where it fired was noted before; partner: the test that asks
  page.fired_count.fetch_add(1, std::memory_order_release);
  return {action, page.error.load(std::memory_order_relaxed)};  // relaxed: set before is_counting
}

}  // namespace

Verdict judge(Call call, int fd, const char* path) noexcept {
  const int error_before = errno;
  ::pthread_once(&started, start);
  if (state.plan.delay_mean_us > 0 && writes_or_syncs_files(call, fd)) wait_as_planned();
  Verdict verdict;
  if (is_of_kernel_alone(call, fd)) {
    errno = error_before;
    return {};
  }
  if (state.page != nullptr) verdict = judge_by_page(*state.page, call, fd, path);
  if (state.plan.action != Action::kNone && state.plan.call == call) {
    auto& count = state.counts[static_cast<std::size_t>(call)];
    // relaxed: a number, orders nothing
    if (count.fetch_add(1, std::memory_order_relaxed) + 1 == state.plan.at_number) {
      verdict = {state.plan.action, state.plan.error};
    }
  }
  errno = error_before;
  return verdict;
}

}  // namespace iceblink::faults
