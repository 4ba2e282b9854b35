// Updates of the table itself: uuid, format, location, properties, keys; and what a commit adds by
// itself: times, the metadata-log, a uuid where one is missing.
#include "tests/iceberg/commit/commit_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

const Property kOwner{"owner", "me"};
const auto kSetOwner = set_properties({kOwner});

// ---- Bases

TEST(TableBuilder, RefusesABaseOfFormatThreeWithoutANextRowId) {
  EXPECT_EQ(commit(v3().without("next-row-id"), {kSetOwner}).error,
            invalid("Cannot commit to this table: it is of format 3 and has no next-row-id"));
}

TEST(TableBuilder, RefusesABaseWhoseUuidIsNone) {
  for (const Document& base : {v1(), v2(), v3()}) {
    EXPECT_EQ(commit(base.with("table-uuid", R"("no uuid")"), {kSetOwner}).error,
              invalid("Cannot commit to this table: its table-uuid 'no uuid' is no UUID"));
  }
}

TEST(TableBuilder, ALazyFaultOfTheBaseIsItsError) {
  const auto base = with_snapshot(v2(), snapshot("7").with("summary", "[]"));
  EXPECT_EQ(commit(base, {kSetOwner}).error,
            "corrupt: snapshots[0].summary: expected an object, found an array");
}

// ---- What has changed, and what a commit adds

TEST(TableBuilder, WritesNothingWhereNothingHasChanged) {
  const Document base = with_history(v3(), {7})
                            .with("properties", R"({"owner":"me"})")
                            .with("location", R"("s3://b/t/")")
                            .with("last-sequence-number", "9");
  const auto outcome = commit(
      base, {AssignUuid{kUuid}, UpgradeFormatVersion{3}, SetCurrentSchema{0}, SetDefaultSpec{0},
             SetDefaultSortOrder{0}, SetLocation{"s3://b/t/"}, kSetOwner, RemoveProperties{},
             set_ref("main", 7), RemoveSnapshotRef{"none"}, remove_snapshots({1, 2}),
             RemoveStatistics{7}, RemovePartitionStatistics{7}, RemoveEncryptionKey{"k"},
             RemoveSchemas{ids({5})}, RemovePartitionSpecs{ids({5})},
             AddSchema{schema_of({column(1, "x")})}, add_spec({}), add_order({})});
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.made.is_unchanged());
  EXPECT_EQ(outcome.made.format_version, 3);
  EXPECT_EQ(outcome.made.location, "s3://b/t/");
  EXPECT_TRUE(commit(base, {}).made.is_unchanged());
}

TEST(TableBuilder, KeepsWhatNoUpdateIsAbout) {
  const Document base = with_history(v3(), {7, 8}).with("next-row-id", "12");
  const auto before = load(base);
  const auto outcome = commit(base, {kSetOwner});
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->table_uuid, (*before)->table_uuid);
  EXPECT_EQ(outcome->next_row_id, 12);
  EXPECT_EQ(outcome->last_sequence_number, 9);
  EXPECT_THAT(snapshot_ids(*outcome), ElementsAre(7, 8));
  EXPECT_THAT(logged_ids(*outcome), ElementsAre(7, 8));
  EXPECT_EQ(outcome->current_snapshot_id, 8);
  EXPECT_THAT(properties_of(*outcome), ElementsAre(Pair("owner", "me")));
}

TEST(TableBuilder, LastUpdatedIsNowAndNeverGoesBack) {
  EXPECT_EQ(commit(v2(), {kSetOwner})->last_updated_ms, kNowMs);
  CommitContext early = context();
  early.now_ms = 5;
  EXPECT_EQ(commit(v2(), {kSetOwner}, {}, early)->last_updated_ms, 1'700'000'000'000);
  const Document ahead =
      v2().with("metadata-log", R"([{"timestamp-ms":1700000030000,"metadata-file":"f"}])");
  EXPECT_EQ(commit(ahead, {add_snapshot(7, 10, {}, kNowMs + 9)})->last_updated_ms, kNowMs + 9);
}

TEST(TableBuilder, TheBaseGoesToTheMetadataLog) {
  const auto outcome =
      commit(v2().with("metadata-log", R"([{"timestamp-ms":1690000000000,"metadata-file":"f"}])"),
             {kSetOwner});
  EXPECT_THAT(metadata_files(*outcome), ElementsAre("f", "s3://b/t/metadata/v7.metadata.json"));
  EXPECT_EQ((*outcome->metadata_log())[1].timestamp_ms, 1'700'000'000'000);
  EXPECT_THAT(outcome.made.files_to_delete, IsEmpty());
}

Document with_log(int count, const std::string& properties) {
  std::string log;
  for (int i = 0; i < count; ++i) {
    log += (i == 0 ? "" : ",") + std::string(R"({"timestamp-ms":)") +
           std::to_string(1'690'000'000'000 + i) + R"(,"metadata-file":"f)" + std::to_string(i) +
           "\"}";
  }
  return v2().with("metadata-log", "[" + log + "]").with("properties", "{" + properties + "}");
}

TEST(TableBuilder, TheMetadataLogIsTrimmedAndWhatFallsOutIsDeletedWhereThatIsWanted) {
  const std::string two = R"("write.metadata.previous-versions-max":"2")";
  const std::string deleting = R"(,"write.metadata.delete-after-commit.enabled":"True")";
  const auto kept = commit(with_log(3, two), {kSetOwner});
  EXPECT_THAT(metadata_files(*kept), ElementsAre("f2", "s3://b/t/metadata/v7.metadata.json"));
  EXPECT_THAT(kept.made.files_to_delete, IsEmpty());
  const auto deleted = commit(with_log(3, two + deleting), {kSetOwner});
  EXPECT_THAT(metadata_files(*deleted), ElementsAre("f2", "s3://b/t/metadata/v7.metadata.json"));
  EXPECT_THAT(deleted.made.files_to_delete, ElementsAre("f0", "f1"));
}

TEST(TableBuilder, AFileThatIsStillInTheLogIsNotDeleted) {
  CommitContext back = context();
  back.base_location = "f0";
  const auto outcome = commit(with_log(2, R"("write.metadata.previous-versions-max":"1",)"
                                          R"("write.metadata.delete-after-commit.enabled":"true")"),
                              {kSetOwner}, {}, back);
  EXPECT_THAT(metadata_files(*outcome), ElementsAre("f0"));
  EXPECT_THAT(outcome.made.files_to_delete, ElementsAre("f1"));
}

TEST(TableBuilder, TheMetadataLogHasAHundredEntriesOrAtLeastOne) {
  EXPECT_EQ(metadata_files(*commit(with_log(150, ""), {kSetOwner})).size(), 100);
  const std::string name = R"("write.metadata.previous-versions-max":)";
  EXPECT_EQ(metadata_files(*commit(with_log(150, name + R"("many")"), {kSetOwner})).size(), 100);
  for (const char* none : {R"("0")", R"("-5")"}) {
    EXPECT_THAT(metadata_files(*commit(with_log(3, name + none), {kSetOwner})),
                ElementsAre("s3://b/t/metadata/v7.metadata.json"));
  }
}

TEST(TableBuilder, PropertiesOfTheCommitItselfCountForItsFile) {
  const auto outcome =
      commit(with_log(3, ""), {set_properties({{"write.metadata.previous-versions-max", "1"},
                                               {"write.metadata.path", "s3://m/x//"},
                                               {"write.metadata.compression-codec", "GZIP"}})});
  EXPECT_EQ(metadata_files(*outcome).size(), 1);
  EXPECT_EQ(outcome.made.metadata_path, "s3://m/x");
  EXPECT_TRUE(outcome.made.is_gzip);
  const auto plain = commit(v2(), {set_properties({{"write.metadata.compression-codec", "none"}})});
  EXPECT_EQ(plain.made.metadata_path, std::nullopt);
  EXPECT_FALSE(plain.made.is_gzip);
  EXPECT_EQ(plain.made.location, "s3://b/t");
  EXPECT_EQ(plain.made.format_version, 2);
  EXPECT_EQ(format_uuid(plain.made.uuid), kUuid);
}

// ---- assign-uuid

TEST(TableBuilder, AUuidIsAssignedOnce) {
  EXPECT_EQ(commit(v2(), {AssignUuid{"9C12D441-03FE-4693-9A96-A0705DDF69C1"}, kSetOwner})
                ->table_uuid_text,
            kUuid);
  EXPECT_EQ(commit(v2(), {AssignUuid{"9c12d441-03fe-4693-9a96-a0705ddf69c2"}}).error,
            invalid("Cannot reassign uuid: the table has " + kUuid));
  const auto assigned = commit(v1(), {AssignUuid{kUuid}});
  EXPECT_EQ(assigned->table_uuid_text, kUuid);
  EXPECT_EQ(format_uuid(assigned.made.uuid), kUuid);
}

TEST(TableBuilder, RefusesAUuidThatIsNone) {
  for (const char* none : {"", "x", "00000000-0000-0000-0000-000000000000"}) {
    EXPECT_THAT(commit(v1(), {AssignUuid{none}}).error,
                HasSubstr("invalid_argument: Cannot assign the uuid '"));
  }
}

// ---- upgrade-format-version

TEST(TableBuilder, FormatsAreUpgradedAndNeverDowngraded) {
  const auto two = commit(with_history(v1(), {7}), {UpgradeFormatVersion{2}});
  ASSERT_NE(two.table, nullptr) << two.error;
  EXPECT_EQ(two->format_version, 2);
  EXPECT_EQ(two->last_sequence_number, 0);
  EXPECT_EQ(format_uuid(*two->table_uuid), "11111111-2222-3333-4444-555555555555");
  const auto three = commit(v1(), {UpgradeFormatVersion{2}, UpgradeFormatVersion{3}});
  EXPECT_EQ(three->format_version, 3);
  EXPECT_EQ(three->next_row_id, 0);
  EXPECT_EQ(three.made.format_version, 3);
  EXPECT_EQ(commit(v1(), {UpgradeFormatVersion{3}})->next_row_id, 0);
  EXPECT_EQ(commit(v2(), {UpgradeFormatVersion{1}}).error,
            invalid("Cannot downgrade v2 table to v1"));
  EXPECT_EQ(commit(v2(), {UpgradeFormatVersion{-1}}).error,
            invalid("Cannot downgrade v2 table to v-1"));
  EXPECT_EQ(commit(v2(), {UpgradeFormatVersion{4}}).error,
            invalid("Cannot upgrade table to unsupported format version: v4 (supported: v3)"));
}

TEST(TableBuilder, ATableOfFormatOneMayGoOnWithoutAUuid) {
  const auto outcome = commit(v1(), {kSetOwner});
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_EQ(outcome->table_uuid, std::nullopt);
}

// ---- set-location, properties

TEST(TableBuilder, Case23ALocationHasNoSlashAtItsEnd) {
  EXPECT_EQ(commit(v2(), {SetLocation{"s3://c/u//"}})->location, "s3://c/u");
  EXPECT_EQ(commit(v2(), {SetLocation{"s3://c//u"}})->location, "s3://c//u");
  EXPECT_TRUE(commit(v2(), {SetLocation{"s3://b/t/"}}).made.is_unchanged());
  for (const char* none : {"", "/", "//"}) {
    EXPECT_EQ(commit(v2(), {SetLocation{none}}).error, invalid("Cannot set location: it is empty"));
  }
}

TEST(TableBuilder, PropertiesAreSetAndRemovedInOrder) {
  const Document base = v2().with("properties", R"({"a":"1","b":"2","c":"3"})");
  const std::string_view removed[] = {"a", "none"};
  const auto outcome = commit(base, {set_properties({{"b", "4"}, {"d", "5"}}),
                                     RemoveProperties{removed}, set_properties({{"a", "6"}})});
  EXPECT_THAT(properties_of(*outcome),
              ElementsAre(Pair("b", "4"), Pair("c", "3"), Pair("d", "5"), Pair("a", "6")));
}

TEST(TableBuilder, ReservedPropertiesAreNotStored) {
  const auto outcome = commit(v2(), {set_properties({{"uuid", "x"},
                                                     {"snapshot-count", "1"},
                                                     {"current-snapshot-summary", "x"},
                                                     {"current-snapshot-id", "1"},
                                                     {"current-snapshot-timestamp-ms", "1"},
                                                     {"current-schema", "x"},
                                                     {"default-partition-spec", "x"},
                                                     {"default-sort-order", "x"}})});
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.made.is_unchanged());
}

TEST(TableBuilder, FormatVersionAsAPropertyUpgrades) {
  const auto outcome = commit(v2(), {set_properties({{"format-version", "3"}, kOwner})});
  EXPECT_EQ(outcome->format_version, 3);
  EXPECT_THAT(properties_of(*outcome), ElementsAre(Pair("owner", "me")));
  EXPECT_EQ(commit(v2(), {set_properties({{"format-version", "1"}})}).error,
            invalid("Cannot downgrade v2 table to v1"));
  EXPECT_EQ(commit(v2(), {set_properties({{"format-version", "two"}})}).error,
            invalid("the property format-version is 'two', which is no integer"));
}

TEST(TableBuilder, RefusesToSetWhatItWouldHaveToActUponAndCannot) {
  const Property bad{"write.metadata.previous-versions-max", "many"};
  EXPECT_EQ(
      commit(v2(), {set_properties({bad})}).error,
      invalid("the property write.metadata.previous-versions-max is 'many', which is no integer"));
  EXPECT_EQ(commit(with_log(1, R"("write.metadata.previous-versions-max":"many")"),
                   {set_properties({bad, kOwner})})
                .error,
            "")
      << "it has been there before";
}

// ---- Encryption keys

AddEncryptionKey add_key(std::string_view id, std::string_view metadata) {
  EncryptionKey key;
  key.key_id = id;
  key.encrypted_key_metadata = metadata;
  return {key};
}

TEST(TableBuilder, EncryptionKeysAreOfFormatThree) {
  EXPECT_THAT(commit(v2(), {add_key("k", "a2V5")}).error,
              HasSubstr("encryption keys are not supported until v3"));
  EXPECT_THAT(commit(v2(), {RemoveEncryptionKey{"k"}}).error,
              HasSubstr("encryption keys are not supported until v3"));
  const auto outcome = commit(v2(), {UpgradeFormatVersion{3}, add_key("k", "a2V5")});
  ASSERT_EQ(outcome->encryption_keys.size(), 1);
  EXPECT_EQ(outcome->encryption_keys[0].key_id, "k");
}

TEST(TableBuilder, AnEncryptionKeyIsTheSameWithItsPropertiesInAnyOrder) {
  const Document base = v3().with("encryption-keys", R"([{"key-id":"k","encrypted-key-metadata":)"
                                                     R"("a2V5","properties":{"a":"1","b":"2"}}])");
  const std::vector<Property> same = {{"b", "2"}, {"a", "1"}};
  AddEncryptionKey update = add_key("k", "a2V5");
  update.encryption_key.properties = same;
  EXPECT_TRUE(commit(base, {update}).made.is_unchanged());
  update.encryption_key.properties = std::span(same).first(1);
  EXPECT_EQ(commit(base, {update}).error,
            invalid("Cannot add encryption key 'k': the table has another key of this id"));
}

TEST(TableBuilder, AnEncryptionKeyIsAddedOnceAndNeverReplaced) {
  const Document base =
      v3().with("encryption-keys", R"([{"key-id":"k","encrypted-key-metadata":"a2V5"}])");
  EXPECT_TRUE(commit(base, {add_key("k", "a2V5")}).made.is_unchanged());
  EXPECT_EQ(commit(base, {add_key("k", "b3Ro")}).error,
            invalid("Cannot add encryption key 'k': the table has another key of this id"));
  const auto outcome = commit(base, {RemoveEncryptionKey{"k"}, add_key("k", "b3Ro")});
  EXPECT_EQ(outcome->encryption_keys[0].encrypted_key_metadata, "b3Ro");
  EXPECT_THAT(commit(base, {RemoveEncryptionKey{"k"}}).made.json, Not(HasSubstr("encryption")));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
