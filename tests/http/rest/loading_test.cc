// Loading tables: what is answered for those that are there, and for those that are not.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LoadingTables : public RestTest {};

TEST_F(LoadingTables, GivesWhatWasCreated) {
  Object body = named("tbl", id_and_data(3));
  body["partition-spec"] = id_buckets(3);
  body["properties"] = Object{{"p", "v"}};
  const auto created = create(body).json();
  const auto loaded = get(table("tbl")).json();
  EXPECT_EQ(loaded.at("metadata"), created.at("metadata"));
  EXPECT_EQ(loaded.at("metadata-location"), created.at("metadata-location"));
}

TEST_F(LoadingTables, SaysTableWhereTheNamespaceIsMissing) {
  EXPECT_THAT(
      get("/non-existing/tables/tbl"),
      IsError(404, "NoSuchTableException", StartsWith("Table does not exist: non-existing.tbl")));
  EXPECT_THAT(get(table("tbl")),
              IsError(404, "NoSuchTableException", StartsWith("Table does not exist: ns.tbl")));
}

TEST_F(LoadingTables, DoesNotKnowMetadataTables) {
  create_table("tbl");
  EXPECT_THAT(
      get("/ns%1Ftbl/tables/files"),
      IsError(404, "NoSuchTableException", StartsWith("Table does not exist: ns.tbl.files")));
  EXPECT_THAT(head("/ns%1Ftbl/tables/files"), HasStatus(404));
}

TEST_F(LoadingTables, DoesNotGiveAViewForATable) {
  create_sql_view("view");
  EXPECT_THAT(get(table("view")),
              IsError(404, "NoSuchTableException", StartsWith("Table does not exist: ns.view")));
  EXPECT_THAT(head(table("view")), HasStatus(404));
}

TEST_F(LoadingTables, NamesTheMetadataFileThatIsMissing) {
  create_table("tbl");
  const auto location = metadata_location(table("tbl"));
  std::filesystem::rename(location, location + ".away");
  EXPECT_THAT(get(table("tbl")), IsError(404, "NotFoundException",
                                         "Failed to open input stream for file: " + location));
  EXPECT_THAT(head(table("tbl")), HasStatus(204));
  std::filesystem::rename(location + ".away", location);
  EXPECT_THAT(get(table("tbl")), HasStatus(200));
}

TEST_F(LoadingTables, ThatHaveLostTheirFileCanBeDropped) {
  create_table("tbl");
  std::filesystem::remove(metadata_location(table("tbl")));
  EXPECT_THAT(get(table("tbl")), HasStatus(404));
  EXPECT_THAT(del(table("tbl")), HasStatus(204));
  EXPECT_THAT(head(table("tbl")), HasStatus(404));
}

TEST_F(LoadingTables, ThatHaveLostTheirFileTakeNoCommit) {
  const auto base = create_table("tbl");
  const auto location = metadata_location(table("tbl"));
  std::filesystem::rename(location, location + ".away");
  const auto refused = commit("tbl", properties_change(base, {{"a", "1"}}));
  EXPECT_THAT(refused, IsError(404, "NotFoundException", HasSubstr(location)));
  std::filesystem::rename(location + ".away", location);
  EXPECT_EQ(load("tbl"), base);
}

TEST_F(LoadingTables, TellsOfEachByHead) {
  create_table("tbl");
  create_sql_view("view");
  for (const auto& target : {std::string("/ns"), table("tbl"), view("view")}) {
    const auto exists = head(target);
    EXPECT_THAT(exists, HasStatus(204)) << target;
    EXPECT_EQ(exists.body, "");
  }
  for (const auto& target : {std::string("/no"), table("no"), view("no"), view("tbl")}) {
    const auto missing = head(target);
    EXPECT_THAT(missing, HasStatus(404)) << target;
    EXPECT_EQ(missing.body, "");
  }
}

TEST_F(LoadingTables, HasATagThatChangesWithEachCommitAndRepresentation) {
  const auto created = create(named("tbl"));
  const auto loaded = get(table("tbl"));
  const auto refs = get(table("tbl") + "?snapshots=refs");
  EXPECT_EQ(created.header("etag"), loaded.header("etag"));
  EXPECT_NE(refs.header("etag"), loaded.header("etag"));
  const auto committed = commit("tbl", properties_change(load("tbl"), {{"a", "1"}}));
  EXPECT_NE(committed.header("etag"), created.header("etag"));
  EXPECT_EQ(committed.header("etag"), get(table("tbl")).header("etag"));
}

TEST_F(LoadingTables, OpensNoFileForATagThatIsStillRight) {
  create_table("tbl");
  const auto loaded = get(table("tbl"));
  const auto location = text_of(loaded.json().at("metadata-location"));
  const HttpRequest again{.target = "/v1/namespaces" + table("tbl"),
                          .headers = {"If-None-Match: " + loaded.header("etag")}};
  std::filesystem::rename(location, location + ".away");
  const auto unchanged = send(again);
  EXPECT_THAT(unchanged, HasStatus(304));
  EXPECT_EQ(unchanged.body, "");
  std::filesystem::rename(location + ".away", location);
  commit_to("tbl", properties_change(load("tbl"), {{"a", "1"}}));
  EXPECT_THAT(send(again), HasStatus(200));
}

TEST_F(LoadingTables, ListsTablesOfOneNamespaceAlone) {
  create_namespace(R"(["ns_1"])");
  create_namespace(R"(["ns_2"])");
  EXPECT_THAT(names_of("/ns_1/tables"), ::testing::IsEmpty());
  post("/ns_1/tables", named("table_1"));
  post("/ns_2/tables", named("table_1"));
  post("/ns_1/tables", named("table_2"));
  create_sql_view("a_view");
  EXPECT_THAT(names_of("/ns_1/tables"), ::testing::UnorderedElementsAre("table_1", "table_2"));
  EXPECT_THAT(names_of("/ns_2/tables"), ::testing::ElementsAre("table_1"));
  EXPECT_THAT(del("/ns_1/tables/table_1"), HasStatus(204));
  EXPECT_THAT(names_of("/ns_1/tables"), ::testing::ElementsAre("table_2"));
  EXPECT_THAT(names_of("/ns_2/tables"), ::testing::ElementsAre("table_1"));
}

TEST_F(LoadingTables, ListsThemInPages) {
  for (const char* name : {"t1", "t2", "t3"}) create_table(name);
  const auto first = get("/ns/tables?pageToken=&pageSize=2").json();
  EXPECT_EQ(first.at("identifiers").as_array().size(), 2u);
  const auto token = text_of(first.at("next-page-token"));
  const auto second = get("/ns/tables?pageSize=2&pageToken=" + token).json();
  EXPECT_EQ(second.at("identifiers").as_array().size(), 1u);
  EXPECT_TRUE(second.at("next-page-token").is_null());
}

TEST_F(LoadingTables, TakesReportsOfScansAndCommits) {
  create_table("tbl");
  const auto scan = json_of(
      R"({"report-type":"scan-report","table-name":"ns.tbl","snapshot-id":1,"filter":true,)"
      R"("schema-id":0,"projected-field-ids":[1],"projected-field-names":["id"],"metrics":{}})");
  const auto commit =
      json_of(R"({"report-type":"commit-report","table-name":"ns.tbl","snapshot-id":1,)"
              R"("sequence-number":1,"operation":"append","metrics":{}})");
  EXPECT_THAT(post(table("tbl") + "/metrics", scan), HasStatus(204));
  EXPECT_THAT(post(table("tbl") + "/metrics", commit), HasStatus(204));
  EXPECT_THAT(post(table("no") + "/metrics", scan),
              IsError(404, "NoSuchTableException", StartsWith("Table does not exist: ns.no")));
  EXPECT_THAT(post(table("tbl") + "/metrics", Object{}), HasStatus(400));
}

}  // namespace
}  // namespace iceblink::test
