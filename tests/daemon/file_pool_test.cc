#include "daemon/file_pool.h"

#include <gtest/gtest.h>

#include <future>

namespace iceblink::daemon {
namespace {

TEST(FilePool, RefusesAJobAboveItsQueueAndRunsTheOthers) {
  FilePool pool({.threads = 1, .queue_length_max = 1});
  std::promise<void> begun;
  std::promise<void> released;
  std::promise<void> second;
  ASSERT_TRUE(pool.run([&] {
    begun.set_value();
    released.get_future().wait();
  }));
  begun.get_future().wait();
  EXPECT_TRUE(pool.run([&] { second.set_value(); }));
  EXPECT_FALSE(pool.run([] {}));
  EXPECT_EQ(pool.queue_length(), 1u);
  released.set_value();
  second.get_future().wait();
}

TEST(FilePool, ClosedDropsWhatHasNotBegunAndSaysWhenTheRestHasEnded) {
  FilePool pool({.threads = 1});
  std::promise<void> begun;
  std::promise<void> released;
  bool has_run = false;
  ASSERT_TRUE(pool.run([&] {
    begun.set_value();
    released.get_future().wait();
  }));
  begun.get_future().wait();
  ASSERT_TRUE(pool.run([&] { has_run = true; }));
  EXPECT_EQ(pool.busy_count(), 1u);
  pool.close();
  EXPECT_FALSE(pool.wait_idle(std::chrono::steady_clock::now()));
  released.set_value();
  EXPECT_TRUE(pool.wait_idle(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_EQ(pool.busy_count(), 0u);
  pool.stop();
  EXPECT_FALSE(has_run);
}

TEST(FilePool, TakesNothingOnceStopped) {
  FilePool pool({.threads = 2});
  pool.stop();
  EXPECT_FALSE(pool.run([] {}));
  pool.stop();
}

}  // namespace
}  // namespace iceblink::daemon
