// What other clients than the reference send: members they leave out, write as null, or add.
#include <algorithm>

#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;

class OtherClients : public RestTest {};

TEST_F(OtherClients, CreateWithSpecsAndOrdersThatHaveNoFields) {
  Object body = named("tbl");
  body["partition-spec"] = spec_of({});
  body["write-order"] = order_of({}, 0);
  body["stage-create"] = false;
  body["properties"] = Object{};
  ASSERT_THAT(create(body), HasStatus(200));
  const auto metadata = load("tbl");
  EXPECT_EQ(metadata.at("default-spec-id").as_int64(), 0);
  EXPECT_EQ(metadata.at("default-sort-order-id").as_int64(), 0);
  EXPECT_THAT(ids_of(metadata.at("sort-orders"), "order-id"), ElementsAre(0));
  EXPECT_EQ(metadata.at("partition-specs").as_array().size(), 1u);
}

TEST_F(OtherClients, CreateWithNullForWhatTheyDoNotSay) {
  Object body = named("tbl");
  for (const char* member :
       {"location", "partition-spec", "write-order", "properties", "stage-create"}) {
    body[member] = nullptr;
  }
  EXPECT_THAT(create(body), HasStatus(200));
}

TEST_F(OtherClients, CreateWithoutIdsOfSpecsAndSchemas) {
  Object schema = id_and_data(5);
  schema.erase("schema-id");
  Object body = named("tbl", schema);
  Object field = partition_field(5, 1000, "id_bucket", "bucket[16]");
  field.erase("field-id");
  body["partition-spec"] = Object{};
  body["partition-spec"].as_object()["fields"] = Array{field};
  ASSERT_THAT(create(body), HasStatus(200));
  EXPECT_EQ(default_spec(load("tbl")), id_buckets(1));
}

TEST_F(OtherClients, SendSchemasWithIdentifierFieldsAndTheLastColumnId) {
  Object schema = id_and_data(5);
  schema["identifier-field-ids"] = Array{5};
  ASSERT_THAT(create(named("tbl", schema)), HasStatus(200));
  const auto base = load("tbl");
  EXPECT_EQ(current_schema(base).at("identifier-field-ids"), Array{1});
  Commit wanted = schema_change(base, with_column(current_schema(base), 1, 3, "new_col"));
  wanted.updates.at(0).as_object()["last-column-id"] = 3;
  const auto changed = commit_to("tbl", wanted);
  EXPECT_EQ(changed.at("last-column-id").as_int64(), 3);
  EXPECT_EQ(current_schema(changed).at("identifier-field-ids"), Array{1});
}

TEST_F(OtherClients, NameTheTableInTheBody) {
  const auto base = create_table("tbl");
  EXPECT_THAT(post(table("tbl"), append(base, 1).body_for("ns", "tbl")), HasStatus(200));
  Object body = append(load("tbl"), 2).body();
  body["identifier"] = nullptr;
  EXPECT_THAT(post(table("tbl"), body), HasStatus(200));
  EXPECT_EQ(load("tbl").at("current-snapshot-id").as_int64(), 2);
}

TEST_F(OtherClients, SendSnapshotsWithNullForWhatTheyDoNotSay) {
  const auto base = create_table("tbl");
  Commit wanted = append(base, 1);
  Object& snapshot = wanted.updates.at(0).as_object()["snapshot"].as_object();
  snapshot["parent-snapshot-id"] = nullptr;
  snapshot["first-row-id"] = nullptr;
  Object& ref = wanted.updates.at(1).as_object();
  ref["max-ref-age-ms"] = nullptr;
  ref["min-snapshots-to-keep"] = nullptr;
  EXPECT_EQ(commit_to("tbl", wanted).at("current-snapshot-id").as_int64(), 1);
}

TEST_F(OtherClients, CreateAndAppendInOneCommit) {
  const auto staged = stage(named("tbl"));
  Commit wanted = creation(staged, append_updates(snapshot_of({.snapshot_id = 1})));
  // Without a location, and with the uuid alone of what was staged.
  auto& updates = wanted.updates;
  updates.erase(std::find_if(updates.begin(), updates.end(), [](const Value& update) {
    return update.at("action") == Value("set-location");
  }));
  const auto created = commit_to("tbl", wanted);
  EXPECT_EQ(created.at("table-uuid"), staged.at("table-uuid"));
  EXPECT_EQ(created.at("current-snapshot-id").as_int64(), 1);
  EXPECT_THAT(text_of(created.at("location")), ::testing::StartsWith(warehouse() + "/ns/tbl"));
}

TEST_F(OtherClients, CommitWithoutRequirements) {
  create_table("tbl");
  Object body;
  body["updates"] = Array{set_properties({{"a", "1"}})};
  body["requirements"] = Array{};
  EXPECT_THAT(post(table("tbl"), body), HasStatus(200));
  EXPECT_EQ(property(load("tbl"), "a"), "1");
}

}  // namespace
}  // namespace iceblink::test
