// A table's metadata with those snapshots alone that a ref names.
#include "iceberg/commit/referenced_snapshots.h"

#include "tests/iceberg/commit/commit_samples.h"
#include "tests/iceberg/metadata_equality.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kRefs = R"({"main":{"snapshot-id":4,"type":"branch"},
                              "b":{"snapshot-id":2,"type":"branch"},
                              "t":{"snapshot-id":2,"type":"tag"}})";

/// Null where it cannot be written or read.
std::shared_ptr<TableMetadata> with_referenced(const TableMetadata& table) {
  const auto json = write_with_referenced_snapshots(table);
  if (!json) return nullptr;
  EXPECT_THAT(problems_of(*json), IsEmpty());
  const auto written = load(std::string_view(*json));
  return written ? *written : nullptr;
}

TEST(ReferencedSnapshots, AreAllThatIsWritten) {
  const auto table = load(with_history(v3(), {1, 2, 3, 4}).with("refs", kRefs));
  ASSERT_TRUE(table) << table.error().message();
  const auto written = with_referenced(**table);
  ASSERT_NE(written, nullptr);
  EXPECT_THAT(snapshot_ids(*written), ElementsAre(2, 4));
  EXPECT_THAT(logged_ids(*written), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ref_names(*written), ElementsAre("main", "b", "t"));
}

TEST(ReferencedSnapshots, AllElseIsAsItWas) {
  const auto table = load(
      with_history(v2(), {1, 2})
          .with(
              "refs",
              R"({"main":{"snapshot-id":2,"type":"branch"},"t":{"snapshot-id":1,"type":"tag"}})"));
  ASSERT_TRUE(table) << table.error().message();
  const auto written = with_referenced(**table);
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(difference(**table, *written), "");
}

TEST(ReferencedSnapshots, OneThatNobodyNamesIsNotEvenLookedAt) {
  const auto bad = snapshot("1").with("summary", "[]").text();
  const auto base = v2().with("snapshots", '[' + bad + ',' + snapshot("2").text() + ']')
                        .with("current-snapshot-id", "2");
  const auto table = load(base);
  ASSERT_TRUE(table) << table.error().message();
  const auto written = with_referenced(**table);
  ASSERT_NE(written, nullptr);
  EXPECT_THAT(snapshot_ids(*written), ElementsAre(2));
  const auto of_bad = load(base.with("current-snapshot-id", "1"));
  const auto json = write_with_referenced_snapshots(**of_bad);
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().message(), "snapshots[0].summary: expected an object, found an array");
}

TEST(ReferencedSnapshots, WithoutRefsThereAreNone) {
  const auto table = load(with_history(v2(), {1, 2}).with("current-snapshot-id", "-1"));
  ASSERT_TRUE(table) << table.error().message();
  const auto written = with_referenced(**table);
  ASSERT_NE(written, nullptr);
  EXPECT_THAT(snapshot_ids(*written), IsEmpty());
}

TEST(ReferencedSnapshots, ManyRefsAreFoundAtOnce) {
  std::vector<std::int64_t> all;
  std::string refs = R"({"main":{"snapshot-id":200,"type":"branch"})";
  for (std::int64_t id = 1; id <= 200; ++id) {
    all.push_back(id);
    if (id % 2 != 0) continue;
    refs += R"(,"t)" + std::to_string(id) + R"(":{"snapshot-id":)" + std::to_string(id) +
            R"(,"type":"tag"})";
  }
  const auto table =
      load(with_history(v2().with("last-sequence-number", "200"), all).with("refs", refs + "}"));
  ASSERT_TRUE(table) << table.error().message();
  const auto written = with_referenced(**table);
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(snapshot_ids(*written).size(), 100);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
