// Which tables were committed to, look by look.
#include "client/cli/status/hot_tables.h"

#include "tests/client/segment_fixture.h"

namespace iceblink::testing {
namespace {

constexpr std::size_t kCount = Catalog::kChangesPerCall;

/// As many tables as two calls tell, x0 and on and y0 and on, in an arena that has room for as many
/// commits: one that is replaced would end the feed.
class HotTables : public SegmentTest {
 protected:
  void SetUp() override {
    store_.options.headroom_bytes_min = std::uint64_t{32} << 20;
    store_.seed(encode(Namespace{"a"}), RecordKind::kNamespace, "");
    for (const char* const prefix : {"x", "y"}) {
      for (std::size_t i = 0; i < kCount; ++i) {
        store_.seed(encode(table(prefix, i)), RecordKind::kTable, "s3://1");
      }
    }
    SegmentTest::SetUp();
  }
  static TableIdent table(const std::string& prefix, std::size_t number) {
    return ident({"a"}, prefix + std::to_string(number));
  }
};

TEST_F(HotTables, ALookEndsAfterSoManyCallsAndTheNextOneGoesOn) {
  const Catalog catalog = open();
  cli::HotTables hot(/*calls_max=*/1);
  EXPECT_TRUE(hot.take(catalog, 1).empty());
  for (const char* const prefix : {"x", "y"}) {
    for (std::size_t i = 0; i < kCount; ++i) store_.put_table(table(prefix, i), "s3://2");
    commit();
  }
  const auto first = hot.take(catalog, 2 * kCount);
  ASSERT_EQ(first.size(), kCount);
  EXPECT_TRUE(first.front().name.starts_with("a.x"));
  const auto second = hot.take(catalog, 2 * kCount);
  ASSERT_EQ(second.size(), kCount);
  EXPECT_TRUE(second.front().name.starts_with("a.y"));
  EXPECT_TRUE(hot.take(catalog, 2 * kCount).empty());
}

}  // namespace
}  // namespace iceblink::testing
