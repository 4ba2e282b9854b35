#include <unistd.h>

#include <thread>

#include "tests/client/segment_fixture.h"

namespace iceblink::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ChangeFeed : public SegmentTest {};

TEST_F(ChangeFeed, TellsWhatHappenedInOrder) {
  const Catalog catalog = open();
  const auto start = catalog.change_token();
  ASSERT_OK(start);
  commit_tables(1);
  store_.put_table(ident({"a"}, "t0"), "s3://moved");
  commit();
  store_.drop_table(ident({"a"}, "t0"));
  store_.drop_namespace({"a"});
  commit();
  const auto found = catalog.changes_since(*start);
  ASSERT_OK(found);
  ASSERT_EQ(found->changes.size(), 5u);
  EXPECT_EQ(found->changes[0].kind, ObjectKind::kNamespace);
  EXPECT_EQ(found->changes[0].levels, Namespace{"a"});
  EXPECT_EQ(found->changes[1].name, "t0");
  EXPECT_EQ(found->changes[1].generation, start->generation + 1);
  EXPECT_EQ(found->changes[2].metadata_location, "s3://moved");
  EXPECT_EQ(found->changes[2].generation, start->generation + 2);
  EXPECT_EQ(found->changes[3].op, TableChange::Op::kDrop);
  EXPECT_EQ(found->changes[4].generation, start->generation + 3);
  EXPECT_EQ(found->token.generation, store_.generation());
  const auto nothing = catalog.changes_since(found->token);
  ASSERT_OK(nothing);
  EXPECT_TRUE(nothing->changes.empty());
  EXPECT_EQ(nothing->token, found->token);
}

TEST_F(ChangeFeed, GoesOnAfterAFlip) {
  commit_tables(1);
  const Catalog catalog = open();
  flip();
  const auto token = catalog.change_token();
  store_.put_table(ident({"a"}, "t0"), "s3://moved");
  commit();
  const auto found = catalog.changes_since(*token);
  ASSERT_OK(found);
  ASSERT_EQ(found->changes.size(), 1u);
  EXPECT_EQ(found->changes[0].metadata_location, "s3://moved");
}

TEST_F(ChangeFeed, ComesInPiecesOfWholeGenerations) {
  store_.options.headroom_bytes_min = std::uint64_t{64} << 20;  // so that no flip cuts it short
  ASSERT_OK(store_.start(dir_.path()));
  const Catalog catalog = open();
  auto token = *catalog.change_token();
  constexpr int kTables = static_cast<int>(Catalog::kChangesPerCall) / 2;
  for (int i = 0; i < 5; ++i) commit_tables(kTables);  // each one namespace, and tables
  std::vector<std::size_t> sizes;
  while (true) {
    const auto found = catalog.changes_since(token);
    ASSERT_OK(found);
    if (found->changes.empty()) break;
    sizes.push_back(found->changes.size());
    token = found->token;
  }
  EXPECT_THAT(sizes, ::testing::ElementsAre(2 * (kTables + 1), 2 * (kTables + 1), kTables + 1));
  EXPECT_EQ(token.generation, store_.generation());
}

TEST_F(ChangeFeed, SaysWhatIsGoneAndWhenTheLogIsNeeded) {
  commit_tables(1);
  const Catalog catalog = open();
  const auto now = *catalog.change_token();
  EXPECT_THAT(catalog.changes_since({now.generation + 1, 0}), IsError(ErrorKind::kGone));
  EXPECT_THAT(catalog.changes_since({now.generation, now.incarnation + 1}),
              IsError(ErrorKind::kGone));
  flip();
  EXPECT_THAT(catalog.changes_since({now.generation - 1, 0}), IsError(ErrorKind::kNoDaemon));
}

TEST_F(ChangeFeed, AWaiterIsWokenByACommit) {
  const Catalog catalog = open();
  const auto now = *catalog.generation();
  std::thread writer([&] { commit_tables(1); });
  const auto woken = catalog.wait_for_change(now, seconds(60));
  writer.join();
  ASSERT_OK(woken);
  EXPECT_EQ(*woken, now + 1);
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "t0")), IsValue(true));
}

TEST_F(ChangeFeed, AWaitEndsInTime) {
  const Catalog catalog = open();
  const auto now = *catalog.generation();
  const auto nothing = catalog.wait_for_change(now, milliseconds(1));
  ASSERT_OK(nothing);
  EXPECT_FALSE(nothing->has_value());
  EXPECT_THAT(catalog.wait_for_change(now + 1, seconds(60)), IsError(ErrorKind::kGone));
  commit_tables(1);
  const auto passed = catalog.wait_for_change(now, milliseconds::max());
  ASSERT_OK(passed);
  EXPECT_EQ(*passed, now + 1);
}

TEST_F(ChangeFeed, InfoTellsOfTheSegment) {
  commit_tables(3);
  const Catalog catalog = open();
  const auto info = catalog.info();
  ASSERT_OK(info);
  EXPECT_EQ(info->generation, store_.generation());
  EXPECT_EQ(info->epoch, 1u);
  EXPECT_EQ(info->table_count, 3u);
  EXPECT_EQ(info->namespace_count, 1u);
  EXPECT_EQ(info->daemon_version, "test");
  EXPECT_LT(info->used_bytes, info->arena_bytes);
  store_.publisher().beat();
  EXPECT_FALSE(catalog.health().is_stale);
  EXPECT_EQ(catalog.health().pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(catalog.runtime_dir(), dir_.path());
}

}  // namespace
}  // namespace iceblink::testing
