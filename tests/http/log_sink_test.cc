#include "daemon/log_sink.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "daemon/log_format.h"

namespace iceblink::daemon {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class LogSinkTest : public ::testing::Test {
 protected:
  LogSinkTest() {
    EXPECT_EQ(::pipe2(pipe_, O_CLOEXEC), 0);
    EXPECT_EQ(::fcntl(pipe_[0], F_SETFL, O_NONBLOCK), 0);
    logger_ = std::make_unique<spdlog::logger>(
        "x", std::make_shared<LogSink>(pipe_[1], std::chrono::milliseconds(1)));
    logger_->set_formatter(journal_formatter());
  }
  ~LogSinkTest() override {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  std::string read_all() {
    std::string text;
    char chunk[65536];
    for (;;) {
      const auto got = ::read(pipe_[0], chunk, sizeof(chunk));
      if (got <= 0) return text;
      text.append(chunk, static_cast<std::size_t>(got));
    }
  }

  int pipe_[2] = {-1, -1};
  std::unique_ptr<spdlog::logger> logger_;
};

TEST_F(LogSinkTest, WritesEachLineAtOnce) {
  logger_->info("one");
  EXPECT_EQ(read_all(), "<6>one\n");
  logger_->error("two");
  EXPECT_EQ(read_all(), "<3>two\n");
}

TEST_F(LogSinkTest, HoldsNothingUpWhenNobodyReadsAndSaysWhatIsMissing) {
  constexpr int kLines = 20'000;  // far more than a pipe holds
  for (int i = 0; i < kLines; ++i) logger_->info("line of some length, number {}", i);
  const std::string kept = read_all();
  const auto kept_count = std::count(kept.begin(), kept.end(), '\n');
  EXPECT_GT(kept_count, 100);
  EXPECT_LT(kept_count, kLines);
  EXPECT_THAT(kept, EndsWith("\n"));
  logger_->info("again");
  EXPECT_EQ(read_all(),
            "<4>log lines left out count=" + std::to_string(kLines - kept_count) + "\n<6>again\n");
  logger_->info("and on");
  EXPECT_EQ(read_all(), "<6>and on\n");
}

TEST_F(LogSinkTest, WaitsOnceForAReaderThatIsSlowHoweverMuchGetsThrough) {
  constexpr std::chrono::milliseconds kPatience(400);
  constexpr int kRounds = 20;
  spdlog::logger logger("x", std::make_shared<LogSink>(pipe_[1], kPatience));
  const auto begun_at = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 100; ++i) logger.info(std::string(1000, 'x'));  // more than there is room
    static_cast<void>(read_all());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun_at, kPatience * kRounds / 2);
}

TEST_F(LogSinkTest, CountsALineThatCouldNotBeWritten) {
  // One that may be written to and fails: a full device.
  const int kept = ::dup(pipe_[1]);
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  ASSERT_GE(::dup2(full, pipe_[1]), 0);
  logger_->info("lost");
  ASSERT_GE(::dup2(kept, pipe_[1]), 0);
  logger_->info("kept");
  EXPECT_EQ(read_all(), "<4>log lines left out count=1\n<6>kept\n");
  ::close(kept);
  ::close(full);
}

TEST_F(LogSinkTest, CutsALineThatIsTooLong) {
  logger_->info(std::string(10'000, 'x'));
  const std::string line = read_all();
  EXPECT_EQ(line.size(), LogSink::kLineBytesMax);
  EXPECT_THAT(line, EndsWith("x...\n"));
}

}  // namespace
}  // namespace iceblink::daemon
