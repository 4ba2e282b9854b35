// Tables on which libraries disagree, or which some of them got wrong; docs/metadata.md has the
// choices. The numbers are those of the list of public bug reports that the cases come from.
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const Document kField = field(1, "x");

// ---- Format 1

TEST(MetadataCases, FormatOneWithoutListsHasWhatItsOldMembersSay) {
  const auto table = load(v1().with(
      "partition-spec", R"([{"name":"d","transform":"day","source-id":1,"field-id":1004}])"));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*table)->current_schema_id, 0);
  EXPECT_EQ((*table)->current_schema().fields[0].name, "x");
  EXPECT_EQ((*table)->default_partition_spec().fields[0].field_id, 1004);
  EXPECT_EQ((*table)->last_partition_id, 1004);
  EXPECT_EQ((*table)->default_sort_order().fields.size(), 0U);
  EXPECT_EQ((*load(v1()))->last_partition_id, 999);
}

TEST(MetadataCases, FormatOneFieldsWithoutIdsAreCounted) {
  const auto table =
      load(v1().with("partition-spec", R"([{"name":"a","transform":"day","source-id":1},)"
                                       R"({"name":"b","transform":"void","source-id":1}])"));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*table)->default_partition_spec().fields[1].field_id, 1001);
  EXPECT_EQ((*table)->last_partition_id, 1001);
  EXPECT_THAT(
      v1().with("partition-spec",
                R"([{"name":"a","transform":"day","source-id":1,"field-id":1000},)"
                R"({"name":"b","transform":"void","source-id":1}])"),
      IsRefused("partition-spec", "some of the fields have a field-id, and some have none"));
}

TEST(MetadataCases, Case1FormatOneMayHaveTheListsAlone) {
  const auto lists = v2().with("format-version", "1").without("last-sequence-number");
  EXPECT_THAT(lists, IsAccepted());
  EXPECT_THAT(lists.with("partition-spec", "null").with("schema", "null"), IsAccepted());
  EXPECT_THAT(lists.without("schemas"), IsRefused("schema", "is missing"));
  EXPECT_THAT(lists.without("partition-specs"), IsRefused("partition-spec", "is missing"));
}

TEST(MetadataCases, FormatOneListsWithoutTheIdsThatChooseFallBack) {
  const Document lists =
      v1().with("schemas",
                '[' + schema(kField.text(), 3).text() + ',' + schema(kField.text(), 4).text() + ']')
          .with("schema", schema(kField.text(), 3).text())
          .with("partition-specs", R"([{"spec-id":5,"fields":[]},{"spec-id":2,"fields":[]}])");
  const auto table = load(lists);
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*table)->current_schema_id, 3) << "that of schema";
  EXPECT_EQ((*table)->default_spec_id, 5) << "the highest";
  EXPECT_EQ((*load(lists.with("current-schema-id", "4")))->current_schema_id, 4);
  EXPECT_EQ((*load(lists.with("default-spec-id", "2")))->default_spec_id, 2);
  EXPECT_THAT(lists.without("schema"), IsRefused("current-schema-id", "is missing"));
}

TEST(MetadataCases, Case5FormatOneNeedsNoUuid) {
  for (const Document& table : {v1(), v1().with("table-uuid", "null")}) {
    EXPECT_THAT(table, IsAccepted());
    EXPECT_FALSE((*load(table))->table_uuid);
    EXPECT_EQ((*load(table))->table_uuid_text, "");
  }
}

TEST(MetadataCases, EmbeddedManifestsAreTakenAndAListBesideThemCounts) {
  const auto embedded = snapshot("7").without("manifest-list").with("manifests", R"(["m1","m2"])");
  const auto table = load(with_snapshot(v1(), embedded));
  ASSERT_TRUE(table) << table.error().message();
  const auto found = (*table)->snapshot(7);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ((*found)->manifest_list, "");
  EXPECT_THAT((*found)->manifests, ElementsAre("m1", "m2"));

  const auto both = load(with_snapshot(v1(), snapshot("7").with("manifests", R"(["m1"])")));
  EXPECT_EQ((*(*both)->snapshot(7))->manifest_list, "s3://b/t/m7.avro");
  EXPECT_TRUE((*(*both)->snapshot(7))->manifests.empty());

  EXPECT_THAT(with_snapshot(v1(), snapshot("7").with("manifests", "null")), IsAccepted());
  EXPECT_THAT(with_snapshot(v1(), embedded.with("manifest-list", "null")), IsAccepted());
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").without("manifest-list")),
              HasDeepFault("snapshots[0].manifest-list", "is missing"));
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").with("manifest-list", R"("")")),
              HasDeepFault("snapshots[0].manifest-list", "is empty"));
}

TEST(MetadataCases, FormatOneHasNoSequenceNumbers) {
  const auto table = load(with_snapshot(v1(), snapshot("7").with("sequence-number", "5")));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*table)->snapshot_index()[0].sequence_number, 0);
  EXPECT_EQ((*(*table)->snapshot(7))->sequence_number, 0);
}

// ---- Identity

TEST(MetadataCases, Case2ASnapshotOfFormatOneInATableOfFormatTwoHasSequenceNumberZero) {
  const auto table =
      load(v2().with("snapshots", '[' + snapshot("1").without("sequence-number").text() + ',' +
                                      snapshot("2").text() + ']'));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*(*table)->snapshot(1))->sequence_number, 0);
  EXPECT_EQ((*(*table)->snapshot(2))->sequence_number, 1);
  EXPECT_THAT(with_snapshot(v2(), snapshot("1").with("sequence-number", "null")),
              IsRefused("snapshots[0].sequence-number", "expected an integer, found null"));
}

TEST(MetadataCases, Case6WhatIsRequiredIsRequired) {
  for (const char* name :
       {"format-version", "table-uuid", "location", "last-sequence-number", "last-updated-ms",
        "last-column-id", "schemas", "current-schema-id", "partition-specs", "default-spec-id",
        "last-partition-id", "sort-orders", "default-sort-order-id"}) {
    EXPECT_THAT(error_of(v2().without(name)), std::string("corrupt: ") + name + ": is missing");
    EXPECT_THAT(problems_of(v2().without(name)),
                ::testing::Contains(std::string(name) + ": is missing"));
    EXPECT_THAT(error_of(v2().with(name, "null")), HasSubstr(std::string(name) + ": is null"));
  }
  for (const char* name : {"partition-specs", "sort-orders"}) {
    EXPECT_THAT(v2().with(name, "[]"), IsRefused(name, "is empty"));
  }
}

TEST(MetadataCases, AUuidThatIsNoneIsKeptAsTextUnlessItIsEmptyOrZero) {
  const auto table = load(v2().with("table-uuid", R"("uuid-1")"));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_FALSE((*table)->table_uuid);
  EXPECT_EQ((*table)->table_uuid_text, "uuid-1");
  EXPECT_THAT(v2().with("table-uuid", R"("")"), IsRefused("table-uuid", "is empty"));
  EXPECT_THAT(v2().with("table-uuid", R"("00000000-0000-0000-0000-000000000000")"),
              IsRefused("table-uuid", "is all zero"));
  EXPECT_THAT(v2().with("table-uuid", "7"),
              IsRefused("table-uuid", "expected a string, found a number"));
  EXPECT_THAT(v1().with("table-uuid", R"("")"), IsAccepted());
}

TEST(MetadataCases, AFormatAboveOursIsUnsupportedAndNothingElseIsSaidOfIt) {
  for (const char* version : {"4", "42", "9223372036854775807"}) {
    const auto document = v2().with("format-version", version).without("schemas");
    const std::string line =
        std::string("format-version: ") + version + " is not supported, the highest known is 3";
    EXPECT_EQ(error_of(document), "unsupported: " + line);
    EXPECT_THAT(problems_of(document), ElementsAre(line));
  }
  EXPECT_THAT(error_of(v2().with("format-version", "0")), HasSubstr("0 is below 1"));
  EXPECT_THAT(error_of(v2().with("format-version", R"("2")")), HasSubstr("expected an integer"));
}

// ---- Snapshots and refs

TEST(MetadataCases, Case13AbsentNullAndMinusOneAreNoCurrentSnapshot) {
  const auto table = v2().with("snapshots", '[' + snapshot("7").text() + ']');
  for (const Document& document : {table, table.with("current-snapshot-id", "null"),
                                   table.with("current-snapshot-id", "-1")}) {
    EXPECT_THAT(document, IsAccepted());
    const auto loaded = load(document);
    EXPECT_FALSE((*loaded)->current_snapshot_id);
    EXPECT_TRUE((*loaded)->refs.empty());
    const auto current = (*loaded)->current_snapshot();
    ASSERT_TRUE(current) << current.error().message();
    EXPECT_EQ(*current, nullptr);
  }
}

TEST(MetadataCases, TheCurrentSnapshotAndMainAreOne) {
  const auto table =
      v2().with("snapshots", '[' + snapshot("7").text() + ',' + snapshot("8").text() + ']')
          .with("current-snapshot-id", "7");
  const auto main_at = [](const std::string& id) {
    return R"({"main":{"snapshot-id":)" + id + R"(,"type":"branch"}})";
  };
  EXPECT_THAT(table.with("refs", main_at("7")), IsAccepted());
  EXPECT_THAT(table.with("refs", main_at("8")),
              IsRefused("refs.main.snapshot-id", "8 is not the current-snapshot-id, 7"));
  EXPECT_THAT(table.without("current-snapshot-id").with("refs", main_at("7")),
              IsRefused("refs.main", "is there, and no current-snapshot-id"));
  EXPECT_THAT(table.with("current-snapshot-id", "9"),
              IsRefused("current-snapshot-id", "9 is the id of no snapshot"));
  EXPECT_THAT(table.with("refs", R"({"old":{"snapshot-id":9,"type":"tag"}})"),
              IsRefused("refs.old.snapshot-id", "9 is the id of no snapshot"));
}

TEST(MetadataCases, MainIsMadeWhereThereIsACurrentSnapshotAndNoRefs) {
  const auto table = with_snapshot(v2(), snapshot("7")).with("current-snapshot-id", "7");
  for (const Document& document : {table, table.with("refs", "null"), table.with("refs", "{}")}) {
    const auto loaded = load(document);
    ASSERT_TRUE(loaded) << loaded.error().message();
    ASSERT_EQ((*loaded)->refs.size(), 1U);
    EXPECT_EQ((*loaded)->refs[0].name, "main");
    EXPECT_EQ((*loaded)->refs[0].snapshot_id, 7);
    EXPECT_EQ((*loaded)->refs[0].type, RefType::kBranch);
  }
}

TEST(MetadataCases, RefsAreChecked) {
  const auto ref = [](const std::string& members) {
    return with_snapshot(v2(), snapshot("7"))
        .with("refs", R"({"r":{"snapshot-id":7,)" + members + "}}");
  };
  EXPECT_THAT(ref(R"("type":"tag","max-ref-age-ms":1)"), IsAccepted());
  EXPECT_THAT(ref(R"("type":"branch","min-snapshots-to-keep":1,"max-snapshot-age-ms":1)"),
              IsAccepted());
  EXPECT_THAT(ref(R"("type":"BRANCH","max-ref-age-ms":null)"), IsAccepted());
  EXPECT_THAT(ref(R"("type":"trunk")"),
              IsRefused("refs.r.type", "'trunk' is neither branch nor tag"));
  EXPECT_THAT(ref(R"("x":1)"), IsRefused("refs.r.type", "is missing"));
  EXPECT_THAT(ref(R"("type":"branch","max-ref-age-ms":0)"),
              IsRefused("refs.r.max-ref-age-ms", "0 is not positive"));
  EXPECT_THAT(error_of(ref(R"("type":"tag","min-snapshots-to-keep":1)")),
              HasSubstr("refs.r: a tag keeps one snapshot"));
}

TEST(MetadataCases, SnapshotsThatAreAbsentOrNullAreNone) {
  for (const Document& document : {v2(), v2().with("snapshots", "null")}) {
    EXPECT_THAT(document, IsAccepted());
    EXPECT_TRUE((*(*load(document))->snapshots()).empty());
  }
  EXPECT_THAT(v2().with("snapshots", "[null]"),
              IsRefused("snapshots[0]", "expected an object, found null"));
}

TEST(MetadataCases, SnapshotIdsDiffer) {
  EXPECT_THAT(v2().with("snapshots", '[' + snapshot("7").text() + ',' + snapshot("8").text() + ',' +
                                         snapshot("7").text() + ']'),
              IsRefused("snapshots[2].snapshot-id", "7 is that of another one, too"));
}

TEST(MetadataCases, NoSequenceNumberIsAboveTheLast) {
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").with("sequence-number", "9")), IsAccepted());
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").with("sequence-number", "10")),
              IsRefused("snapshots[0].sequence-number",
                        "10 is above the last-sequence-number, which is 9"));
}

TEST(MetadataCases, Case4ASummaryWithoutOperationIsAnOverwrite) {
  for (const char* summary : {R"({"added-files":"1"})", "{}", "null"}) {
    const auto table = load(with_snapshot(v2(), snapshot("7").with("summary", summary)));
    ASSERT_TRUE(table) << table.error().message();
    EXPECT_EQ((*(*table)->snapshot(7))->operation(), "overwrite");
  }
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").without("summary")), IsAccepted());
  EXPECT_THAT(
      with_snapshot(v2(), snapshot("7").with("summary", R"({"added-files":1})")),
      HasDeepFault("snapshots[0].summary.added-files", "expected a string, found a number"));
}

TEST(MetadataCases, LogsMayGoBackByAMinute) {
  const auto table = [](const std::string& first, const std::string& second) {
    return v2().with("snapshot-log", R"([{"snapshot-id":1,"timestamp-ms":)" + first +
                                         R"(},{"snapshot-id":2,"timestamp-ms":)" + second + "}]");
  };
  EXPECT_THAT(table("1699999000000", "1699998940000"), IsAccepted());
  EXPECT_THAT(table("1699999000000", "1699998939999"),
              HasDeepFault("snapshot-log[1].timestamp-ms",
                           "is more than a minute before the entry before it"));
  EXPECT_THAT(table("1699999000000", "1700000060000"), IsAccepted());
  EXPECT_THAT(
      table("1699999000000", "1700000060001"),
      HasDeepFault("snapshot-log", "its last entry is more than a minute after last-updated-ms"));
  EXPECT_THAT(
      v2().with("metadata-log", R"([{"timestamp-ms":1700000060001,"metadata-file":"m"}])"),
      HasDeepFault("metadata-log", "its last entry is more than a minute after last-updated-ms"));
}

// ---- Nulls, unknown members, properties, statistics

TEST(MetadataCases, Case14OptionalMembersMayBeNull) {
  Document table = v2();
  for (const char* name : {"properties", "snapshot-log", "metadata-log", "statistics",
                           "partition-statistics", "snapshots", "refs", "current-snapshot-id"}) {
    table = table.with(name, "null");
  }
  EXPECT_THAT(table, IsAccepted());
  EXPECT_THAT(v1().with("partition-specs", R"([{"spec-id":0,"fields":[]}])")
                  .with("partition-spec", "null")
                  .with("sort-orders", "null"),
              IsAccepted());
  EXPECT_THAT(v3().with("encryption-keys", "null").with("next-row-id", "null"), IsAccepted());
}

TEST(MetadataCases, NullsInListsAreRefused) {
  EXPECT_THAT(v2().with("schemas", "[null]"),
              IsRefused("schemas[0]", "expected an object, found null"));
  EXPECT_THAT(v2().with("properties", R"({"a":null})"),
              IsRefused("properties.a", "expected a string, found null"));
  EXPECT_THAT(v2().with("metadata-log", "[null]"),
              HasDeepFault("metadata-log[0]", "expected an object, found null"));
}

TEST(MetadataCases, Case15NullDocsAndParentsAreAbsent) {
  const auto table = load(
      with_snapshot(with_schema(v2(), kField.with("doc", "null").text()),
                    snapshot("7").with("parent-snapshot-id", "null").with("schema-id", "null")));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_FALSE((*table)->current_schema().fields[0].doc);
  EXPECT_FALSE((*(*table)->snapshot(7))->parent_snapshot_id);
  EXPECT_FALSE((*(*table)->snapshot(7))->schema_id);
}

TEST(MetadataCases, UnknownMembersAreIgnoredAnywhereButAreJson) {
  const std::string extra = R"({"a":[1,2.5e3,null,true,"\u00e4"],"b":{}})";
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").with("new", extra)).with("new", extra),
              IsAccepted());
  EXPECT_THAT(with_schema(v2(), kField.with("new", extra).text()), IsAccepted());
  EXPECT_THAT(error_of(v2().with("new", R"({"a":nope})")), HasSubstr("not valid JSON"));
}

TEST(MetadataCases, MembersOfANewerFormatAreIgnoredInAnOlderOne) {
  const auto table = load(with_snapshot(v2(), snapshot("7")
                                                  .with("first-row-id", "-5")
                                                  .with("added-rows", R"("many")")
                                                  .with("key-id", "1"))
                              .with("next-row-id", R"("x")")
                              .with("encryption-keys", "5"));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_FALSE((*table)->next_row_id);
  const auto found = (*table)->snapshot(7);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_FALSE((*found)->first_row_id);
  EXPECT_FALSE((*found)->key_id);
}

TEST(MetadataCases, WhatAFormatIgnoresIsJsonAllTheSame) {
  for (const char* broken : {"nope", "[1 2]", R"({"a":})", "01"}) {
    for (const auto& document :
         {v2().with("next-row-id", broken), v2().with("schema", broken),
          v2().with("partition-spec", broken), v1().with("last-sequence-number", broken)}) {
      EXPECT_THAT(error_of(document), HasSubstr("not valid JSON")) << document.text();
      EXPECT_FALSE(problems_of(document).empty()) << document.text();
    }
  }
  EXPECT_THAT(error_of(v2().with("properties", "nix")), HasSubstr("not valid JSON"));
}

TEST(MetadataCases, ATableOfFormatThreeWithoutNextRowIdCanBeRead) {
  const auto table = load(v3().without("next-row-id"));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_FALSE((*table)->next_row_id);
  EXPECT_EQ((*load(v3()))->next_row_id, 0);
  EXPECT_THAT(v3().with("next-row-id", "-1"), IsRefused("next-row-id", "is negative"));
}

TEST(MetadataCases, RowLineageOfASnapshotIsChecked) {
  const auto lineage = [](const char* first, const char* added) {
    return with_snapshot(v3(), snapshot("7").with("first-row-id", first).with("added-rows", added));
  };
  EXPECT_THAT(lineage("0", "0"), IsAccepted());
  EXPECT_THAT(lineage("null", "null"), IsAccepted());
  EXPECT_THAT(lineage("0", "null"),
              HasDeepFault("snapshots[0].added-rows", "is missing beside first-row-id"));
  EXPECT_THAT(lineage("-1", "0"), HasDeepFault("snapshots[0].first-row-id", "is negative"));
}

TEST(MetadataCases, PropertiesThatAreNoStringsAreTakenAsTheyAreWritten) {
  const auto table = load(v2().with("properties", R"({"a":1,"b":true,"c":1.50,"d":"x","e":-2e3})"));
  ASSERT_TRUE(table) << table.error().message();
  const auto& properties = (*table)->properties;
  EXPECT_EQ(find_property(properties, "a"), "1");
  EXPECT_EQ(find_property(properties, "b"), "true");
  EXPECT_EQ(find_property(properties, "c"), "1.50");
  EXPECT_EQ(find_property(properties, "e"), "-2e3");
  EXPECT_THAT(v2().with("properties", R"({"a":[]})"),
              IsRefused("properties.a", "expected a string, found an array"));
  EXPECT_THAT(v2().with("properties", R"({"commit.retry.num-retries":"x"})"), IsAccepted());
}

TEST(MetadataCases, StatisticsThatAreNotWholeAreLeftOut) {
  const std::string whole = R"({"snapshot-id":1,"statistics-path":"p","file-size-in-bytes":2,)"
                            R"("file-footer-size-in-bytes":1,"blob-metadata":[]})";
  const auto table =
      load(v2().with("statistics", R"([{"snapshot-id":2},null,)" + whole + R"(,"x"])")
               .with("partition-statistics", R"([{"snapshot-id":"x"}])"));
  ASSERT_TRUE(table) << table.error().message();
  ASSERT_EQ((*table)->statistics.size(), 1U);
  EXPECT_EQ((*table)->statistics[0].snapshot_id, 1);
  EXPECT_TRUE((*table)->partition_statistics.empty());
  EXPECT_THAT(error_of(v2().with("statistics", "[{\"snapshot-id\":}]")),
              HasSubstr("not valid JSON"));
  EXPECT_THAT(v2().with("statistics", "{}"),
              IsRefused("statistics", "expected an array, found an object"));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
