#include "daemon/http/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace iceblink::daemon::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string decoded(std::string_view raw, PlusMeans plus = PlusMeans::kSpace) {
  const auto result = percent_decode(raw, plus);
  return result ? *result : "error: " + result.error().message();
}

Namespace levels_of(std::string_view raw, PlusMeans plus = PlusMeans::kSpace) {
  const auto result = decode_namespace_segment(raw, plus);
  return result ? *result : Namespace{"error: " + result.error().message()};
}

TEST(PercentDecode, DecodesOnceAndOnlyOnce) {
  EXPECT_EQ(decoded("a%20b"), "a b");
  EXPECT_EQ(decoded("a%2520b"), "a%20b");
  EXPECT_EQ(decoded("%C3%A9%2B1"), "\xC3\xA9+1");
  EXPECT_EQ(decoded("t%2Fx%2Ey"), "t/x.y");
}

TEST(PercentDecode, ReadsPlusAsTold) {
  EXPECT_EQ(decoded("a+b", PlusMeans::kSpace), "a b");
  EXPECT_EQ(decoded("a+b", PlusMeans::kPlus), "a+b");
  EXPECT_EQ(decoded("a%2Bb", PlusMeans::kSpace), "a+b");
}

TEST(PercentDecode, RefusesBrokenEscapes) {
  for (const char* raw : {"%", "%1", "a%", "%zz", "%1g", "%%20"}) {
    EXPECT_THAT(decoded(raw), HasSubstr("broken escape")) << raw;
  }
}

TEST(NamespaceSegment, SplitsAtTheEncodedSeparatorBeforeDecoding) {
  EXPECT_THAT(levels_of("a%1Fb.c"), ElementsAre("a", "b.c"));
  EXPECT_THAT(levels_of("a%1fb"), ElementsAre("a", "b"));
  EXPECT_THAT(levels_of("a%251Fb"), ElementsAre("a%1Fb"));
  EXPECT_THAT(levels_of("a%2Fb%1Fc%2Ed"), ElementsAre("a/b", "c.d"));
}

TEST(NamespaceSegment, SplitsAtTheAdvertisedSeparatorToo) {
  const auto split = [](std::string_view raw) {
    return decode_namespace_segment(raw, PlusMeans::kSpace, "%2E").value();
  };
  EXPECT_THAT(split("a%2Eb%2ec"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split("a%1Fb"), ElementsAre("a", "b"));
  EXPECT_THAT(split("a.b%2Ec%252Ed"), ElementsAre("a.b", "c%2Ed"));
}

TEST(NamespaceQuery, SplitsWhereTheSeparatorStandsForItself) {
  const auto split = [](std::string_view raw) {
    return decode_namespace_query(raw, PlusMeans::kSpace, "%2E").value();
  };
  EXPECT_THAT(split("a.b%2Ec%1Fd"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(split("a%252Eb"), ElementsAre("a%2Eb"));
  EXPECT_FALSE(decode_namespace_query("a..b", PlusMeans::kSpace, "%2E").ok());
  EXPECT_THAT(decode_namespace_query("a.b%1Fc+d", PlusMeans::kSpace).value(),
              ElementsAre("a.b", "c d"));
}

TEST(NamespaceSegment, RefusesEmptyLevelsAndWhatAKeyCannotHold) {
  for (const char* raw : {"", "%1F", "a%1F", "%1Fa", "a%1F%1Fb"}) {
    EXPECT_THAT(levels_of(raw), ElementsAre(HasSubstr("is empty"))) << raw;
  }
  EXPECT_THAT(levels_of("a%00b"), ElementsAre(HasSubstr("NUL")));
  EXPECT_THAT(levels_of("%FF"), ElementsAre(HasSubstr("UTF-8")));
  EXPECT_THAT(levels_of(std::string(512, 'a')), ElementsAre(HasSubstr("limit is 511")));
  EXPECT_THAT(levels_of(std::string(511, 'a')), ElementsAre(std::string(511, 'a')));
}

TEST(TableSegments, DecodeBothPartsTheSameWay) {
  const auto spaced = decode_table_segments("a+b", "t+1", PlusMeans::kSpace);
  ASSERT_TRUE(spaced.ok());
  EXPECT_EQ(*spaced, (TableIdent{{"a b"}, "t 1"}));
  const auto literal = decode_table_segments("a%20b", "t+1", PlusMeans::kPlus);
  ASSERT_TRUE(literal.ok());
  EXPECT_EQ(*literal, (TableIdent{{"a b"}, "t+1"}));
  EXPECT_FALSE(decode_table_segments("a", "", PlusMeans::kSpace).ok());
}

TEST(SplitTarget, CutsPathAndQuery) {
  const auto target = split_target("/v1/namespaces/a%2Fb?pageToken=&x&y=1%262=&y=2");
  ASSERT_TRUE(target.ok());
  EXPECT_THAT(target->segments, ElementsAre("v1", "namespaces", "a%2Fb"));
  EXPECT_THAT(target->query, ElementsAre(Pair("pageToken", ""), Pair("x", ""), Pair("y", "1%262="),
                                         Pair("y", "2")));
}

TEST(SplitTarget, KeepsEmptySegments) {
  EXPECT_THAT(split_target("/v1//x/")->segments, ElementsAre("v1", "", "x", ""));
  EXPECT_THAT(split_target("/")->segments, ElementsAre(""));
}

TEST(SplitTarget, TakesTheAbsoluteForm) {
  EXPECT_THAT(split_target("http://host:1/v1/config?a=b")->segments, ElementsAre("v1", "config"));
  EXPECT_THAT(split_target("http://host")->segments, ElementsAre(""));
  EXPECT_FALSE(split_target("v1/config").ok());
  EXPECT_FALSE(split_target("*").ok());
  EXPECT_FALSE(split_target("").ok());
}

}  // namespace
}  // namespace iceblink::daemon::http
