#include "iceberg/location_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "iceberg/location.h"

namespace iceblink::iceberg {
namespace {

using ::testing::HasSubstr;

std::string mapped(std::vector<LocationPrefix> prefixes, std::string_view location) {
  const auto map = LocationMap::of(std::move(prefixes));
  return map.ok() ? map->map(location) : map.error().message();
}

TEST(LocationMap, LeavesWhatNoPrefixCovers) {
  EXPECT_EQ(LocationMap().map("s3://b/k"), "s3://b/k");
  EXPECT_TRUE(LocationMap().is_empty());
  EXPECT_EQ(mapped({{"s3://b/w", "/mnt"}}, "s3://c/w"), "s3://c/w");
  EXPECT_EQ(mapped({{"s3://b/w", "/mnt"}}, ""), "");
}

TEST(LocationMap, ReplacesWholePartsOnly) {
  EXPECT_EQ(mapped({{"s3://b/w", "/mnt"}}, "s3://b/w"), "/mnt");
  EXPECT_EQ(mapped({{"s3://b/w", "/mnt"}}, "s3://b/w/x"), "/mnt/x");
  EXPECT_EQ(mapped({{"s3://b/w", "/mnt"}}, "s3://b/wide"), "s3://b/wide");
  EXPECT_EQ(mapped({{"/a", "/b"}}, "file:/a/x"), "file:/a/x");
}

TEST(LocationMap, DoesNotCareForSlashesAtTheEnds) {
  for (const char* from : {"s3://b/w", "s3://b/w/", "s3://b/w//"}) {
    for (const char* to : {"/mnt/d", "/mnt/d/"}) {
      EXPECT_EQ(mapped({{from, to}}, "s3://b/w/x"), "/mnt/d/x");
      EXPECT_EQ(mapped({{from, to}}, "s3://b/w"), "/mnt/d");
      EXPECT_EQ(mapped({{from, to}}, "s3://b/w/"), "/mnt/d/");
    }
  }
}

TEST(LocationMap, TakesTheRestByteForByte) {
  EXPECT_EQ(mapped({{"s3://b", "/m"}}, "s3://b//metadata//v%201+#?.json"),
            "/m//metadata//v%201+#?.json");
  EXPECT_EQ(mapped({{"file:///d", "file:///e"}}, "file:///d/a%20b"), "file:///e/a%20b");
  EXPECT_EQ(mapped({{"file:///d", "/e"}}, "file:///d/a%20b"), "/e/a%20b");
}

TEST(LocationMap, LetsTheLongestPrefixWinAndMapsOnce) {
  EXPECT_EQ(mapped({{"/a", "/x"}, {"/a/b", "/y"}, {"/a/b/c", "/z"}}, "/a/b/k"), "/y/k");
  EXPECT_EQ(mapped({{"/a", "/b"}, {"/b", "/c"}}, "/a/k"), "/b/k");
  EXPECT_EQ(mapped({{"/a", "/a/a"}}, "/a/k"), "/a/a/k");
}

TEST(LocationMap, TakesRootsAndSchemesAsPrefixes) {
  EXPECT_EQ(mapped({{"/", "/mnt/r"}}, "/a/b"), "/mnt/r/a/b");
  EXPECT_EQ(mapped({{"/mnt/r", "/"}}, "/mnt/r/a"), "/a");
  EXPECT_EQ(mapped({{"/mnt/r", "/"}}, "/mnt/r"), "/");
  EXPECT_EQ(mapped({{"s3://", "/mnt"}}, "s3://b/k"), "/mnt/b/k");
  EXPECT_EQ(mapped({{"s3a://", "s3://"}}, "s3a://b/k"), "s3://b/k");
  EXPECT_EQ(mapped({{"local:///", "/"}}, "local:////p"), "//p");
  EXPECT_EQ(mapped({{"file://data", "/d"}}, "file://data/p"), "/d/p");
}

TEST(LocationMap, GivesRelativeLocationsADirectory) {
  EXPECT_EQ(mapped({{"data/persistent", "/base/persistent"}}, "data/persistent/t/v1.metadata.json"),
            "/base/persistent/t/v1.metadata.json");
  EXPECT_EQ(mapped({{"data/persistent", "/base"}}, "data/other/v1"), "data/other/v1");
}

TEST(LocationMap, RefusesWhatItCannotMean) {
  const std::vector<std::vector<LocationPrefix>> bad = {{{"", "/a"}},
                                                        {{"/a", ""}},
                                                        {{"/a", "b"}},
                                                        {{"/a", "./b"}},
                                                        {{"/a", "/b"}, {"/a/", "/c"}},
                                                        {{std::string("/a\0", 3), "/b"}}};
  for (const auto& prefixes : bad) {
    const auto map = LocationMap::of(prefixes);
    ASSERT_FALSE(map.ok());
    EXPECT_EQ(map.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(map.error().message(), HasSubstr("location prefix"));
  }
}

TEST(LocationPrefixText, SplitsWhereATargetBegins) {
  const struct {
    const char* text;
    const char* from;
    const char* to;
  } cases[] = {{"s3://b/w=/mnt/w", "s3://b/w", "/mnt/w"},
               {"s3://b/day=1=/mnt/w", "s3://b/day=1", "/mnt/w"},
               {"/a=/b=/c", "/a", "/b=/c"},
               {"data/persistent=/base", "data/persistent", "/base"},
               {"s3a://b=s3://b", "s3a://b", "s3://b"},
               {"/a=/mnt/day=1", "/a", "/mnt/day=1"}};
  for (const auto& expected : cases) {
    const auto prefix = parse_location_prefix(expected.text);
    ASSERT_TRUE(prefix.ok()) << expected.text;
    EXPECT_EQ(prefix->from, expected.from);
    EXPECT_EQ(prefix->to, expected.to);
  }
}

TEST(LocationPrefixText, RefusesWhatDoesNotSplit) {
  for (const char* text : {"", "=", "/a", "/a=", "=/b", "/a=b", "/a=b=c"}) {
    const auto prefix = parse_location_prefix(text);
    ASSERT_FALSE(prefix.ok()) << text;
    EXPECT_EQ(prefix.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(prefix.error().message(), HasSubstr("FROM=TO"));
  }
}

TEST(Scheme, IsWhatStandsBeforeTheColon) {
  EXPECT_EQ(scheme_of("s3://b"), "s3");
  EXPECT_EQ(scheme_of("S3A:x"), "S3A");
  EXPECT_EQ(scheme_of("a+b-c.1:/x"), "a+b-c.1");
  for (const char* location : {"", "/a:b", "1a:b", ":b", "a/b:c", "a_b:c", "day=1:c"}) {
    EXPECT_EQ(scheme_of(location), std::nullopt) << location;
  }
  EXPECT_TRUE(is_same_scheme("S3", "s3"));
  EXPECT_FALSE(is_same_scheme("s3", "s3a"));
}

}  // namespace
}  // namespace iceblink::iceberg
