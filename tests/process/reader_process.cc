#include "tests/process/reader_process.h"

#include <gtest/gtest.h>
#include <iceblink/catalog.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <new>

namespace iceblink::test {
namespace {

[[noreturn]] void read_on(const std::string& runtime_dir, const ReaderProcess::Judge& judge,
                          ReaderPage& page) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string wrong;
  CatalogOptions options;
  options.ask_daemon = AskDaemon::kNever;
  auto catalog = Catalog::open(runtime_dir, options);
  if (!catalog) wrong = "open: " + catalog.error().message();
  while (wrong.empty() && !page.stop.load(std::memory_order_relaxed)) {
    wrong = judge(*catalog, page);
    page.lookups.fetch_add(1, std::memory_order_relaxed);
  }
  std::strncpy(page.wrong, wrong.c_str(), sizeof(page.wrong) - 1);
  ::_exit(wrong.empty() ? 0 : 1);
}

}  // namespace

ReaderProcess::ReaderProcess(const std::string& runtime_dir, Judge judge) {
  void* memory = ::mmap(nullptr, sizeof(ReaderPage), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  page_ = new (memory) ReaderPage;
  pid_ = ::fork();
  if (pid_ == 0) read_on(runtime_dir, judge, *page_);
  EXPECT_GT(pid_, 0);
}

ReaderProcess::~ReaderProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::munmap(page_, sizeof(ReaderPage));
}

void ReaderProcess::signal(int number) const {
  ::kill(pid_, number);
}

bool ReaderProcess::wait_for_lookups(std::uint64_t count) {
  const std::uint64_t goal = page_->lookups.load(std::memory_order_relaxed) + count;
  while (page_->lookups.load(std::memory_order_relaxed) < goal) {
    siginfo_t ended{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == pid_) {
      return false;
    }
    ::sched_yield();
  }
  return true;
}

std::string ReaderProcess::finish() {
  page_->stop.store(true, std::memory_order_relaxed);
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return page_->wrong[0] != '\0' ? page_->wrong : "ended with status " + std::to_string(status);
}

void ReaderProcess::reap() {
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string judge_progress(Catalog& catalog, ReaderPage& page) {
  const std::uint64_t acknowledged = page.acknowledged.load(std::memory_order_acquire);
  const auto snapshot = catalog.snapshot();
  if (!snapshot) return "snapshot: " + snapshot.error().message();
  const std::uint64_t last = page.generation.load(std::memory_order_relaxed);
  if (snapshot->generation() < std::max(last, acknowledged)) {
    return "generation " + std::to_string(snapshot->generation()) + " after " +
           std::to_string(last) + ", acknowledged " + std::to_string(acknowledged);
  }
  page.generation.store(snapshot->generation(), std::memory_order_relaxed);
  const auto exists = catalog.table_exists({{"ns"}, "t0"});
  if (!exists) return "lookup: " + exists.error().message();
  if (!*exists) return "t0 is gone";
  return "";
}

}  // namespace iceblink::test
