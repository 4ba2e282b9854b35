#include "daemon/http/etag.h"

#include <gtest/gtest.h>

#include <set>

namespace iceblink::daemon::http {
namespace {

TableRow verified_row() {
  TableRow row;
  row.location = "/w/t/metadata/v1.metadata.json";
  row.table_uuid[0] = 1;
  row.metadata_fingerprint[0] = 2;
  row.generation = 7;
  return row;
}

TEST(ETag, DiffersByEveryThingThatMakesARepresentation) {
  const TableRow row = verified_row();
  TableRow moved = row;
  moved.location = "/w/t/metadata/v2.metadata.json";
  TableRow recreated = row;
  recreated.table_uuid[0] = 9;
  TableRow rewritten = row;
  rewritten.metadata_fingerprint[15] = 9;
  const std::set<std::string> tags{
      etag_of(row, SnapshotMode::kAll), etag_of(row, SnapshotMode::kRefs),
      etag_of(moved, SnapshotMode::kAll), etag_of(recreated, SnapshotMode::kAll),
      etag_of(rewritten, SnapshotMode::kAll)};
  EXPECT_EQ(tags.size(), 5u);
}

TEST(ETag, CountsTheGenerationOfUnverifiedPointersOnly) {
  TableRow row = verified_row();
  const auto before = etag_of(row, SnapshotMode::kAll);
  row.generation = 8;
  EXPECT_EQ(etag_of(row, SnapshotMode::kAll), before);
  row.metadata_fingerprint = {};
  const auto unverified = etag_of(row, SnapshotMode::kAll);
  row.generation = 9;
  EXPECT_NE(etag_of(row, SnapshotMode::kAll), unverified);
}

TEST(ETag, IsAQuotedStrongTag) {
  const auto tag = etag_of(verified_row(), SnapshotMode::kAll);
  ASSERT_EQ(tag.size(), 34u);
  EXPECT_EQ(tag.front(), '"');
  EXPECT_EQ(tag.back(), '"');
}

TEST(ETagMatches, IgnoresMarksAndTakesLists) {
  EXPECT_TRUE(etag_matches("\"abc\"", "\"abc\""));
  EXPECT_TRUE(etag_matches("W/\"abc\"", "\"abc\""));
  EXPECT_TRUE(etag_matches("abc", "\"abc\""));
  EXPECT_TRUE(etag_matches("\"x\", \t\"abc\" ,\"y\"", "\"abc\""));
  EXPECT_TRUE(etag_matches(" * ", "\"abc\""));
  EXPECT_FALSE(etag_matches("\"ab\"", "\"abc\""));
  EXPECT_FALSE(etag_matches("\"x\",\"y\"", "\"abc\""));
  EXPECT_FALSE(etag_matches(",", "\"abc\""));
}

}  // namespace
}  // namespace iceblink::daemon::http
