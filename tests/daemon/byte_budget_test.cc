#include "daemon/byte_budget.h"

#include <gtest/gtest.h>

namespace iceblink::daemon {
namespace {

TEST(ByteBudget, GivesWhatIsLeftAndTakesItBack) {
  ByteBudget budget(100);
  auto first = budget.take(60);
  ASSERT_TRUE(first);
  EXPECT_FALSE(budget.take(41));
  {
    auto second = budget.take(40);
    EXPECT_TRUE(second);
    EXPECT_FALSE(budget.take(1));
  }
  EXPECT_TRUE(budget.take(40));
}

TEST(ByteBudget, GivesOneAloneWhateverItAsksFor) {
  ByteBudget budget(100);
  auto large = budget.take(1000);
  ASSERT_TRUE(large);
  EXPECT_FALSE(budget.take(1));
  {
    const auto moved = std::move(*large);
    large.reset();
    EXPECT_FALSE(budget.take(1));
  }
  EXPECT_TRUE(budget.take(1));
}

}  // namespace
}  // namespace iceblink::daemon
