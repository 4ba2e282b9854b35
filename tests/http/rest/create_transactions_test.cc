// Tables that are staged and come to be with a commit, as createTransaction() and
// createOrReplaceTransaction() send it.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class CreateTransactions : public RestTest {
 protected:
  Object complete(std::string_view name) {
    Object body = named(name, id_and_data(3));
    body["location"] = warehouse() + "/chosen";
    body["partition-spec"] = id_buckets(3);
    body["write-order"] = order_of(Array{sort_field(3, "bucket[16]"), sort_field(3)});
    body["properties"] = Object{{"user", "someone"}, {"format-version", "2"}};
    return body;
  }
  void expect_invisible(const std::string& name) {
    EXPECT_THAT(head(table(name)), HasStatus(404));
    EXPECT_THAT(get(table(name)), HasStatus(404));
    EXPECT_THAT(names_of("/ns/tables"), Not(Contains(name)));
  }
};

TEST_F(CreateTransactions, ShowNothingBeforeTheyAreCommitted) {
  Object body = named("tbl", id_and_data(3));
  body["stage-create"] = true;
  const auto answer = create(body);
  ASSERT_THAT(answer, HasStatus(200));
  const auto* const location = answer.json().as_object().if_contains("metadata-location");
  EXPECT_TRUE(location == nullptr || location->is_null());
  EXPECT_FALSE(answer.has_header("etag"));
  const auto staged = answer.json().at("metadata");
  EXPECT_EQ(current_schema(staged), id_and_data(1));
  expect_invisible("tbl");
  EXPECT_THAT(files(), IsEmpty());

  const auto snapshot = next_snapshot(staged, 1);
  const auto created = commit_to("tbl", creation(staged, append_updates(snapshot)));
  EXPECT_THAT(names_of("/ns/tables"), ElementsAre("tbl"));
  EXPECT_EQ(created.at("table-uuid"), staged.at("table-uuid"));
  EXPECT_EQ(created.at("location"), staged.at("location"));
  EXPECT_EQ(created.at("metadata-log"), Array{});
  EXPECT_EQ(current_schema(created), id_and_data(1));
  EXPECT_EQ(created.at("current-snapshot-id").as_int64(), 1);
  EXPECT_THAT(metadata_location(table("tbl")),
              StartsWith(text_of(staged.at("location")) + "/metadata/00000-"));
}

TEST_F(CreateTransactions, HonourAllThatIsGiven) {
  const auto staged = stage(complete("tbl"));
  EXPECT_EQ(staged.at("location"), Value(warehouse() + "/chosen"));
  const auto created = commit_to("tbl", creation(staged));
  EXPECT_EQ(created.at("location"), Value(warehouse() + "/chosen"));
  EXPECT_EQ(default_spec(created), id_buckets(1));
  EXPECT_EQ(default_order(created), order_of({sort_field(1, "bucket[16]"), sort_field(1)}));
  EXPECT_EQ(created.at("properties"), (Object{{"user", "someone"}}));
  EXPECT_EQ(created.at("table-uuid"), staged.at("table-uuid"));
  EXPECT_EQ(created.at("format-version").as_int64(), 2);
  EXPECT_EQ(created.at("metadata-log"), Array{});
  EXPECT_EQ(load("tbl"), created);
}

TEST_F(CreateTransactions, ContinueTheIdsOfWhatTheyChangeOnTheWay) {
  const auto staged = stage(complete("tbl"));
  Array more = append_updates(snapshot_of({.snapshot_id = 1}));
  for (const auto& update :
       {add_schema(with_column(current_schema(staged), 1, 3, "new_col")), set_current_schema(),
        add_spec(spec_of({partition_field(1, 1000, "id_bucket", "bucket[16]"),
                          partition_field(3, 1001, "new_col", "identity")},
                         1)),
        set_default_spec(), add_sort_order(order_of({sort_field(3)}, 2)),
        set_default_sort_order()}) {
    more.push_back(update);
  }
  const auto second =
      snapshot_of({.snapshot_id = 2, .parent_id = 1, .sequence_number = 2, .schema_id = 1});
  for (const auto& update : append_updates(second)) more.push_back(update);
  const auto created = commit_to("tbl", creation(staged, more));
  EXPECT_EQ(created.at("current-schema-id").as_int64(), 1);
  EXPECT_EQ(created.at("default-spec-id").as_int64(), 1);
  EXPECT_EQ(created.at("default-sort-order-id").as_int64(), 2);
  EXPECT_THAT(column_names(current_schema(created)), ElementsAre("id", "data", "new_col"));
  EXPECT_THAT(ids_of(created.at("snapshots"), "snapshot-id"), ElementsAre(1, 2));
  EXPECT_THAT(ids_of(created.at("snapshot-log"), "snapshot-id"), ElementsAre(2));
  EXPECT_EQ(created.at("last-sequence-number").as_int64(), 2);
  EXPECT_EQ(created.at("metadata-log"), Array{});
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CreateTransactions, OfEachFormatBeginWithTheFirstSequenceNumber) {
  for (const int version : {1, 2, 3}) {
    const std::string name = "v" + std::to_string(version);
    Object body = named(name);
    body["properties"] = Object{{"format-version", std::to_string(version)}, {"kept", "1"}};
    const auto staged = stage(body);
    EXPECT_EQ(staged.at("format-version").as_int64(), version);
    Object snapshot = snapshot_of({.snapshot_id = 1});
    if (version == 1) snapshot.erase("sequence-number");
    if (version == 3) {
      snapshot["first-row-id"] = 0;
      snapshot["added-rows"] = 2;
    }
    const auto created = commit_to(name, creation(staged, append_updates(snapshot)));
    EXPECT_EQ(created.at("format-version").as_int64(), version);
    EXPECT_EQ(created.at("properties"), (Object{{"kept", "1"}}));
    if (version > 1) {
      EXPECT_EQ(created.at("snapshots").at(0).at("sequence-number").as_int64(), 1);
    }
  }
}

TEST_F(CreateTransactions, KeepWhatAClientMergedOfItsDefaultsAndOverrides) {
  Object body = named("tbl");
  body["properties"] = Object{{"default-key1", "catalog"}, {"override-key3", "catalog"}};
  const auto created = commit_to("tbl", creation(stage(body)));
  EXPECT_EQ(created.at("properties"),
            (Object{{"default-key1", "catalog"}, {"override-key3", "catalog"}}));
}

TEST_F(CreateTransactions, FailWhereTheTableCameToBeMeanwhile) {
  const auto staged = stage(named("tbl", id_and_data(3)));
  expect_invisible("tbl");
  const auto winner = create_table("tbl", some_id());
  EXPECT_THAT(commit("tbl", creation(staged, append_updates(snapshot_of({.snapshot_id = 1})))),
              IsError(409, "CommitFailedException",
                      StartsWith("Requirement failed: table already exists")));
  EXPECT_EQ(load("tbl"), winner);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CreateTransactions, OfTwoClientsOneWins) {
  const auto first = stage(named("tbl"));
  const auto second = stage(named("tbl"));
  EXPECT_NE(first.at("table-uuid"), second.at("table-uuid"));
  EXPECT_NE(first.at("location"), second.at("location"));
  const auto created = commit_to("tbl", creation(first));
  EXPECT_THAT(commit("tbl", creation(second)),
              IsError(409, "CommitFailedException",
                      StartsWith("Requirement failed: table already exists")));
  EXPECT_EQ(load("tbl"), created);
}

TEST_F(CreateTransactions, OfANameThatIsTakenAreRefusedAtOnce) {
  create_table("tbl");
  Object body = named("tbl");
  body["stage-create"] = true;
  EXPECT_THAT(create(body), IsError(409, "AlreadyExistsException", "Table already exists: ns.tbl"));
}

TEST_F(CreateTransactions, FailWhereAViewCameToBeMeanwhile) {
  const auto staged = stage(named("view"));
  create_sql_view("view");
  EXPECT_THAT(commit("view", creation(staged)),
              IsError(409, "AlreadyExistsException",
                      StartsWith("View with same name already exists: ns.view")));
  EXPECT_THAT(names_of("/ns/tables"), IsEmpty());
}

TEST_F(CreateTransactions, AssertNothingElse) {
  const auto staged = stage(named("tbl"));
  Commit wanted = creation(staged);
  wanted.requirements.push_back(assert_table_uuid(staged.at("table-uuid")));
  EXPECT_THAT(commit("tbl", wanted),
              IsError(400, "IllegalArgumentException", HasSubstr("Invalid create requirements")));
  expect_invisible("tbl");
}

TEST_F(CreateTransactions, NeedTheirNamespace) {
  const auto staged = stage(named("tbl"));
  EXPECT_THAT(
      post("/nowhere/tables/tbl", creation(staged).body()),
      IsError(404, "NoSuchNamespaceException", HasSubstr("Namespace does not exist: nowhere")));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(CreateTransactions, GoThroughTheTransactionsEndpoint) {
  const auto staged = stage(named("tbl"));
  EXPECT_THAT(transact({creation(staged).body_for("ns", "tbl")}), HasStatus(204));
  EXPECT_EQ(load("tbl").at("table-uuid"), staged.at("table-uuid"));
  EXPECT_THAT(transact({creation(staged).body_for("ns", "tbl")}), HasStatus(409));
}

}  // namespace
}  // namespace iceblink::test
