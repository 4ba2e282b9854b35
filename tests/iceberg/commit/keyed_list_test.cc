// Elements in order, found by key.
#include "iceberg/commit/keyed_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> all_of(const KeyedList<std::int32_t, std::string>& list,
                                std::int32_t key) {
  std::vector<std::string> found;
  list.for_each_of(key, [&](const std::string& element) { found.push_back(element); });
  return found;
}

KeyedList<std::int32_t, std::string> list() {
  KeyedList<std::int32_t, std::string> list(7);
  list.append(1, "a");
  list.append(2, "b");
  list.append(1, "c");
  list.append(3, "d");
  return list;
}

TEST(KeyedList, KeepsTheOrderAndFindsTheLastOfAKey) {
  const auto some = list();
  EXPECT_THAT(some.elements(), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(*some.find(1), "c");
  EXPECT_EQ(some.find(4), nullptr);
  EXPECT_THAT(all_of(some, 1), ElementsAre("c", "a"));
  EXPECT_THAT(all_of(some, 4), IsEmpty());
}

TEST(KeyedList, RemovesAllOfAKey) {
  auto some = list();
  EXPECT_TRUE(some.remove(1));
  EXPECT_FALSE(some.remove(1));
  EXPECT_THAT(some.elements(), ElementsAre("b", "d"));
  EXPECT_THAT(all_of(some, 1), IsEmpty());
  some.append(1, "e");
  EXPECT_THAT(some.elements(), ElementsAre("b", "d", "e"));
  EXPECT_THAT(all_of(some, 1), ElementsAre("e"));
}

TEST(KeyedList, PutsOneInThePlaceOfAllOfItsKey) {
  auto some = list();
  some.put(1, "e");
  some.put(4, "f");
  EXPECT_THAT(some.elements(), ElementsAre("b", "e", "d", "f"));
  EXPECT_THAT(all_of(some, 1), ElementsAre("e"));
}

TEST(KeyedList, IsEmptyOnceAllAreRemoved) {
  auto some = list();
  EXPECT_FALSE(some.empty());
  some.remove(1);
  some.remove(2);
  some.remove(3);
  EXPECT_TRUE(some.empty());
}

}  // namespace
}  // namespace iceblink::iceberg::testing
