// New tables: created at once, or by a commit after a staged creation; and tables that are
// replaced.
#include "tests/iceberg/commit/commit_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string kFresh = "11111111-2222-3333-4444-555555555555";

/// What a request says; its values are in memory().
struct Creation {
  Schema schema = schema_of({column(3, "id"), column(4, "data", TypeKind::kString)});
  std::optional<std::string_view> location = "s3://b/t/";
  std::optional<RequestedPartitionSpec> spec;
  std::optional<SortOrder> order;
  std::vector<Property> properties;
};

Outcome create(const Creation& creation, const CommitContext& with = context()) {
  TableCreationRequest request;
  request.name = "t";
  request.location = creation.location;
  request.schema = creation.schema;
  request.partition_spec = creation.spec;
  request.write_order = creation.order;
  request.properties = creation.properties;
  return outcome_of(create_table(request, with));
}

/// "1 a, 2 l (3 element)": a schema's fields and their ids.
std::string shown(std::span<const Field> fields) {
  std::string text;
  for (const Field& field : fields) {
    text += (text.empty() ? "" : ", ") + std::to_string(field.id) + " " + std::string(field.name);
    if (field.type.is_nested()) text += " (" + shown(field.type.fields) + ")";
  }
  return text;
}

// ---- create_table

TEST(CreateTable, ATableHasAllThatATableNeeds) {
  CommitContext with = context();
  with.base_location = {};
  const auto outcome = create({}, with);
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->format_version, 2);
  EXPECT_EQ(outcome->table_uuid_text, kFresh);
  EXPECT_EQ(outcome->location, "s3://b/t");
  EXPECT_EQ(outcome->last_updated_ms, kNowMs);
  EXPECT_EQ(outcome->last_sequence_number, 0);
  EXPECT_EQ(outcome->last_column_id, 2);
  EXPECT_EQ(outcome->current_schema().schema_id, 0);
  EXPECT_EQ(outcome->default_partition_spec().spec_id, 0);
  EXPECT_THAT(outcome->default_partition_spec().fields, IsEmpty());
  EXPECT_EQ(outcome->last_partition_id, 999);
  EXPECT_EQ(outcome->default_sort_order_id, 0);
  EXPECT_EQ(outcome->current_snapshot_id, std::nullopt);
  EXPECT_THAT(properties_of(*outcome), IsEmpty());
  EXPECT_THAT(metadata_files(*outcome), IsEmpty());
  EXPECT_EQ(outcome.made.location, "s3://b/t");
  EXPECT_EQ(format_uuid(outcome.made.uuid), kFresh);
  EXPECT_EQ(outcome.made.format_version, 2);
}

TEST(CreateTable, ColumnsAreNumberedAnew) {
  EXPECT_EQ(shown(create({})->schemas[0].fields), "1 id, 2 data");
}

TEST(CreateTable, ALevelIsNumberedBeforeWhatIsWithin) {
  Creation nested;
  nested.schema = schema_of(
      {column(10, "a"), column(11, "l", list_of(90, type(TypeKind::kInt))),
       column(12, "m", map_of(80, 81, type(TypeKind::kStruct, {column(70, "v")}))),
       column(13, "s",
              type(TypeKind::kStruct,
                   {column(1, "p", type(TypeKind::kStruct, {column(2, "q")})), column(3, "r")})),
       column(14, "z")});
  EXPECT_EQ(shown(create(nested)->schemas[0].fields),
            "1 a, 2 l (6 element), 3 m (7 key, 8 value (9 v)), 4 s (10 p (12 q), 11 r), 5 z");
  EXPECT_EQ(create(nested)->last_column_id, 12);
}

TEST(CreateTable, IdentifierFieldsFollowTheirColumns) {
  Creation creation;
  creation.schema = schema_of({column(1, "a"), required(5, "id"), required(2, "k")}, {2, 5});
  EXPECT_THAT(create(creation)->schemas[0].identifier_field_ids, ElementsAre(3, 2));
}

TEST(CreateTable, TheSpecAndTheOrderFollowTheirColumns) {
  Creation creation;
  auto spec =
      add_spec({part("id_bucket", "bucket[16]", 3, 7000), part("data", "identity", 4)}).spec;
  spec.spec_id = 9;
  creation.spec = spec;
  creation.order = add_order({sorted_by("identity", 4), sorted_by("bucket[16]", 3)}).sort_order;
  creation.order->order_id = 10;
  const auto outcome = create(creation);
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  const PartitionSpec& made = outcome->default_partition_spec();
  EXPECT_EQ(made.spec_id, 0);
  EXPECT_THAT(ids_of(made.fields, &PartitionField::field_id), ElementsAre(1000, 1001));
  EXPECT_THAT(made.fields[0].source_ids, ElementsAre(1));
  EXPECT_EQ(made.fields[0].name, "id_bucket");
  EXPECT_THAT(made.fields[1].source_ids, ElementsAre(2));
  EXPECT_EQ(outcome->last_partition_id, 1001);
  const SortOrder& order = outcome->default_sort_order();
  EXPECT_EQ(order.order_id, 1);
  EXPECT_THAT(order.fields[0].source_ids, ElementsAre(2));
  EXPECT_THAT(order.fields[1].source_ids, ElementsAre(1));
  EXPECT_THAT(ids_of(outcome->sort_orders, &SortOrder::order_id), ElementsAre(1));
}

TEST(CreateTable, AnEmptySpecAndOrderAreUnpartitionedAndUnsorted) {
  Creation creation;
  creation.spec = RequestedPartitionSpec{};
  creation.order = SortOrder{};
  const auto outcome = create(creation);
  EXPECT_EQ(outcome->default_spec_id, 0);
  EXPECT_EQ(outcome->default_sort_order_id, 0);
}

TEST(CreateTable, RefusesColumnsThatTheSchemaDoesNotHave) {
  Creation by_spec;
  by_spec.spec = add_spec({part("x", "identity", 1)}).spec;
  EXPECT_EQ(create(by_spec).error, invalid("Cannot find source column for partition field 'x': 1"))
      << "1 is an id of the table, not of the request";
  Creation by_order;
  by_order.order = add_order({sorted_by("identity", 2)}).sort_order;
  EXPECT_EQ(create(by_order).error, invalid("Cannot find source column for sort field 0: 2"));
}

TEST(CreateTable, RefusesASchemaThatIsNone) {
  Creation creation;
  creation.schema = schema_of({column(1, "a"), column(1, "b")});
  EXPECT_EQ(create(creation).error, invalid("Invalid schema for v2: two fields have the id 1"));
  creation.schema = schema_of({column(1, "v", TypeKind::kVariant)});
  EXPECT_THAT(create(creation).error, HasSubstr("variant is not supported until v3"));
  creation.properties = {{"format-version", "3"}};
  EXPECT_EQ(create(creation).error, "");
  creation.schema = schema_of({});
  EXPECT_EQ(create(creation)->last_column_id, 0);
}

TEST(CreateTable, DefaultsOfColumnsSurvive) {
  Creation creation;
  Field field = column(8, "x");
  field.initial_default = "34";
  field.write_default = "35";
  creation.schema = schema_of({field});
  creation.properties = {{"format-version", "3"}};
  const auto outcome = create(creation);
  EXPECT_EQ(outcome->schemas[0].fields[0].initial_default, "34");
  EXPECT_EQ(outcome->schemas[0].fields[0].write_default, "35");
  EXPECT_EQ(outcome->next_row_id, 0);
}

TEST(CreateTable, FormatVersionIsAPropertyThatIsNotStored) {
  Creation creation;
  creation.properties = {{"a", "b"}, {"format-version", "1"}, {"uuid", "x"}};
  const auto outcome = create(creation);
  EXPECT_EQ(outcome->format_version, 1);
  EXPECT_EQ(outcome->table_uuid_text, kFresh);
  EXPECT_THAT(properties_of(*outcome), ElementsAre(Pair("a", "b")));
  for (const char* version : {"0", "4", "-1"}) {
    creation.properties = {{"format-version", version}};
    EXPECT_EQ(create(creation).error,
              invalid("Unsupported format version: v" + std::string(version) + " (supported: v3)"));
  }
  for (const char* none : {"", "two", "2.0", "99999999999"}) {
    creation.properties = {{"format-version", none}};
    EXPECT_EQ(create(creation).error, invalid("the property format-version is '" +
                                              std::string(none) + "', which is no integer"));
  }
}

TEST(CreateTable, TheLocationIsThatOfTheRequestOrElseOfTheCatalog) {
  CommitContext with = context();
  with.default_location = "s3://w/n/t//";
  EXPECT_EQ(create({}, with)->location, "s3://b/t");
  Creation creation;
  creation.location.reset();
  EXPECT_EQ(create(creation, with)->location, "s3://w/n/t");
  EXPECT_EQ(create(creation).error, invalid("Cannot create table: it has no location"));
  creation.location = "";
  EXPECT_EQ(create(creation, with).error, invalid("Cannot set location: it is empty"));
}

// ---- A table that a commit creates

/// What clients send after a staged creation.
std::vector<TableUpdate> staged(std::int32_t format_version = 2) {
  return {AssignUuid{kUuid},
          UpgradeFormatVersion{format_version},
          AddSchema{schema_of({column(1, "id"), column(2, "data", TypeKind::kString)})},
          SetCurrentSchema{kLastAdded},
          add_spec({part("id", "identity", 1, 1000)}),
          SetDefaultSpec{kLastAdded},
          add_order({sorted_by("identity", 1)}),
          SetDefaultSortOrder{kLastAdded},
          SetLocation{"s3://b/new"},
          set_properties({{"owner", "me"}})};
}
std::vector<TableUpdate> with(std::vector<TableUpdate> updates, std::vector<TableUpdate> more) {
  updates.insert(updates.end(), more.begin(), more.end());
  return updates;
}

TEST(CreateByCommit, AStagedTableIsCreatedWithItsFirstSnapshot) {
  const auto outcome = commit_new(with(staged(), {add_snapshot(7, 1), set_ref("main", 7)}));
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->table_uuid_text, kUuid);
  EXPECT_EQ(outcome->format_version, 2);
  EXPECT_EQ(outcome->location, "s3://b/new");
  EXPECT_EQ(outcome->current_schema_id, 0);
  EXPECT_EQ(outcome->last_column_id, 2);
  EXPECT_EQ(outcome->default_spec_id, 0);
  EXPECT_EQ(outcome->last_partition_id, 1000);
  EXPECT_EQ(outcome->default_sort_order_id, 1);
  EXPECT_EQ(outcome->current_snapshot_id, 7);
  EXPECT_EQ(outcome->last_sequence_number, 1);
  EXPECT_EQ(outcome->last_updated_ms, kNowMs);
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(7));
  EXPECT_THAT(metadata_files(*outcome), IsEmpty());
  EXPECT_THAT(properties_of(*outcome), ElementsAre(Pair("owner", "me")));
}

TEST(CreateByCommit, ChangesWithinTheTransactionGetTheNextIds) {
  const auto outcome = commit_new(
      with(staged(), {add_snapshot(7, 1), set_ref("main", 7),
                      AddSchema{schema_of({column(1, "id"), column(2, "data", TypeKind::kString),
                                           column(3, "new")})},
                      SetCurrentSchema{kLastAdded},
                      add_spec({part("id", "identity", 1, 1000), part("new", "identity", 3)}),
                      SetDefaultSpec{kLastAdded}, add_order({sorted_by("identity", 3)}),
                      SetDefaultSortOrder{kLastAdded}, add_snapshot(8, 2, 7), set_ref("main", 8)}));
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->current_schema_id, 1);
  EXPECT_EQ(outcome->default_spec_id, 1);
  EXPECT_EQ(outcome->last_partition_id, 1001);
  EXPECT_EQ(outcome->default_sort_order_id, 2);
  EXPECT_THAT(snapshot_ids(*outcome), ElementsAre(7, 8));
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(8));
}

TEST(CreateByCommit, EachFormatIsCreated) {
  for (const std::int32_t version : {1, 2, 3}) {
    const auto outcome = commit_new(staged(version));
    ASSERT_NE(outcome.table, nullptr) << outcome.error;
    EXPECT_EQ(outcome->format_version, version);
    EXPECT_EQ(outcome->next_row_id.has_value(), version == 3);
  }
  EXPECT_EQ(commit_new(with({UpgradeFormatVersion{1}}, staged(3)))->format_version, 3)
      << "created as 1, then upgraded";
  EXPECT_EQ(commit_new(staged(4)).error,
            invalid("Cannot upgrade table to unsupported format version: v4 (supported: v3)"));
  EXPECT_EQ(commit_new(staged(0)).error, invalid("Cannot downgrade v2 table to v0"));
}

TEST(CreateByCommit, WhatIsLeftOutIsMadeUpWhereThatCanBe) {
  CommitContext with = context();
  with.default_location = "s3://w/t/";
  const auto outcome =
      commit_new({AddSchema{schema_of({column(5, "id")})}, SetCurrentSchema{kLastAdded}}, with);
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->format_version, 2);
  EXPECT_EQ(outcome->table_uuid_text, kFresh);
  EXPECT_EQ(outcome->location, "s3://w/t");
  EXPECT_THAT(outcome->default_partition_spec().fields, IsEmpty());
  EXPECT_EQ(outcome->default_sort_order_id, 0);
  EXPECT_EQ(outcome->last_column_id, 5);
}

TEST(CreateByCommit, RefusesATableThatLacksWhatNobodyCanMakeUp) {
  EXPECT_EQ(commit_new({}).error, invalid("Cannot create table: it has no current schema"));
  EXPECT_EQ(commit_new({AddSchema{schema_of({})}}).error,
            invalid("Cannot create table: it has no current schema"));
  const std::vector<TableUpdate> schema_alone = {AddSchema{schema_of({column(1, "id")})},
                                                 SetCurrentSchema{0}};
  EXPECT_EQ(commit_new(schema_alone).error, invalid("Cannot create table: it has no location"));
  const auto located = with(schema_alone, {SetLocation{"s3://b/t"}});
  EXPECT_EQ(commit_new(with(located, {add_spec({})})).error,
            invalid("Cannot create table: it has no default partition spec"));
  EXPECT_EQ(commit_new(with(located, {add_order({})})).error,
            invalid("Cannot create table: it has no default sort order"));
}

TEST(CreateByCommit, SnapshotsAndSpecsComeAfterTheSchema) {
  EXPECT_EQ(commit_new({add_snapshot(7, 1)}).error,
            invalid("Attempting to add a snapshot before a schema is added"));
  EXPECT_EQ(commit_new({add_spec({})}).error,
            invalid("Cannot add partition spec: the table has no current schema"));
  EXPECT_EQ(commit_new({add_order({sorted_by("identity", 1)})}).error,
            invalid("Cannot add sort order: the table has no current schema"));
  EXPECT_EQ(commit_new({AddSchema{schema_of({column(1, "id")})},
                        add_spec({part("id", "identity", 1)}), SetDefaultSpec{kLastAdded},
                        SetCurrentSchema{kLastAdded}, SetLocation{"s3://b/t"}})
                .error,
            "")
      << "added, though not current yet";
}

TEST(CreateByCommit, FormatVersionAsAPropertySelectsTheFormatAndIsNotStored) {
  const std::vector<TableUpdate> updates = {AddSchema{schema_of({column(1, "id")})},
                                            SetCurrentSchema{kLastAdded}, SetLocation{"s3://b/t"},
                                            set_properties({{"format-version", "1"}, {"a", "b"}})};
  const auto outcome = commit_new(updates);
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->format_version, 1);
  EXPECT_THAT(properties_of(*outcome), ElementsAre(Pair("a", "b")));
  EXPECT_EQ(commit_new(with(updates, {UpgradeFormatVersion{3}})).error,
            invalid("Cannot downgrade v3 table to v1"))
      << "the update counts";
}

// ---- A table that is replaced

/// What clients send to replace a table: its main branch goes, the rest is added to what is there.
std::vector<TableUpdate> replacement() {
  return {RemoveSnapshotRef{"main"},
          AddSchema{schema_of({column(2, "id"), column(3, "data", TypeKind::kString)})},
          SetCurrentSchema{kLastAdded},
          add_spec({part("id", "identity", 2)}),
          SetDefaultSpec{kLastAdded},
          add_order({sorted_by("identity", 2)}),
          SetDefaultSortOrder{kLastAdded},
          set_properties({{"owner", "me"}})};
}

TEST(ReplaceTable, KeepsTheUuidAndCountsIdsOn) {
  const auto outcome = commit(with_history(v2(), {6}), replacement(), {AssertTableUuid{kUuid}});
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->table_uuid_text, kUuid);
  EXPECT_EQ(outcome->current_schema_id, 1);
  EXPECT_EQ(outcome->last_column_id, 3);
  EXPECT_EQ(outcome->default_spec_id, 1);
  EXPECT_EQ(outcome->default_sort_order_id, 1);
  EXPECT_EQ(outcome->current_snapshot_id, std::nullopt);
  EXPECT_EQ(metadata_files(*outcome).size(), 1);
}

TEST(ReplaceTable, KeepsTheSnapshotLog) {
  const auto outcome = commit(with_history(v2(), {6}),
                              with(replacement(), {add_snapshot(7, 10), set_ref("main", 7)}));
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->current_snapshot_id, 7);
  EXPECT_THAT(snapshot_ids(*outcome), ElementsAre(6, 7));
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(6, 7));
}

TEST(ReplaceTable, TheSameOnceMoreAddsNothing) {
  const auto first = commit(v2(), replacement());
  EXPECT_TRUE(commit(first.table.get(), replacement()).made.is_unchanged());
}

TEST(ReplaceTable, SchemaAndSpecInOneCommitMakeOneEntryOfTheMetadataLog) {
  const auto outcome = commit(
      v2(), {AddSchema{schema_of({column(1, "x"), column(2, "y")})}, SetCurrentSchema{kLastAdded},
             add_spec({part("y_bucket", "bucket[4]", 2)}), SetDefaultSpec{kLastAdded}});
  EXPECT_EQ(metadata_files(*outcome).size(), 1);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
