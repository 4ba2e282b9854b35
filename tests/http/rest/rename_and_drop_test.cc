// Renaming and dropping tables, with their files and without.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class RenameAndDrop : public RestTest {};

TEST_F(RenameAndDrop, MovesANameAndNothingElse) {
  const auto base = create_table("from");
  const auto location = metadata_location(table("from"));
  EXPECT_THAT(rename("tables", in_ns("from"), in_ns("to")), HasStatus(204));
  EXPECT_THAT(head(table("from")), HasStatus(404));
  EXPECT_EQ(load("to"), base);
  EXPECT_EQ(metadata_location(table("to")), location);
  EXPECT_THAT(names_of("/ns/tables"), ElementsAre("to"));
}

TEST_F(RenameAndDrop, MovesATableToAnotherNamespace) {
  create_namespace(R"(["other"])");
  const auto base = create_table("from");
  EXPECT_THAT(rename("tables", in_ns("from"), {{"namespace", Array{"other"}}, {"name", "to"}}),
              HasStatus(204));
  EXPECT_EQ(metadata_at("/other/tables/to"), base);
}

TEST_F(RenameAndDrop, DoesNotTakeTheFilesOfTheRenamedOne) {
  create_table("a");
  const auto renamed = commit_to("a", append(load("a"), 1));
  EXPECT_THAT(rename("tables", in_ns("a"), in_ns("b")), HasStatus(204));
  create_table("a");
  const auto kept = metadata_location(table("b"));
  const auto purged = metadata_location(table("a"));
  EXPECT_THAT(del(table("a") + "?purgeRequested=true"), HasStatus(204));
  expect_to_go(purged);
  EXPECT_TRUE(is_there(kept));
  EXPECT_EQ(load("b"), renamed);
}

TEST_F(RenameAndDrop, DoesNotTakeTheFilesOfTheOneThatHadTheNameBefore) {
  create_table("a");
  EXPECT_THAT(rename("tables", in_ns("a"), in_ns("b")), HasStatus(204));
  const auto fresh = create_table("a");
  const auto purged = metadata_location(table("b"));
  EXPECT_THAT(del(table("b") + "?purgeRequested=true"), HasStatus(204));
  expect_to_go(purged);
  EXPECT_EQ(load("a"), fresh);
}

TEST_F(RenameAndDrop, RefusesTheTablesOwnName) {
  const auto base = create_table("tbl");
  EXPECT_THAT(rename("tables", in_ns("tbl"), in_ns("tbl")),
              IsError(409, "AlreadyExistsException", HasSubstr("Table already exists")));
  EXPECT_EQ(load("tbl"), base);
}

TEST_F(RenameAndDrop, NeedsTheSource) {
  EXPECT_THAT(rename("tables", in_ns("from"), in_ns("to")),
              IsError(404, "NoSuchTableException", HasSubstr("Table does not exist")));
  EXPECT_THAT(head(table("to")), HasStatus(404));
}

TEST_F(RenameAndDrop, NeedsTheNamespaceItMovesTo) {
  create_table("from");
  EXPECT_THAT(
      rename("tables", in_ns("from"), {{"namespace", Array{"non_existing"}}, {"name", "to"}}),
      IsError(404, "NoSuchNamespaceException",
              HasSubstr("Namespace does not exist: non_existing")));
  EXPECT_THAT(head(table("from")), HasStatus(204));
}

TEST_F(RenameAndDrop, RefusesTheNameOfAnotherTable) {
  const auto one = create_table("one");
  const auto two = create_table("two");
  EXPECT_THAT(rename("tables", in_ns("one"), in_ns("two")),
              IsError(409, "AlreadyExistsException", HasSubstr("Table already exists")));
  EXPECT_EQ(load("one").at("table-uuid"), one.at("table-uuid"));
  EXPECT_EQ(load("two").at("table-uuid"), two.at("table-uuid"));
}

TEST_F(RenameAndDrop, RefusesTheNameOfAView) {
  create_table("table");
  create_sql_view("view");
  EXPECT_THAT(rename("tables", in_ns("table"), in_ns("view")),
              IsError(409, "AlreadyExistsException",
                      HasSubstr("Cannot rename ns.table to ns.view. View already exists")));
  EXPECT_THAT(head(table("table")), HasStatus(204));
  EXPECT_THAT(head(view("view")), HasStatus(204));
}

TEST_F(RenameAndDrop, DoesNotRenameAViewAsATable) {
  create_sql_view("view");
  EXPECT_THAT(rename("tables", in_ns("view"), in_ns("other")),
              IsError(404, "NoSuchTableException", HasSubstr("Table does not exist")));
}

TEST_F(RenameAndDrop, DropsATable) {
  create_table("tbl");
  EXPECT_THAT(del(table("tbl")), HasStatus(204));
  EXPECT_THAT(head(table("tbl")), HasStatus(404));
  EXPECT_THAT(names_of("/ns/tables"), IsEmpty());
  EXPECT_THAT(del(table("tbl")),
              IsError(404, "NoSuchTableException", StartsWith("Table does not exist: ns.tbl")));
}

TEST_F(RenameAndDrop, PurgesTheFilesOfATable) {
  const auto base = create_table("tbl");
  commit_to("tbl", properties_change(base, {{"a", "1"}}));
  const auto before = files();
  EXPECT_EQ(before.size(), 2u);
  EXPECT_THAT(del(table("tbl") + "?purgeRequested=true"), HasStatus(204));
  EXPECT_THAT(head(table("tbl")), HasStatus(404));
  for (const auto& file : before) expect_to_go(file);
}

TEST_F(RenameAndDrop, LeavesTheFilesWhereNoPurgeIsAskedFor) {
  const auto base = create_table("tbl");
  commit_to("tbl", properties_change(base, {{"a", "1"}}));
  const auto before = files();
  EXPECT_THAT(del(table("tbl") + "?purgeRequested=false"), HasStatus(204));
  EXPECT_EQ(files(), before);
  EXPECT_EQ(before.size(), 2u);
}

TEST_F(RenameAndDrop, DoesNotTakeAViewForATable) {
  create_sql_view("view");
  EXPECT_THAT(del(table("view")),
              IsError(404, "NoSuchTableException", StartsWith("Table does not exist: ns.view")));
  EXPECT_THAT(head(view("view")), HasStatus(204));
}

}  // namespace
}  // namespace iceblink::test
