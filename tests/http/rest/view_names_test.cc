// Listing, renaming and dropping views, beside tables of the same namespace.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class ViewNames : public RestTest {};

TEST_F(ViewNames, AreListedByNamespace) {
  create_namespace(R"(["other"])");
  EXPECT_THAT(names_of("/ns/views"), IsEmpty());
  create_sql_view("v1");
  create_sql_view("v2");
  const auto body = view_creation("v1", Array{sql_of("spark", "select 1")});
  EXPECT_THAT(post("/other/views", body), HasStatus(200));
  EXPECT_THAT(names_of("/ns/views"), UnorderedElementsAre("v1", "v2"));
  EXPECT_THAT(names_of("/other/views"), ElementsAre("v1"));
  EXPECT_THAT(del(view("v1")), HasStatus(204));
  EXPECT_THAT(names_of("/ns/views"), ElementsAre("v2"));
  EXPECT_THAT(names_of("/other/views"), ElementsAre("v1"));
}

TEST_F(ViewNames, AreNotThoseOfTables) {
  create_table("table");
  EXPECT_THAT(names_of("/ns/views"), IsEmpty());
  create_sql_view("view");
  EXPECT_THAT(names_of("/ns/views"), ElementsAre("view"));
  EXPECT_THAT(names_of("/ns/tables"), ElementsAre("table"));
  EXPECT_THAT(del(table("table")), HasStatus(204));
  EXPECT_THAT(names_of("/ns/views"), ElementsAre("view"));
  EXPECT_THAT(names_of("/ns/tables"), IsEmpty());
}

TEST_F(ViewNames, AreListedInPages) {
  for (const char* name : {"v1", "v2", "v3"}) create_sql_view(name);
  const auto first = get("/ns/views?pageToken=&pageSize=2").json();
  EXPECT_EQ(first.at("identifiers").as_array().size(), 2u);
  const auto token = text_of(first.at("next-page-token"));
  const auto second = get("/ns/views?pageSize=2&pageToken=" + token).json();
  EXPECT_EQ(second.at("identifiers").as_array().size(), 1u);
  EXPECT_TRUE(second.at("next-page-token").is_null());
}

TEST_F(ViewNames, AreChangedWithoutTheView) {
  const auto base = create_sql_view("from");
  EXPECT_THAT(rename("views", in_ns("from"), in_ns("to")), HasStatus(204));
  EXPECT_THAT(head(view("from")), HasStatus(404));
  EXPECT_EQ(load_view("to"), base);
  EXPECT_THAT(del(view("to")), HasStatus(204));
}

TEST_F(ViewNames, AreChangedAcrossNamespaces) {
  create_namespace(R"(["other"])");
  const auto base = create_sql_view("from");
  EXPECT_THAT(rename("views", in_ns("from"), {{"namespace", Array{"other"}}, {"name", "to"}}),
              HasStatus(204));
  EXPECT_EQ(metadata_at("/other/views/to"), base);
  EXPECT_THAT(names_of("/ns/views"), IsEmpty());
}

TEST_F(ViewNames, NeedTheNamespaceTheyMoveTo) {
  create_sql_view("from");
  EXPECT_THAT(
      rename("views", in_ns("from"), {{"namespace", Array{"non_existing"}}, {"name", "to"}}),
      IsError(404, "NoSuchNamespaceException",
              HasSubstr("Namespace does not exist: non_existing")));
  EXPECT_THAT(head(view("from")), HasStatus(204));
}

TEST_F(ViewNames, NeedAViewToBeChanged) {
  EXPECT_THAT(rename("views", in_ns("non_existing"), in_ns("to")),
              IsError(404, "NoSuchViewException", HasSubstr("View does not exist")));
  create_table("table");
  EXPECT_THAT(rename("views", in_ns("table"), in_ns("to")),
              IsError(404, "NoSuchViewException", HasSubstr("View does not exist")));
}

TEST_F(ViewNames, AreNotThoseOfOtherViews) {
  const auto one = create_sql_view("viewOne");
  const auto two = create_sql_view("viewTwo");
  EXPECT_THAT(rename("views", in_ns("viewOne"), in_ns("viewTwo")),
              IsError(409, "AlreadyExistsException",
                      HasSubstr("Cannot rename ns.viewOne to ns.viewTwo. View already exists")));
  EXPECT_EQ(load_view("viewOne"), one);
  EXPECT_EQ(load_view("viewTwo"), two);
}

TEST_F(ViewNames, AreNotChangedToThatOfATable) {
  create_sql_view("view");
  create_table("table");
  EXPECT_THAT(rename("views", in_ns("view"), in_ns("table")),
              IsError(409, "AlreadyExistsException",
                      HasSubstr("Cannot rename ns.view to ns.table. Table already exists")));
  EXPECT_THAT(head(view("view")), HasStatus(204));
}

TEST_F(ViewNames, AreGoneOnceTheViewIsDropped) {
  create_sql_view("view");
  const auto location = metadata_location(view("view"));
  EXPECT_THAT(del(view("view")), HasStatus(204));
  EXPECT_THAT(head(view("view")), HasStatus(404));
  EXPECT_TRUE(is_there(location));
  EXPECT_THAT(del(view("view")),
              IsError(404, "NoSuchViewException", StartsWith("View does not exist: ns.view")));
}

TEST_F(ViewNames, OfTablesAreNotDroppedAsViews) {
  create_table("table");
  EXPECT_THAT(del(view("table")),
              IsError(404, "NoSuchViewException", StartsWith("View does not exist: ns.table")));
  EXPECT_THAT(head(table("table")), HasStatus(204));
}

}  // namespace
}  // namespace iceblink::test
