// What a service manager hears of the writer, and what it does not hear when that is stuck.
#include <gmock/gmock.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>

#include "tests/http/child_instance.h"

namespace iceblink::test {
namespace {

using std::chrono::steady_clock;
using ::testing::HasSubstr;

constexpr int kPeriodMs = 200;

/// A thread of a child, held in its tracks.
class HeldThread {
 public:
  explicit HeldThread(pid_t thread) : thread_(thread) {
    EXPECT_EQ(::ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr), 0);
    EXPECT_EQ(::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr), 0);
    int status = 0;
    EXPECT_EQ(::waitpid(thread_, &status, __WALL), thread_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  ~HeldThread() { EXPECT_EQ(::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr), 0); }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

 private:
  pid_t thread_;
};

class WatchedDaemon : public ::testing::Test {
 protected:
  WatchedDaemon() : manager_(place_.scratch().path() + "/notify") {}

  [[nodiscard]] ChildOptions options() const {
    ChildOptions options = place_.options();
    options.environment["NOTIFY_SOCKET"] = manager_.path();
    options.environment["WATCHDOG_USEC"] = std::to_string(kPeriodMs * 1000);
    return options;
  }
  /// Asks until the answer has that status; false when it never does.
  [[nodiscard]] bool comes_to_be(const std::string& target, int status) const {
    auto client = place_.connect();
    const auto until = steady_clock::now() + std::chrono::seconds(20);
    while (steady_clock::now() < until) {
      if (client.get(target).status == status) return true;
    }
    return false;
  }

  InstancePlace place_;
  NotifySocket manager_;
};

TEST_F(WatchedDaemon, HearsAnIdleWriterWithinThePeriod) {
  ChildDaemon child(options());
  ASSERT_TRUE(child.read_line().has_value());
  ASSERT_TRUE(manager_.wait_for("READY=1"));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(manager_.wait_for("WATCHDOG=1"));
}

TEST_F(WatchedDaemon, HearsABusyWriterAndNotMoreOftenThanNeeded) {
  ChildDaemon child(options());
  ASSERT_TRUE(child.read_line().has_value());
  ASSERT_TRUE(manager_.wait_for("WATCHDOG=1"));
  manager_.forget_what_came();
  auto client = place_.connect();
  const auto begun_at = steady_clock::now();
  int commit_count = 0;
  while (steady_clock::now() - begun_at < std::chrono::milliseconds(3 * kPeriodMs)) {
    const std::string name = "n" + std::to_string(++commit_count);
    ASSERT_EQ(client.post("/v1/namespaces", R"({"namespace":[")" + name + "\"]}").status, 200);
  }
  const auto took_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begun_at).count();
  int heard_count = 0;
  while (manager_.receive(0) == "WATCHDOG=1") ++heard_count;
  EXPECT_GE(heard_count, 2);
  EXPECT_LE(heard_count, took_ms / (kPeriodMs / 4) + 1);
  EXPECT_GT(commit_count, heard_count);
}

TEST_F(WatchedDaemon, HearsNothingFromAWriterThatIsStuckThoughReadsGoOn) {
  ChildDaemon child(options());
  ASSERT_TRUE(child.read_line().has_value());
  ASSERT_TRUE(manager_.wait_for("WATCHDOG=1"));
  const pid_t writer = thread_named(child.pid(), "committer");
  ASSERT_GT(writer, 0);
  {
    const HeldThread held(writer);
    manager_.forget_what_came();
    EXPECT_EQ(manager_.receive(3 * kPeriodMs), "");
    EXPECT_EQ(place_.connect().get("/v1/namespaces").status, 200);
    EXPECT_EQ(place_.connect().get("/healthz").status, 200);
    EXPECT_TRUE(comes_to_be("/readyz", 503));
    EXPECT_THAT(place_.connect().get("/readyz").error_message(), HasSubstr("the writer"));
    EXPECT_EQ(manager_.receive(0), "");
  }
  EXPECT_TRUE(manager_.wait_for("WATCHDOG=1"));
  EXPECT_TRUE(comes_to_be("/readyz", 200));
}

TEST_F(WatchedDaemon, LeavesTheWatchdogOfAnotherProcessAlone) {
  ChildOptions others = options();
  others.environment["WATCHDOG_PID"] = "1";
  ChildDaemon child(others);
  ASSERT_TRUE(manager_.wait_for("READY=1"));
  EXPECT_EQ(manager_.receive(3 * kPeriodMs), "");
  EXPECT_EQ(place_.connect().get("/readyz").status, 200);
}

TEST_F(WatchedDaemon, NamesItsThreads) {
  ChildDaemon child(options());
  ASSERT_TRUE(child.read_line().has_value());
  ASSERT_TRUE(manager_.wait_for("WATCHDOG=1"));
  for (const char* const name :
       {"committer", "http-0", "commit-0", "files-0", "purge-0", "arena-builder"}) {
    EXPECT_GT(thread_named(child.pid(), name), 0) << name;
  }
}

}  // namespace
}  // namespace iceblink::test
