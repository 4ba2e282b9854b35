// Creating and loading views.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ViewCreation : public RestTest {
 protected:
  static Object of(std::string_view name) {
    return view_creation(name, Array{sql_of("spark", "select * from ns.tbl")});
  }
};

TEST_F(ViewCreation, MakesTheFirstVersion) {
  EXPECT_THAT(head(view("view")), HasStatus(404));
  const auto created = create_view(of("view"));
  ASSERT_THAT(created, HasStatus(200));
  const auto metadata = created.json().at("metadata");
  EXPECT_EQ(metadata.at("format-version").as_int64(), 1);
  EXPECT_EQ(metadata.at("current-version-id").as_int64(), 1);
  EXPECT_THAT(ids_of(metadata.at("versions"), "version-id"), ElementsAre(1));
  EXPECT_THAT(ids_of(metadata.at("version-log"), "version-id"), ElementsAre(1));
  EXPECT_EQ(metadata.at("schemas").at(0), id_and_data());
  const auto& version = metadata.at("versions").at(0);
  EXPECT_EQ(version.at("representations"), (Array{sql_of("spark", "select * from ns.tbl")}));
  EXPECT_EQ(version.at("default-namespace"), Array{"ns"});
  EXPECT_EQ(version.at("schema-id").as_int64(), 0);
  EXPECT_EQ(version.at("summary").at("engine-name"), Value("spark"));
  EXPECT_THAT(text_of(created.json().at("metadata-location")),
              StartsWith(text_of(metadata.at("location")) + "/metadata/00000-"));
  EXPECT_EQ(get(view("view")).body, created.body);
  EXPECT_THAT(head(view("view")), HasStatus(204));
}

TEST_F(ViewCreation, HonoursAllThatIsGiven) {
  Object body = of("view");
  body["location"] = warehouse() + "/chosen";
  body["properties"] = Object{{"prop1", "val1"}, {"prop2", "val2"}};
  Object version = view_version(Array{sql_of("spark", "select * from ns.tbl"),
                                      sql_of("trino", "select * from ns.tbl using X")});
  version["default-catalog"] = "default";
  body["view-version"] = version;
  const auto created = create_view(body);
  ASSERT_THAT(created, HasStatus(200));
  const auto metadata = created.json().at("metadata");
  EXPECT_EQ(metadata.at("location"), Value(warehouse() + "/chosen"));
  EXPECT_EQ(metadata.at("properties"), (Object{{"prop1", "val1"}, {"prop2", "val2"}}));
  EXPECT_EQ(metadata.at("versions").at(0).at("default-catalog"), Value("default"));
  EXPECT_EQ(metadata.at("versions").at(0).at("representations").as_array().size(), 2u);
  EXPECT_EQ(load_view("view"), metadata);
}

TEST_F(ViewCreation, PutsMetadataWhereThePropertiesSay) {
  Object body = of("view");
  body["properties"] = Object{{"write.metadata.path", warehouse() + "/views-metadata"}};
  ASSERT_THAT(create_view(body), HasStatus(200));
  EXPECT_THAT(metadata_location(view("view")), StartsWith(warehouse() + "/views-metadata/00000-"));
}

TEST_F(ViewCreation, RefusesTwoQueriesOfOneDialect) {
  for (const char* second : {"trino", "TRINO"}) {
    const auto body = view_creation(
        "view", Array{sql_of("trino", "select * from ns.tbl"), sql_of(second, "select 1")});
    EXPECT_THAT(create_view(body),
                IsError(400, "IllegalArgumentException",
                        HasSubstr("Invalid view version: Cannot add multiple queries "
                                  "for dialect trino")));
  }
  EXPECT_THAT(names_of("/ns/views"), IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(ViewCreation, KeepsDialectsAsTheyAreWritten) {
  const auto sqls = Array{sql_of("Spark", "select 1"), sql_of("trino", "select 2")};
  ASSERT_THAT(create_view(view_creation("view", sqls)), HasStatus(200));
  EXPECT_EQ(load_view("view").at("versions").at(0).at("representations"), sqls);
}

TEST_F(ViewCreation, RefusesBodiesWithoutWhatItNeeds) {
  for (const char* member : {"name", "schema", "view-version"}) {
    Object body = of("view");
    body.erase(member);
    EXPECT_THAT(create_view(body), IsError(400, "IllegalArgumentException", HasSubstr(member)));
  }
  EXPECT_THAT(create_view(view_creation("view", Array{})), HasStatus(400));
}

TEST_F(ViewCreation, DoesNotTouchTheOneThatExists) {
  const auto base = create_sql_view("view");
  EXPECT_THAT(create_view(view_creation("view", Array{sql_of("spark", "select 2")})),
              IsError(409, "AlreadyExistsException", StartsWith("View already exists: ns.view")));
  EXPECT_EQ(load_view("view"), base);
}

TEST_F(ViewCreation, RefusesTheNameOfATable) {
  create_table("table");
  EXPECT_THAT(create_view(of("table")),
              IsError(409, "AlreadyExistsException",
                      StartsWith("Table with same name already exists: ns.table")));
  EXPECT_THAT(names_of("/ns/views"), IsEmpty());
}

TEST_F(ViewCreation, IsNeededBeforeLoading) {
  EXPECT_THAT(get(view("view")),
              IsError(404, "NoSuchViewException", StartsWith("View does not exist: ns.view")));
  EXPECT_THAT(
      get("/non-existing/views/view"),
      IsError(404, "NoSuchViewException", StartsWith("View does not exist: non-existing.view")));
}

TEST_F(ViewCreation, DoesNotGiveATableForAView) {
  create_table("table");
  EXPECT_THAT(get(view("table")),
              IsError(404, "NoSuchViewException", StartsWith("View does not exist: ns.table")));
  EXPECT_THAT(head(view("table")), HasStatus(404));
}

TEST_F(ViewCreation, KeepsWhatAClientMergedOfItsDefaultsAndOverrides) {
  Object body = of("view");
  body["properties"] = Object{{"key1", "catalog-default"}, {"key4", "catalog-override"}};
  ASSERT_THAT(create_view(body), HasStatus(200));
  EXPECT_EQ(load_view("view").at("properties"),
            (Object{{"key1", "catalog-default"}, {"key4", "catalog-override"}}));
}

}  // namespace
}  // namespace iceblink::test
