// Commits, transactions, requirements and updates as they come from clients.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/iceberg/commit/request_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::int64_t kBeyondDoubles = (std::int64_t{1} << 53) + 1;

struct Sample {
  Document object;
  std::vector<std::string> required;
};

const std::string kStatistics =
    R"({"snapshot-id":7,"statistics-path":"s","file-size-in-bytes":2,)"
    R"("file-footer-size-in-bytes":1,"blob-metadata":[{"type":"t","snapshot-id":7,)"
    R"("sequence-number":1,"fields":[1],"properties":{"k":"v"}}]})";
const std::string kPartitionStatistics =
    R"({"snapshot-id":7,"statistics-path":"p","file-size-in-bytes":2})";
const std::string kKey = R"({"key-id":"k","encrypted-key-metadata":"bQ==","encrypted-by-id":"m"})";
const std::string kSpec =
    R"({"fields":[{"source-id":1,"name":"x_bucket","transform":"bucket[8]"}]})";
const std::string kOrder =
    R"({"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"desc",)"
    R"("null-order":"nulls-last"}]})";

const std::vector<Sample> kTableUpdates{
    {{{"action", R"("assign-uuid")"}, {"uuid", kQuotedUuid}}, {"uuid"}},
    {{{"action", R"("upgrade-format-version")"}, {"format-version", "3"}}, {"format-version"}},
    {{{"action", R"("add-schema")"}, {"schema", kSchemaText}}, {"schema"}},
    {{{"action", R"("set-current-schema")"}, {"schema-id", "-1"}}, {"schema-id"}},
    {{{"action", R"("add-spec")"}, {"spec", kSpec}}, {"spec"}},
    {{{"action", R"("set-default-spec")"}, {"spec-id", "-1"}}, {"spec-id"}},
    {{{"action", R"("add-sort-order")"}, {"sort-order", kOrder}}, {"sort-order"}},
    {{{"action", R"("set-default-sort-order")"}, {"sort-order-id", "-1"}}, {"sort-order-id"}},
    {{{"action", R"("add-snapshot")"}, {"snapshot", kSnapshotText}}, {"snapshot"}},
    {{{"action", R"("set-snapshot-ref")"},
      {"ref-name", R"("main")"},
      {"type", R"("branch")"},
      {"snapshot-id", "7"}},
     {"ref-name", "type", "snapshot-id"}},
    {{{"action", R"("remove-snapshots")"}, {"snapshot-ids", "[7,8]"}}, {"snapshot-ids"}},
    {{{"action", R"("remove-snapshot-ref")"}, {"ref-name", R"("b")"}}, {"ref-name"}},
    {{{"action", R"("set-location")"}, {"location", R"("s3://b/t")"}}, {"location"}},
    {{{"action", R"("set-properties")"}, {"updates", R"({"a":"b"})"}}, {"updates"}},
    {{{"action", R"("remove-properties")"}, {"removals", R"(["a"])"}}, {"removals"}},
    {{{"action", R"("set-statistics")"}, {"statistics", kStatistics}}, {"statistics"}},
    {{{"action", R"("remove-statistics")"}, {"snapshot-id", "7"}}, {"snapshot-id"}},
    {{{"action", R"("set-partition-statistics")"}, {"partition-statistics", kPartitionStatistics}},
     {"partition-statistics"}},
    {{{"action", R"("remove-partition-statistics")"}, {"snapshot-id", "7"}}, {"snapshot-id"}},
    {{{"action", R"("remove-partition-specs")"}, {"spec-ids", "[1]"}}, {"spec-ids"}},
    {{{"action", R"("remove-schemas")"}, {"schema-ids", "[1]"}}, {"schema-ids"}},
    {{{"action", R"("add-encryption-key")"}, {"encryption-key", kKey}}, {"encryption-key"}},
    {{{"action", R"("remove-encryption-key")"}, {"key-id", R"("k")"}}, {"key-id"}},
};
const std::vector<Sample> kUpdatesOfViewsAlone{
    {{{"action", R"("add-view-version")"}, {"view-version", kViewVersionText}}, {"view-version"}},
    {{{"action", R"("set-current-view-version")"}, {"view-version-id", "-1"}}, {"view-version-id"}},
};
const std::vector<Sample> kTableRequirements{
    {{{"type", R"("assert-create")"}}, {}},
    {{{"type", R"("assert-table-uuid")"}, {"uuid", kQuotedUuid}}, {"uuid"}},
    {{{"type", R"("assert-ref-snapshot-id")"}, {"ref", R"("main")"}, {"snapshot-id", "7"}},
     {"ref"}},
    {{{"type", R"("assert-last-assigned-field-id")"}, {"last-assigned-field-id", "3"}},
     {"last-assigned-field-id"}},
    {{{"type", R"("assert-current-schema-id")"}, {"current-schema-id", "3"}},
     {"current-schema-id"}},
    {{{"type", R"("assert-last-assigned-partition-id")"}, {"last-assigned-partition-id", "3"}},
     {"last-assigned-partition-id"}},
    {{{"type", R"("assert-default-spec-id")"}, {"default-spec-id", "3"}}, {"default-spec-id"}},
    {{{"type", R"("assert-default-sort-order-id")"}, {"default-sort-order-id", "3"}},
     {"default-sort-order-id"}},
};

const auto kAsTableUpdate = [](const Document& update) {
  return table_commit(updates(update.text()));
};
const auto kAsViewUpdate = [](const Document& update) {
  return view_commit(updates(update.text()));
};
const auto kAsTableRequirement = [](const Document& requirement) {
  return table_commit(requirements(requirement.text()));
};
const auto kAsViewRequirement = [](const Document& requirement) {
  return view_commit(requirements(requirement.text()));
};

TEST(TableUpdates, LackNothingAndHaveNothingTwice) {
  for (const auto& [update, required] : kTableUpdates) {
    for (const auto& member : required) {
      expect_required(update, member, "updates[0].", kAsTableUpdate);
    }
    expect_required(update, "action", "updates[0].", kAsTableUpdate);
  }
}

TEST(ViewUpdates, LackNothingAndHaveNothingTwice) {
  for (const auto& [update, required] : kUpdatesOfViewsAlone) {
    for (const auto& member : required) {
      expect_required(update, member, "updates[0].", kAsViewUpdate);
    }
  }
}

TEST(Requirements, LackNothingAndHaveNothingTwice) {
  for (const auto& [requirement, required] : kTableRequirements) {
    for (const auto& member : required) {
      expect_required(requirement, member, "requirements[0].", kAsTableRequirement);
    }
    expect_required(requirement, "type", "requirements[0].", kAsTableRequirement);
  }
  expect_required({{"type", R"("assert-view-uuid")"}, {"uuid", kQuotedUuid}}, "uuid",
                  "requirements[0].", kAsViewRequirement);
}

TEST(TableUpdates, AreReadInWhateverOrderTheirMembersAre) {
  for (const auto& [update, required] : kTableUpdates) {
    Document reversed{{"unknown", "[{\"a\":[null]}]"}};
    for (const auto& [name, json] : update.members()) {
      if (name != "action") reversed = reversed.with_another(name, json);
    }
    reversed = reversed.with_another("action", update.members()[0].second);
    const auto& first = accepted(parse_table_commit(updates(update.text())));
    const auto& second = accepted(parse_table_commit(updates(reversed.text())));
    EXPECT_EQ(first.commit.updates[0].index(), second.commit.updates[0].index());
  }
}

TEST(TableUpdates, AreEachOfTheirOwnType) {
  std::string all;
  for (const auto& [update, required] : kTableUpdates) all += "," + update.text();
  const auto& request = accepted(parse_table_commit(updates(all.substr(1))));
  ASSERT_THAT(request.commit.updates, SizeIs(std::variant_size_v<TableUpdate>));
  for (std::size_t i = 0; i < request.commit.updates.size(); ++i) {
    EXPECT_EQ(request.commit.updates[i].index(), i);
  }
}

TEST(ViewUpdates, AreSomeOfThoseOfTablesAndTwoOfTheirOwn) {
  for (const auto& [update, required] : kTableUpdates) {
    const std::string action = update.members()[0].second;
    const bool is_of_views = action == "\"assign-uuid\"" || action == "\"add-schema\"" ||
                             action == "\"upgrade-format-version\"" ||
                             action == "\"set-location\"" || action == "\"set-properties\"" ||
                             action == "\"remove-properties\"";
    const std::string name = action.substr(1, action.size() - 2);
    EXPECT_EQ(kAsViewUpdate(update), is_of_views ? "accepted"
                                                 : "invalid_argument: updates[0].action: '" + name +
                                                       "' is not an update of views");
  }
  EXPECT_EQ(kAsTableUpdate(kUpdatesOfViewsAlone[0].object),
            "invalid_argument: updates[0].action: 'add-view-version' is not an update of tables");
  EXPECT_EQ(
      kAsTableUpdate(kUpdatesOfViewsAlone[1].object),
      "invalid_argument: updates[0].action: 'set-current-view-version' is not an update of tables");
}

TEST(Requirements, OfTablesAreNoneOfViews) {
  for (const auto& [requirement, required] : kTableRequirements) {
    const std::string type = requirement.members()[0].second;
    EXPECT_EQ(kAsViewRequirement(requirement), "invalid_argument: requirements[0].type: '" +
                                                   type.substr(1, type.size() - 2) +
                                                   "' is not a requirement of views");
  }
  EXPECT_EQ(kAsTableRequirement({{"type", R"("assert-view-uuid")"}, {"uuid", kQuotedUuid}}),
            "invalid_argument: requirements[0].type: 'assert-view-uuid' is not a requirement of "
            "tables");
}

TEST(TableUpdates, ThatAreUnknownAreNamed) {
  const std::string known = R"({"action":"set-location","location":"s"})";
  EXPECT_EQ(table_commit(updates(known + "," + known + R"(,{"action":"frobnicate"})")),
            "invalid_argument: updates[2].action: 'frobnicate' is unknown");
  EXPECT_EQ(view_commit(updates(R"({"action":"SET-LOCATION","location":"s"})")),
            "invalid_argument: updates[0].action: 'SET-LOCATION' is unknown");
  EXPECT_EQ(table_commit(requirements(R"({"type":"assert-create"},{"type":""})")),
            "invalid_argument: requirements[1].type: '' is unknown");
  EXPECT_EQ(table_commit(updates(R"("set-location")")),
            "invalid_argument: updates[0]: expected an object, found a string");
}

TEST(Requirements, OfARefHaveASnapshotIdWhichMayBeNull) {
  const Document requirement{{"type", R"("assert-ref-snapshot-id")"}, {"ref", R"("main")"}};
  EXPECT_EQ(kAsTableRequirement(requirement),
            "invalid_argument: requirements[0].snapshot-id: is missing");
  const auto id_of = [&](const std::string& json) {
    return only_requirement<AssertRefSnapshotId>(requirement.with("snapshot-id", json).text())
        .snapshot_id;
  };
  EXPECT_EQ(id_of("null"), std::nullopt);
  EXPECT_EQ(id_of("-1"), -1);
  EXPECT_EQ(id_of("9007199254740993"), kBeyondDoubles);
  EXPECT_EQ(id_of("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(id_of("-9223372036854775808"), INT64_MIN);
  for (const std::string bad : {"9223372036854775808", "7.0", "7e0", "\"7\"", "{}"}) {
    EXPECT_THAT(kAsTableRequirement(requirement.with("snapshot-id", bad)),
                StartsWith("invalid_argument: requirements[0].snapshot-id: "))
        << bad;
  }
}

TEST(Requirements, SayWhatTheyAssert) {
  EXPECT_EQ(only_requirement<AssertTableUuid>(kTableRequirements[1].object.text()).uuid, kUuid);
  EXPECT_EQ(only_requirement<AssertLastAssignedFieldId>(
                R"({"last-assigned-field-id":5,"type":"assert-last-assigned-field-id"})")
                .last_assigned_field_id,
            5);
  EXPECT_EQ(only_requirement<AssertDefaultSortOrderId>(kTableRequirements[7].object.text())
                .default_sort_order_id,
            3);
  EXPECT_EQ(
      kAsTableRequirement(kTableRequirements[4].object.with("current-schema-id", "2147483648")),
      "invalid_argument: requirements[0].current-schema-id: 2147483648 does not fit into 32 "
      "bits");
}

TEST(TableUpdates, AddSchemasWithoutAnId) {
  const Document update = kTableUpdates[2].object;
  EXPECT_EQ(only_update<AddSchema>(update.text()).schema.schema_id, 4);
  const std::string without_id = schema(field(1, "x").text()).without("schema-id").text();
  EXPECT_EQ(only_update<AddSchema>(
                update.with("schema", without_id).with("last-column-id", "\"deprecated\"").text())
                .schema.schema_id,
            0);
  EXPECT_EQ(kAsTableUpdate(update.with("schema", schema(field(1, "x", "\"nope\"").text()).text())),
            "invalid_argument: updates[0].schema.fields[0].type: the type 'nope' is not known");
}

TEST(TableUpdates, AddSpecsWhoseIdsMayBeAbsentOrNull) {
  const auto spec = only_update<AddPartitionSpec>(kTableUpdates[4].object.text()).spec;
  EXPECT_EQ(spec.spec_id, std::nullopt);
  ASSERT_THAT(spec.fields, SizeIs(1));
  EXPECT_EQ(spec.fields[0].field_id, std::nullopt);
  EXPECT_EQ(spec.fields[0].name, "x_bucket");
  EXPECT_EQ(spec.fields[0].transform.kind, TransformKind::kBucket);
  EXPECT_THAT(spec.fields[0].source_ids, ElementsAre(1));
  const auto nulls = only_update<AddPartitionSpec>(
      R"({"action":"add-spec","spec":{"spec-id":null,"fields":[{"field-id":null,"source-id":1,)"
      R"("name":"a","transform":"void"},{"field-id":1000,"source-id":1,"name":"b",)"
      R"("transform":"day"}]}})");
  EXPECT_EQ(nulls.spec.spec_id, std::nullopt);
  ASSERT_THAT(nulls.spec.fields, SizeIs(2));
  EXPECT_EQ(nulls.spec.fields[0].field_id, std::nullopt);
  EXPECT_EQ(nulls.spec.fields[1].field_id, 1000);
  EXPECT_EQ(table_commit(updates(R"({"action":"add-spec","spec":{"spec-id":1}})")),
            "invalid_argument: updates[0].spec.fields: is missing");
}

TEST(TableUpdates, AddSortOrdersThatHaveAnId) {
  const Document update = kTableUpdates[6].object;
  const auto order = only_update<AddSortOrder>(update.text()).sort_order;
  EXPECT_EQ(order.order_id, 1);
  ASSERT_THAT(order.fields, SizeIs(1));
  EXPECT_EQ(order.fields[0].direction, SortDirection::kDescending);
  EXPECT_EQ(kAsTableUpdate(update.with("sort-order", R"({"fields":[]})")),
            "invalid_argument: updates[0].sort-order.order-id: is missing");
}

TEST(TableUpdates, AddSnapshotsAndTellWhetherTheyHaveASequenceNumber) {
  const Document update = kTableUpdates[8].object;
  const auto with = [&](const Document& of) {
    return only_update<AddSnapshot>(update.with("snapshot", of.text()).text());
  };
  EXPECT_TRUE(with(snapshot("7")).has_sequence_number);
  EXPECT_FALSE(with(snapshot("7").without("sequence-number")).has_sequence_number);
  EXPECT_TRUE(with(snapshot("7").with("sequence-number", "0")).has_sequence_number);
  const auto whole = with(snapshot("9007199254740993")
                              .with("first-row-id", "5")
                              .with("added-rows", "6")
                              .with("key-id", "\"k\"")
                              .with("schema-id", "2")
                              .with("parent-snapshot-id", "-3"))
                         .snapshot;
  EXPECT_EQ(whole.snapshot_id, kBeyondDoubles);
  EXPECT_EQ(whole.first_row_id, 5);
  EXPECT_EQ(whole.added_rows, 6);
  EXPECT_EQ(whole.key_id, "k");
  EXPECT_EQ(whole.schema_id, 2);
  EXPECT_EQ(whole.parent_snapshot_id, -3);
  EXPECT_EQ(whole.operation(), "append");
  EXPECT_EQ(kAsTableUpdate(update.with("snapshot", snapshot("7").without("timestamp-ms").text())),
            "invalid_argument: updates[0].snapshot.timestamp-ms: is missing");
}

TEST(TableUpdates, SetRefsWhoseMembersStandBesideTheirName) {
  const Document update = kTableUpdates[9].object;
  const auto ref = only_update<SetSnapshotRef>(update.with("min-snapshots-to-keep", "2")
                                                   .with("max-snapshot-age-ms", "3")
                                                   .with("max-ref-age-ms", "4")
                                                   .text())
                       .ref;
  EXPECT_EQ(ref.name, "main");
  EXPECT_EQ(ref.snapshot_id, 7);
  EXPECT_EQ(ref.type, RefType::kBranch);
  EXPECT_EQ(ref.min_snapshots_to_keep, 2);
  EXPECT_EQ(ref.max_snapshot_age_ms, 3);
  EXPECT_EQ(ref.max_ref_age_ms, 4);
  EXPECT_EQ(
      only_update<SetSnapshotRef>(update.with("max-ref-age-ms", "null").text()).ref.max_ref_age_ms,
      std::nullopt);
  EXPECT_EQ(kAsTableUpdate(update.with("type", "\"twig\"")),
            "invalid_argument: updates[0].type: 'twig' is neither branch nor tag");
  EXPECT_EQ(kAsTableUpdate(update.with("max-ref-age-ms", "0")),
            "invalid_argument: updates[0].max-ref-age-ms: 0 is not positive");
}

TEST(TableUpdates, RemoveManyThings) {
  EXPECT_THAT(only_update<RemoveSnapshots>(
                  R"({"action":"remove-snapshots","snapshot-ids":[9007199254740993,-1]})")
                  .snapshot_ids,
              ElementsAre(kBeyondDoubles, -1));
  EXPECT_THAT(only_update<RemoveSnapshots>(R"({"action":"remove-snapshots","snapshot-ids":[]})")
                  .snapshot_ids,
              IsEmpty());
  EXPECT_THAT(only_update<RemoveProperties>(R"({"action":"remove-properties","removals":["a",""]})")
                  .removals,
              ElementsAre("a", ""));
  EXPECT_EQ(table_commit(updates(R"({"action":"remove-snapshots","snapshot-ids":[1,null]})")),
            "invalid_argument: updates[0].snapshot-ids[1]: expected an integer, found null");
  EXPECT_EQ(table_commit(updates(R"({"action":"remove-schemas","schema-ids":[4294967296]})")),
            "invalid_argument: updates[0].schema-ids[0]: 4294967296 does not fit into 32 bits");
}

TEST(TableUpdates, SetPropertiesThatAreStrings) {
  const auto set = only_update<SetProperties>(
      R"({"action":"set-properties","updates":{"b":"2","\u0061":"\ud83e\uddca"}})");
  ASSERT_THAT(set.updates, SizeIs(2));
  EXPECT_EQ(set.updates[0].key, "b");
  EXPECT_EQ(set.updates[1].key, "a");
  EXPECT_EQ(set.updates[1].value, "🧊");
  EXPECT_EQ(table_commit(updates(R"({"action":"set-properties","updates":{"a":1}})")),
            "invalid_argument: updates[0].updates.a: expected a string, found a number");
  EXPECT_EQ(table_commit(updates(R"({"action":"set-properties","updates":{"a":"","\u0061":""}})")),
            "invalid_argument: updates[0].updates.a: occurs twice");
}

TEST(TableUpdates, SetStatisticsThatLackNothing) {
  const auto statistics =
      only_update<SetStatistics>(kTableUpdates[15].object.with("snapshot-id", "\"ignored\"").text())
          .statistics;
  EXPECT_EQ(statistics.snapshot_id, 7);
  EXPECT_EQ(statistics.statistics_path, "s");
  ASSERT_THAT(statistics.blob_metadata, SizeIs(1));
  EXPECT_THAT(statistics.blob_metadata[0].fields, ElementsAre(1));
  EXPECT_EQ(table_commit(updates(R"({"action":"set-statistics","statistics":{"snapshot-id":7}})")),
            "invalid_argument: updates[0].statistics.statistics-path: is missing");
  EXPECT_EQ(table_commit(updates(R"({"action":"set-partition-statistics",)"
                                 R"("partition-statistics":{"snapshot-id":7}})")),
            "invalid_argument: updates[0].partition-statistics.statistics-path: is missing");
}

TEST(ViewUpdates, AddVersions) {
  const auto& request = accepted(parse_view_commit(updates(kUpdatesOfViewsAlone[0].object.text())));
  const auto& version = std::get<AddViewVersion>(request.commit.updates.at(0)).view_version;
  EXPECT_EQ(version.version_id, 2);
  EXPECT_EQ(version.schema_id, kLastAdded);
  EXPECT_THAT(version.default_namespace, ElementsAre("a"));
  EXPECT_EQ(version.find_sql("SPARK")->sql, "SELECT 1");
}

TEST(TableCommits, HaveRequirementsAndUpdates) {
  const Document commit{{"requirements", "[]"}, {"updates", "[]"}};
  for (const std::string member : {"requirements", "updates"}) {
    expect_required(commit, member, "", [](const Document& of) { return table_commit(of.text()); });
  }
  EXPECT_EQ(view_commit(R"({"updates":[]})"), "accepted");
  EXPECT_EQ(view_commit(R"({"requirements":[]})"), "invalid_argument: updates: is missing");
}

TEST(TableCommits, MayNameTheirTable) {
  const Document commit{{"requirements", "[]"}, {"updates", "[]"}};
  EXPECT_EQ(accepted(parse_table_commit(commit.text())).commit.identifier, std::nullopt);
  const auto identifier_of = [&](const std::string& json) {
    return accepted(parse_table_commit(commit.with("identifier", json).text())).commit.identifier;
  };
  EXPECT_EQ(identifier_of("null"), std::nullopt);
  EXPECT_EQ(identifier_of(R"({"name":"t","namespace":["a","b.c"]})"),
            (TableIdent{{"a", "b.c"}, "t"}));
  const auto refused = [&](const std::string& json) {
    return table_commit(commit.with("identifier", json).text());
  };
  EXPECT_EQ(refused(R"({"name":"t"})"), "invalid_argument: identifier.namespace: is missing");
  EXPECT_EQ(refused(R"({"namespace":["a"]})"), "invalid_argument: identifier.name: is missing");
  EXPECT_THAT(refused(R"({"name":"t","namespace":[]})"),
              StartsWith("invalid_argument: identifier: a namespace has at least one level"));
  EXPECT_THAT(refused(R"({"name":"","namespace":["a"]})"),
              StartsWith("invalid_argument: identifier: the name of table"));
  EXPECT_THAT(refused(R"({"name":"t","namespace":["a\u001fb"]})"),
              StartsWith("invalid_argument: identifier: level 1 of namespace"));
}

std::string change(const std::string& table) {
  return R"({"identifier":{"namespace":["a"],"name":")" + table +
         R"("},"requirements":[],"updates":[]})";
}
std::string changes(const std::string& elements) {
  return R"({"table-changes":[)" + elements + "]}";
}

TEST(Transactions, HaveAChangeAtLeastAndEachNamesAnotherTable) {
  const auto& request =
      accepted(parse_transaction(changes(change("b") + "," + change("c") + "," + change("B"))));
  ASSERT_THAT(request.table_changes, SizeIs(3));
  EXPECT_EQ(request.table_changes[1].identifier, (TableIdent{{"a"}, "c"}));
  EXPECT_EQ(transaction(changes("")), "invalid_argument: table-changes: is empty");
  EXPECT_EQ(transaction("{}"), "invalid_argument: table-changes: is missing");
  EXPECT_EQ(transaction(R"({"table-changes":null})"),
            "invalid_argument: table-changes: expected an array, found null");
  EXPECT_EQ(transaction(changes(change("b") + "," + change("c") + "," + change("\\u0062"))),
            "invalid_argument: table-changes[2].identifier: a.b stands twice");
  EXPECT_EQ(transaction(changes(change("b") + R"(,{"requirements":[],"updates":[]})")),
            "invalid_argument: table-changes[1].identifier: is missing");
  EXPECT_EQ(transaction(changes(change("b") + R"(,{"identifier":null,"requirements":[],)"
                                              R"("updates":[]})")),
            "invalid_argument: table-changes[1].identifier: is missing");
  EXPECT_EQ(transaction(changes(R"({"identifier":{"namespace":["a"],"name":"b"},"requirements":[],)"
                                R"("updates":[{"action":"set-location"}]})")),
            "invalid_argument: table-changes[0].updates[0].location: is missing");
}

}  // namespace
}  // namespace iceblink::iceberg::testing
