// Commits to tables that contradict themselves, the table or the specification: each is refused,
// says what is wrong, and leaves nothing behind.
#include <string_view>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

struct BadCommit {
  std::string_view text;  // the elements of `updates`, or a whole body
  std::string_view says;  // what the message must have
  int status = 400;
};

constexpr BadCommit kBadBodies[] = {
    {"", "empty"},
    {"{", "JSON"},
    {"[]", "object"},
    {"null", "object"},
    {"\"text\"", "object"},
    {R"({"requirements":[],"updates":[]} x)", "JSON"},
    {R"({"requirements":[],"updates":[],})", "JSON"},
    {R"({"requirements":[],"updates":[],"x":NaN})", "JSON"},
    {R"({"updates":[]})", "requirements"},
    {R"({"requirements":[]})", "updates"},
    {R"({"requirements":null,"updates":[]})", "requirements"},
    {R"({"requirements":{},"updates":[]})", "requirements"},
    {R"({"requirements":[],"updates":{}})", "updates"},
    {R"({"requirements":[],"updates":[],"updates":[]})", "updates"},
    {R"({"requirements":[7],"updates":[]})", "requirements[0]"},
    {R"({"requirements":[{}],"updates":[]})", "requirements[0].type"},
    {R"({"requirements":[{"type":7}],"updates":[]})", "requirements[0].type"},
    {R"({"requirements":[{"type":"assert-luck"}],"updates":[]})", "assert-luck"},
    {R"({"requirements":[{"type":"assert-table-uuid"}],"updates":[]})", "requirements[0].uuid"},
    {R"({"requirements":[{"type":"assert-view-uuid","uuid":"x"}],"updates":[]})",
     "assert-view-uuid"},
    {R"({"requirements":[{"type":"assert-ref-snapshot-id","snapshot-id":1}],"updates":[]})",
     "requirements[0].ref"},
    {R"({"requirements":[{"type":"assert-current-schema-id","current-schema-id":"0"}],)"
     R"("updates":[]})",
     "requirements[0].current-schema-id"},
    {R"({"requirements":[{"type":"assert-default-spec-id","default-spec-id":0.5}],"updates":[]})",
     "requirements[0].default-spec-id"},
    {R"({"requirements":[{"type":"assert-last-assigned-field-id"}],"updates":[]})",
     "requirements[0].last-assigned-field-id"},
    {R"({"identifier":{"namespace":["ns"],"name":"other"},"requirements":[],"updates":[]})",
     "identifier"},
    {R"({"identifier":{"namespace":[],"name":"t"},"requirements":[],"updates":[]})", "identifier"},
    {R"({"identifier":"ns.t","requirements":[],"updates":[]})", "identifier"},
};

constexpr BadCommit kBadUpdates[] = {
    {"7", "updates[0]"},
    {"null", "updates[0]"},
    {"{}", "updates[0].action"},
    {R"({"action":null})", "updates[0].action"},
    {R"({"action":"Add-Schema"})", "Add-Schema"},
    {R"({"action":"drop-everything"})", "drop-everything"},
    {R"({"action":"set-location","action":"set-location","location":"/w"})", "action"},
    {R"({"action":"add-view-version","view-version":{}})", "add-view-version"},
    {R"({"action":"set-current-view-version","view-version-id":1})", "set-current-view-version"},
    // assign-uuid
    {R"({"action":"assign-uuid"})", "updates[0].uuid"},
    {R"({"action":"assign-uuid","uuid":7})", "updates[0].uuid"},
    {R"({"action":"assign-uuid","uuid":"no"})", "uuid"},
    {R"({"action":"assign-uuid","uuid":"00000000-0000-0000-0000-000000000000"})", "uuid"},
    {R"({"action":"assign-uuid","uuid":"11111111-1111-4111-8111-111111111111"})", "uuid"},
    // upgrade-format-version
    {R"({"action":"upgrade-format-version"})", "updates[0].format-version"},
    {R"({"action":"upgrade-format-version","format-version":"3"})", "updates[0].format-version"},
    {R"({"action":"upgrade-format-version","format-version":3.0})", "updates[0].format-version"},
    {R"({"action":"upgrade-format-version","format-version":4294967298})", "format-version"},
    {R"({"action":"upgrade-format-version","format-version":1})",
     "Cannot downgrade v2 table to v1"},
    {R"({"action":"upgrade-format-version","format-version":0})", "v0"},
    {R"({"action":"upgrade-format-version","format-version":4})", "v4"},
    // add-schema
    {R"({"action":"add-schema"})", "updates[0].schema"},
    {R"({"action":"add-schema","schema":{}})", "updates[0].schema.type"},
    {R"({"action":"add-schema","schema":{"type":"list","fields":[]}})", "updates[0].schema.type"},
    {R"({"action":"add-schema","schema":{"type":"struct"}})", "updates[0].schema.fields"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"name":"a",)"
     R"("required":false,"type":"int"}]}})",
     "updates[0].schema.fields[0].id"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"required":false,)"
     R"("type":"int"}]}})",
     "updates[0].schema.fields[0].name"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false}]}})",
     "updates[0].schema.fields[0].type"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("type":"int"}]}})",
     "updates[0].schema.fields[0].required"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":"no","type":"int"}]}})",
     "updates[0].schema.fields[0].required"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false,"type":"integer"}]}})",
     "updates[0].schema.fields[0].type"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false,"type":"fixed[-1]"}]}})",
     "updates[0].schema.fields[0].type"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false,"type":{"type":"list","element":"int","element-required":true}}]}})",
     "updates[0].schema.fields[0].type.element-id"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false,"type":{"type":"map","key-id":10,"value-id":11,"value":"int",)"
     R"("value-required":true}}]}})",
     "updates[0].schema.fields[0].type.key"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false,"type":"int"},{"id":9,"name":"b","required":false,"type":"int"}]}})",
     "9"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false,"type":"int"},{"id":10,"name":"a","required":false,"type":"int"}]}})",
     "a"},
    {R"({"action":"add-schema","schema":{"type":"struct","identifier-field-ids":[77],)"
     R"("fields":[{"id":9,"name":"a","required":true,"type":"int"}]}})",
     "identifier-field-ids"},
    {R"({"action":"add-schema","schema":{"type":"struct","identifier-field-ids":[9],)"
     R"("fields":[{"id":9,"name":"a","required":false,"type":"int"}]}})",
     "identifier-field-ids"},
    {R"({"action":"add-schema","schema":{"type":"struct","identifier-field-ids":[9],)"
     R"("fields":[{"id":9,"name":"a","required":true,"type":"float"}]}})",
     "identifier-field-ids"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"va",)"
     R"("required":false,"type":"variant"}]}})",
     "variant is not supported until v3"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false,"type":"timestamp_ns"}]}})",
     "timestamp_ns is not supported until v3"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false,"type":"unknown"}]}})",
     "unknown is not supported until v3"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":false,"type":{"type":"list","element-id":10,"element":"variant",)"
     R"("element-required":false}}]}})",
     "variant is not supported until v3"},
    {R"({"action":"add-schema","schema":{"type":"struct","fields":[{"id":9,"name":"a",)"
     R"("required":true,"type":"int","initial-default":7}]}})",
     "until v3"},
    // set-current-schema
    {R"({"action":"set-current-schema"})", "updates[0].schema-id"},
    {R"({"action":"set-current-schema","schema-id":"1"})", "updates[0].schema-id"},
    {R"({"action":"set-current-schema","schema-id":99})", "99"},
    {R"({"action":"set-current-schema","schema-id":-1})", "no schema has been added"},
    {R"({"action":"set-current-schema","schema-id":-2})", "-2"},
    // add-spec
    {R"({"action":"add-spec"})", "updates[0].spec"},
    {R"({"action":"add-spec","spec":{}})", "updates[0].spec.fields"},
    {R"({"action":"add-spec","spec":{"fields":[{"name":"p","transform":"day"}]}})",
     "updates[0].spec.fields[0].source-id"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-id":2,"transform":"day"}]}})",
     "updates[0].spec.fields[0].name"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-id":2,"name":"p"}]}})",
     "updates[0].spec.fields[0].transform"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-id":99,"name":"p",)"
     R"("transform":"identity"}]}})",
     "99"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-id":1,"name":"p",)"
     R"("transform":"bucket[0]"}]}})",
     "bucket[0]"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-id":1,"name":"p","transform":"year"}]}})",
     "'p'"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-id":3,"name":"p",)"
     R"("transform":"identity"}]}})",
     "'p'"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-id":1,"name":"p",)"
     R"("transform":"bucket[4]"},{"source-id":2,"name":"p","transform":"day"}]}})",
     "p"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-id":1,"name":"note",)"
     R"("transform":"bucket[4]"}]}})",
     "note"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-id":1,"field-id":1001,"name":"p",)"
     R"("transform":"bucket[4]"},{"source-id":2,"field-id":1001,"name":"q",)"
     R"("transform":"day"}]}})",
     "1001"},
    {R"({"action":"add-spec","spec":{"fields":[{"source-ids":[1,2],"name":"p",)"
     R"("transform":"zip"}]}})",
     "'p'"},
    // set-default-spec
    {R"({"action":"set-default-spec"})", "updates[0].spec-id"},
    {R"({"action":"set-default-spec","spec-id":99})", "99"},
    {R"({"action":"set-default-spec","spec-id":-1})", "no spec has been added"},
    // add-sort-order, set-default-sort-order
    {R"({"action":"add-sort-order"})", "updates[0].sort-order"},
    {R"({"action":"add-sort-order","sort-order":{"order-id":9}})", "updates[0].sort-order.fields"},
    {R"({"action":"add-sort-order","sort-order":{"order-id":9,"fields":[{"source-id":1,)"
     R"("transform":"identity","null-order":"nulls-first"}]}})",
     "updates[0].sort-order.fields[0].direction"},
    {R"({"action":"add-sort-order","sort-order":{"order-id":9,"fields":[{"source-id":1,)"
     R"("transform":"identity","direction":"up","null-order":"nulls-first"}]}})",
     "updates[0].sort-order.fields[0].direction"},
    {R"({"action":"add-sort-order","sort-order":{"order-id":9,"fields":[{"source-id":1,)"
     R"("transform":"identity","direction":"asc","null-order":"first"}]}})",
     "updates[0].sort-order.fields[0].null-order"},
    {R"({"action":"add-sort-order","sort-order":{"order-id":9,"fields":[{"source-id":99,)"
     R"("transform":"identity","direction":"asc","null-order":"nulls-first"}]}})",
     "99"},
    {R"({"action":"add-sort-order","sort-order":{"order-id":9,"fields":[{"source-id":1,)"
     R"("transform":"truncate[0]","direction":"asc","null-order":"nulls-first"}]}})",
     "truncate[0]"},
    {R"({"action":"set-default-sort-order"})", "updates[0].sort-order-id"},
    {R"({"action":"set-default-sort-order","sort-order-id":99})", "99"},
    {R"({"action":"set-default-sort-order","sort-order-id":-1})", "no sort order has been added"},
    // refs
    {R"({"action":"set-snapshot-ref","type":"branch","snapshot-id":7})", "updates[0].ref-name"},
    {R"({"action":"set-snapshot-ref","ref-name":"","type":"branch","snapshot-id":7})", "ref"},
    {R"({"action":"set-snapshot-ref","ref-name":"x","type":"branch"})", "updates[0].snapshot-id"},
    {R"({"action":"set-snapshot-ref","ref-name":"x","snapshot-id":7})", "updates[0].type"},
    {R"({"action":"set-snapshot-ref","ref-name":"x","type":"twig","snapshot-id":7})",
     "updates[0].type"},
    {R"({"action":"set-snapshot-ref","ref-name":"x","type":"branch","snapshot-id":99})",
     "unknown snapshot: 99"},
    {R"({"action":"set-snapshot-ref","ref-name":"main","type":"tag","snapshot-id":7})", "main"},
    {R"({"action":"set-snapshot-ref","ref-name":"x","type":"tag","snapshot-id":7,)"
     R"("min-snapshots-to-keep":2})",
     "min-snapshots-to-keep"},
    {R"({"action":"set-snapshot-ref","ref-name":"x","type":"branch","snapshot-id":7,)"
     R"("max-ref-age-ms":0})",
     "x"},
    {R"({"action":"set-snapshot-ref","ref-name":"x","type":"branch","snapshot-id":7,)"
     R"("max-ref-age-ms":"9"})",
     "updates[0].max-ref-age-ms"},
    {R"({"action":"remove-snapshot-ref"})", "updates[0].ref-name"},
    {R"({"action":"remove-snapshots"})", "updates[0].snapshot-ids"},
    {R"({"action":"remove-snapshots","snapshot-ids":7})", "updates[0].snapshot-ids"},
    {R"({"action":"remove-snapshots","snapshot-ids":["7"]})", "updates[0].snapshot-ids[0]"},
    // location, properties
    {R"({"action":"set-location"})", "updates[0].location"},
    {R"({"action":"set-location","location":""})", "location"},
    {R"({"action":"set-location","location":"/etc/elsewhere"})", "/etc/elsewhere", 403},
    {R"({"action":"set-location","location":"s3://bucket/t"})", "s3://bucket/t", 406},
    {R"({"action":"set-properties"})", "updates[0].updates"},
    {R"({"action":"set-properties","updates":["a"]})", "updates[0].updates"},
    {R"({"action":"set-properties","updates":{"a":null}})", "updates[0].updates.a"},
    {R"({"action":"set-properties","updates":{"a":{}}})", "updates[0].updates.a"},
    {R"({"action":"set-properties","updates":{"a":"1","a":"2"}})", "a"},
    {R"({"action":"set-properties","updates":{"format-version":"new"}})", "format-version"},
    {R"({"action":"set-properties","updates":{"format-version":"1"}})", "v1"},
    {R"({"action":"set-properties","updates":{"write.metadata.previous-versions-max":"many"}})",
     "write.metadata.previous-versions-max"},
    {R"({"action":"remove-properties"})", "updates[0].removals"},
    {R"({"action":"remove-properties","removals":{"a":"b"}})", "updates[0].removals"},
    {R"({"action":"remove-properties","removals":[7]})", "updates[0].removals[0]"},
    // statistics
    {R"({"action":"set-statistics"})", "updates[0].statistics"},
    {R"({"action":"set-statistics","statistics":{"snapshot-id":7}})", "updates[0].statistics."},
    {R"({"action":"set-statistics","statistics":{"snapshot-id":7,"statistics-path":"p",)"
     R"("file-size-in-bytes":1,"file-footer-size-in-bytes":"x","blob-metadata":[]}})",
     "updates[0].statistics.file-footer-size-in-bytes"},
    {R"({"action":"remove-statistics"})", "updates[0].snapshot-id"},
    {R"({"action":"set-partition-statistics"})", "updates[0].partition-statistics"},
    {R"({"action":"set-partition-statistics","partition-statistics":{"snapshot-id":7,)"
     R"("statistics-path":"p"}})",
     "updates[0].partition-statistics.file-size-in-bytes"},
    {R"({"action":"remove-partition-statistics","snapshot-id":"7"})", "updates[0].snapshot-id"},
    // removals
    {R"({"action":"remove-partition-specs"})", "updates[0].spec-ids"},
    {R"({"action":"remove-partition-specs","spec-ids":[1]})", "default"},
    {R"({"action":"remove-schemas","schema-ids":[1]})", "current"},
    {R"({"action":"remove-schemas","schema-ids":["0"]})", "updates[0].schema-ids[0]"},
    // encryption keys
    {R"({"action":"add-encryption-key"})", "updates[0].encryption-key"},
    {R"({"action":"add-encryption-key","encryption-key":{"key-id":"k"}})",
     "updates[0].encryption-key.encrypted-key-metadata"},
    {R"({"action":"add-encryption-key","encryption-key":{"key-id":"k",)"
     R"("encrypted-key-metadata":"bQ=="}})",
     "until v3"},
    {R"({"action":"remove-encryption-key"})", "updates[0].key-id"},
    // sequences: the last one is wrong, nothing of the others is done
    {R"({"action":"set-properties","updates":{"done":"yes"}},{"action":"set-default-spec",)"
     R"("spec-id":99})",
     "99"},
    {R"({"action":"remove-snapshots","snapshot-ids":[8]},{"action":"set-snapshot-ref",)"
     R"("ref-name":"main","type":"branch","snapshot-id":8})",
     "8"},
    {R"({"action":"set-default-spec","spec-id":0},{"action":"remove-partition-specs",)"
     R"("spec-ids":[0]})",
     "default"},
    {R"({"action":"set-current-schema","schema-id":0},{"action":"remove-schemas",)"
     R"("schema-ids":[0]})",
     "current"},
    {R"({"action":"upgrade-format-version","format-version":3},)"
     R"({"action":"upgrade-format-version","format-version":2})",
     "Cannot downgrade v3 table to v2"},
    {R"({"action":"set-properties","updates":{"done":"yes"}},{"action":"set-properties"})",
     "updates[1].updates"},
};

struct BadSnapshot {
  std::string_view members;
  std::string_view says;
  int status = 400;
};

constexpr BadSnapshot kBadSnapshots[] = {
    // It would say that there is no current snapshot.
    {R"("snapshot-id":-1,"sequence-number":3,"timestamp-ms":4000000000001,"manifest-list":"/m",)"
     R"("summary":{"operation":"append"}}},{"action":"set-snapshot-ref","ref-name":"main",)"
     R"("type":"branch","snapshot-id":-1,"x":{)",
     "-1"},
    {R"("sequence-number":3,"timestamp-ms":4000000000001,"manifest-list":"/m",)"
     R"("summary":{"operation":"append"})",
     "snapshot.snapshot-id"},
    {R"("snapshot-id":"9","sequence-number":3,"timestamp-ms":4000000000001,)"
     R"("manifest-list":"/m","summary":{"operation":"append"})",
     "snapshot.snapshot-id"},
    {R"("snapshot-id":9.0,"sequence-number":3,"timestamp-ms":4000000000001,)"
     R"("manifest-list":"/m","summary":{"operation":"append"})",
     "snapshot.snapshot-id"},
    {R"("snapshot-id":9223372036854775808,"sequence-number":3,"timestamp-ms":4000000000001,)"
     R"("manifest-list":"/m","summary":{"operation":"append"})",
     "snapshot.snapshot-id"},
    {R"("snapshot-id":9,"sequence-number":3,"manifest-list":"/m",)"
     R"("summary":{"operation":"append"})",
     "snapshot.timestamp-ms"},
    {R"("snapshot-id":9,"sequence-number":3,"timestamp-ms":4000000000001,)"
     R"("summary":{"operation":"append"})",
     "manifest-list"},
    {R"("snapshot-id":9,"sequence-number":3,"timestamp-ms":4000000000001,"manifest-list":"",)"
     R"("summary":{"operation":"append"})",
     "manifest-list"},
    {R"("snapshot-id":9,"sequence-number":3,"timestamp-ms":4000000000001,"manifest-list":"/m",)"
     R"("summary":{"operation":"append","x":7})",
     "snapshot.summary.x"},
    {R"("snapshot-id":9,"sequence-number":3,"timestamp-ms":4000000000001,"manifest-list":"/m",)"
     R"("summary":{"operation":"append"},"schema-id":99)",
     "unknown schema: 99"},
    {R"("snapshot-id":7,"sequence-number":3,"timestamp-ms":4000000000001,"manifest-list":"/m",)"
     R"("summary":{"operation":"append"})",
     "Snapshot already exists for id: 7"},
    {R"("snapshot-id":9,"timestamp-ms":4000000000001,"manifest-list":"/m",)"
     R"("summary":{"operation":"append"})",
     "sequence-number"},
    {R"("snapshot-id":9,"sequence-number":-3,"timestamp-ms":4000000000001,)"
     R"("manifest-list":"/m","summary":{"operation":"append"})",
     "sequence-number"},
    {R"("snapshot-id":9,"parent-snapshot-id":8,"sequence-number":2,)"
     R"("timestamp-ms":4000000000001,"manifest-list":"/m","summary":{"operation":"append"})",
     "sequence number 2", 409},
};

class BadCommits : public ChecklistTest {
 protected:
  void SetUp() override {
    ChecklistTest::SetUp();
    create_rich_table("t");
    before_ = state();
    loaded_ = get(table("t")).body;
  }
  void expect_refused(const HttpResponse& answer, int status, std::string_view says,
                      std::string_view text) {
    SCOPED_TRACE(text);
    EXPECT_THAT(answer, HasStatus(status));
    if (answer.status < 400) return;
    expect_error_body(answer);
    EXPECT_THAT(answer.error_message(), HasSubstr(std::string(says)));
    const auto after = state();
    EXPECT_EQ(after, before_);
    before_ = after;  // said once
  }
  void expect_untouched() { EXPECT_EQ(get(table("t")).body, loaded_); }

 private:
  CatalogState before_;
  std::string loaded_;
};

TEST_F(BadCommits, WhoseBodiesAreNoneAreRefused) {
  for (const auto& [text, says, status] : kBadBodies) {
    expect_refused(post_text(table("t"), std::string(text)), status, says, text);
  }
  expect_untouched();
}

TEST_F(BadCommits, WhoseUpdatesAreWrongAreRefusedAndNothingOfThemIsDone) {
  for (const auto& [text, says, status] : kBadUpdates) {
    expect_refused(update(table("t"), std::string(text)), status, says, text);
  }
  expect_untouched();
}

TEST_F(BadCommits, WhoseSnapshotsAreWrongAreRefused) {
  for (const auto& [members, says, status] : kBadSnapshots) {
    const auto answer = update(
        table("t"), R"({"action":"add-snapshot","snapshot":{)" + std::string(members) + "}}");
    expect_refused(answer, status, says, members);
  }
  expect_untouched();
}

TEST_F(BadCommits, AreNestedDeeperThanAnyRequest) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string body = R"({"requirements":[],"updates":[],"x":)" + deep + "}";
  expect_refused(post_text(table("t"), body), 400, "", "a deep member");
  expect_untouched();
}

TEST_F(BadCommits, ToFormat3NeedRowIds) {
  create_rich_table("t3", 3);
  const auto before = state();
  const std::string head = R"({"action":"add-snapshot","snapshot":)";
  const auto none = update(table("t3"), head + snapshot_text(9, 3) + "}");
  EXPECT_THAT(none, IsError(400, "IllegalArgumentException", HasSubstr("first-row-id")));
  const auto no_rows =
      update(table("t3"), head + snapshot_text(9, 3, R"(,"first-row-id":20)") + "}");
  EXPECT_THAT(no_rows, IsError(400, "IllegalArgumentException", HasSubstr("added-rows")));
  const auto behind =
      update(table("t3"), head + snapshot_text(9, 3, R"(,"first-row-id":19,"added-rows":1)") + "}");
  EXPECT_THAT(behind, IsError(409, "CommitFailedException", HasSubstr("first-row-id")));
  const auto negative = update(
      table("t3"), head + snapshot_text(9, 3, R"(,"first-row-id":20,"added-rows":-1)") + "}");
  EXPECT_THAT(negative, HasStatus(400));
  EXPECT_EQ(state(), before);
}

// Libraries that go by the specification cannot read a table with such a snapshot.
TEST_F(BadCommits, ToFormat2NeedASummaryWithAnOperation) {
  const std::string head =
      R"({"action":"add-snapshot","snapshot":{"snapshot-id":9,"sequence-number":3,)"
      R"("timestamp-ms":4000000000001,"manifest-list":"/m")";
  for (const auto& summary :
       {"", R"(,"summary":null)", R"(,"summary":{})", R"(,"summary":{"operation":null})"}) {
    const auto refused = update(table("t"), head + summary + "}}");
    expect_refused(refused, 400, "summary", summary);
  }
}

TEST_F(BadCommits, ToAFormatThatAnUpgradeOfTheSameCommitBringsAreFine) {
  EXPECT_THAT(update(table("t"), R"({"action":"upgrade-format-version","format-version":3},
      {"action":"add-encryption-key","encryption-key":{"key-id":"k",
        "encrypted-key-metadata":"bQ=="}},
      {"action":"add-schema","schema":{"type":"struct","fields":[
        {"id":9,"name":"va","required":false,"type":"variant"}]}})"),
              HasStatus(200));
}

}  // namespace
}  // namespace iceblink::test
