#include "faults/plan.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

namespace iceblink::faults {
namespace {

TEST(Plan, ReadsEveryElement) {
  auto plan = std::make_unique<Plan>();
  ASSERT_TRUE(parse_plan("slow:7:250,fail:pwrite:3:ENOSPC,page:/p,record:/r", *plan));
  EXPECT_EQ(plan->seed, 7u);
  EXPECT_EQ(plan->delay_mean_us, 250u);
  EXPECT_EQ(plan->action, Action::kFail);
  EXPECT_EQ(plan->call, Call::kPwrite);
  EXPECT_EQ(plan->at_number, 3u);
  EXPECT_EQ(plan->error, ENOSPC);
  EXPECT_STREQ(plan->page_file, "/p");
  EXPECT_STREQ(plan->record_file, "/r");
  auto other = std::make_unique<Plan>();
  ASSERT_TRUE(parse_plan("short:write:1", *other));
  EXPECT_EQ(other->action, Action::kShort);
}

TEST(Plan, RefusesWhatItDoesNotKnow) {
  for (const char* const text :
       {"", "fast:1:2", "slow:1", "slow:x:1", "slow:1:0", "fail:pwrite:1", "fail:pwrite:0:EIO",
        "fail:chroot:1:EIO", "fail:pwrite:1:EWHAT", "short:pwrite:1:EIO",
        "page:", "record:", "fail:read:1:EIO,short:read:1"}) {
    auto plan = std::make_unique<Plan>();
    EXPECT_FALSE(parse_plan(text, *plan)) << text;
  }
}

TEST(Plan, GivesEveryCallANameOfItsOwn) {
  for (std::size_t i = 0; i < kCallCount; ++i) {
    EXPECT_EQ(call_named(kCallNames[i]), static_cast<Call>(i)) << kCallNames[i];
  }
}

TEST(Plan, DelaysBySeedAroundTheMean) {
  auto plan = std::make_unique<Plan>();
  plan->seed = 1;
  plan->delay_mean_us = 1000;
  auto other = std::make_unique<Plan>(*plan);
  other->seed = 2;
  constexpr std::uint64_t kCount = 10'000;
  std::uint64_t sum = 0;
  bool differs = false;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(delay_us(*plan, i), delay_us(*plan, i));
    EXPECT_LE(delay_us(*plan, i), 20'000u);
    sum += delay_us(*plan, i);
    differs = differs || delay_us(*plan, i) != delay_us(*other, i);
  }
  EXPECT_TRUE(differs);
  EXPECT_NEAR(static_cast<double>(sum) / kCount, 1000.0, 50.0);
}

}  // namespace
}  // namespace iceblink::faults
