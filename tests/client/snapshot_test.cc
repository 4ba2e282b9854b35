#include <iceblink/snapshot.h>

#include "tests/client/segment_fixture.h"

namespace iceblink::testing {
namespace {

using ::testing::ElementsAre;

class SnapshotReader : public SegmentTest {};

std::string location_in(const Snapshot& snapshot, const TableIdent& table) {
  const auto found = snapshot.find(table);
  if (!found) return "error: " + found.error().message();
  return *found ? std::string((*found)->metadata_location()) : "absent";
}

TEST_F(SnapshotReader, StaysAtItsGenerationThroughCommitsAndFlips) {
  commit_tables(2);
  const Catalog catalog = open();
  const auto before = catalog.snapshot();
  ASSERT_OK(before);
  store_.put_table(ident({"a"}, "t0"), "s3://moved");
  store_.drop_table(ident({"a"}, "t1"));
  store_.put_namespace({"b"});
  commit();
  const auto after = catalog.snapshot();
  flip();
  flip();
  EXPECT_EQ(location_in(*before, ident({"a"}, "t0")), "s3://t0");
  EXPECT_EQ(location_in(*before, ident({"a"}, "t1")), "s3://t1");
  EXPECT_THAT(before->namespace_exists({"b"}), IsValue(false));
  EXPECT_THAT(*before->list_tables({"a"}), ElementsAre("t0", "t1"));
  EXPECT_EQ(location_in(*after, ident({"a"}, "t0")), "s3://moved");
  EXPECT_EQ(location_in(*after, ident({"a"}, "t1")), "absent");
  EXPECT_THAT(*after->list_namespaces(), ElementsAre("a", "b"));
  EXPECT_EQ(after->generation(), before->generation() + 1);
}

TEST_F(SnapshotReader, OutlivesItsCatalogAndTheFilesOfItsSegment) {
  commit_tables(1);
  std::optional<Snapshot> kept;
  {
    const Catalog catalog = open();
    kept = *catalog.snapshot();
  }
  store_.stop();
  std::filesystem::remove_all(dir_.path());
  const Snapshot copy = *kept;
  kept.reset();
  EXPECT_EQ(location_in(copy, ident({"a"}, "t0")), "s3://t0");
}

TEST_F(SnapshotReader, ShowsWhatThePointerSays) {
  commit_tables(1);
  const auto found = open().snapshot()->find(ident({"a"}, "t0"));
  ASSERT_OK(found);
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->generation(), store_.generation());
  EXPECT_EQ((*found)->kind(), ObjectKind::kTable);
  EXPECT_EQ((*found)->format_version(), 0u);
  EXPECT_EQ(sizeof(TableView), 32u);
}

TEST_F(SnapshotReader, ListsNamesSorted) {
  store_.put_namespace({"z"});
  store_.put_namespace({"m"});
  store_.put_namespace({"m", "inner"});
  store_.put_namespace({"m", "also"});
  for (const char* name : {"b", "a.b", "B", "ü", "a"}) {
    store_.put_table(ident({"m"}, name), "s3://x");
  }
  store_.put(encode(ident({"m"}, "view")), RecordKind::kView, "s3://v");
  commit();
  const auto snapshot = open().snapshot();
  EXPECT_THAT(*snapshot->list_namespaces(), ElementsAre("m", "z"));
  EXPECT_THAT(*snapshot->list_namespaces({"m"}), ElementsAre("also", "inner"));
  EXPECT_THAT(*snapshot->list_tables({"m"}), ElementsAre("B", "a", "a.b", "b", "ü"));
  EXPECT_THAT(*snapshot->list_views({"m"}), ElementsAre("view"));
  EXPECT_THAT(*snapshot->list_tables({"z"}), ElementsAre());
  EXPECT_THAT(snapshot->list_namespaces({"nix"}), IsError(ErrorKind::kNotFound));
}

TEST_F(SnapshotReader, TellsTablesFromViewsAndWhatIsAbsentFromWhatCannotBe) {
  store_.put_namespace({"m"});
  store_.put_table(ident({"m"}, "t"), "s3://t");
  store_.put(encode(ident({"m"}, "v")), RecordKind::kView, "s3://v");
  commit();
  const auto snapshot = open().snapshot();
  ASSERT_OK(snapshot);
  const TableIdent table = ident({"m"}, "t");
  const TableIdent view = ident({"m"}, "v");
  EXPECT_THAT(snapshot->table_exists(table), IsValue(true));
  EXPECT_THAT(snapshot->view_exists(table), IsValue(false));
  EXPECT_THAT(snapshot->table_exists(view), IsValue(false));
  EXPECT_THAT(snapshot->view_exists(view), IsValue(true));
  EXPECT_THAT(snapshot->view_exists(ident({"m"}, "nix")), IsValue(false));
  EXPECT_THAT(snapshot->namespace_exists({"m"}), IsValue(true));
  EXPECT_THAT(snapshot->namespace_exists({"m", "t"}), IsValue(false));
  EXPECT_EQ((*snapshot->find(view))->kind(), ObjectKind::kView);
  // Beyond what is quickly seen to be a name, and one that is none.
  EXPECT_THAT(snapshot->table_exists(ident({"ü"}, "t")), IsValue(false));
  const TableIdent none = ident({"a\x1f"
                                 "b"},
                                "t");
  EXPECT_THAT(snapshot->table_exists(none), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(snapshot->view_exists(none), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(snapshot->namespace_exists({"a", ""}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_EQ(kind_of(snapshot->find(none)), ErrorKind::kInvalidArgument);
}

TEST_F(SnapshotReader, FindsByAPreparedKeyAcrossAFlip) {
  store_.put_namespace({"m"});
  store_.put_table(ident({"m"}, "t"), "s3://t");
  store_.put(encode(ident({"m"}, "v")), RecordKind::kView, "s3://v");
  commit();
  const Catalog catalog = open();
  const auto before = catalog.snapshot();
  const auto table = before->prepare(ident({"m"}, "t"));
  const auto view = before->prepare(ident({"m"}, "v"));
  const auto absent = before->prepare(ident({"m"}, "nix"));
  ASSERT_OK(table);
  ASSERT_OK(view);
  ASSERT_OK(absent);
  EXPECT_THAT(before->prepare(ident({"m"}, "")), IsError(ErrorKind::kInvalidArgument));
  flip();
  for (const auto& snapshot : {*before, *catalog.snapshot()}) {
    EXPECT_EQ((*snapshot.find(*table))->metadata_location(), "s3://t");
    EXPECT_EQ((*snapshot.find(*view))->kind(), ObjectKind::kView);
    const auto nothing = snapshot.find(*absent);
    ASSERT_OK(nothing);
    EXPECT_FALSE(nothing->has_value());
  }
  EXPECT_THAT(catalog.table_exists(*table), IsValue(true));
  EXPECT_THAT(catalog.table_exists(*view), IsValue(false));
}

TEST_F(SnapshotReader, FindsManyOrNamesTheOneThatCannotBe) {
  commit_tables(2);
  const auto snapshot = open().snapshot();
  const std::vector<TableIdent> idents = {ident({"a"}, "t1"), ident({"a"}, "nix"),
                                          ident({"ü"}, "t0")};
  std::vector<std::optional<TableView>> found(idents.size());
  ASSERT_OK(snapshot->find_many(idents, found));
  EXPECT_EQ(found[0]->metadata_location(), "s3://t1");
  EXPECT_FALSE(found[1].has_value());
  EXPECT_FALSE(found[2].has_value());
  const std::vector<TableIdent> wrong = {ident({"a"}, "t1"), ident({}, "t")};
  EXPECT_THAT(snapshot->find_many(wrong, {found.data(), 2}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(snapshot->find_many(wrong, found), IsError(ErrorKind::kInvalidArgument));
}

}  // namespace
}  // namespace iceblink::testing
