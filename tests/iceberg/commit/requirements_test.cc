// What a commit asserts of its base, in the sentences that clients know.
#include "iceberg/commit/requirements.h"

#include "tests/iceberg/commit/commit_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::StartsWith;

/// "met", or the error.
std::string check(const Document& base, std::vector<Requirement> requirements) {
  const auto table = load(base);
  if (!table) return table.error().message();
  const Status status = check_requirements(table->get(), requirements);
  return status ? "met"
                : std::string(to_string(status.error().kind())) + ": " + status.error().message();
}
std::string check_new(std::vector<Requirement> requirements) {
  const Status status = check_requirements(nullptr, requirements);
  return status ? "met"
                : std::string(to_string(status.error().kind())) + ": " + status.error().message();
}
std::string failed(const std::string& what) {
  return conflict("Requirement failed: " + what);
}

TEST(Requirements, NoneAreMet) {
  EXPECT_EQ(check(v2(), {}), "met");
}

TEST(Requirements, ATableThatIsThereCannotBeCreated) {
  EXPECT_EQ(check(v2(), {AssertCreate{}}), failed("table already exists"));
}

TEST(Requirements, UuidsAreComparedWithoutRegardToCase) {
  EXPECT_EQ(check(v2(), {AssertTableUuid{kUuid}}), "met");
  EXPECT_EQ(check(v2(), {AssertTableUuid{"9C12D441-03FE-4693-9A96-A0705DDF69C1"}}), "met");
  EXPECT_EQ(check(v2().with("table-uuid", R"("9C12D441-03FE-4693-9A96-A0705DDF69C1")"),
                  {AssertTableUuid{kUuid}}),
            "met");
  const std::string other = "9c12d441-03fe-4693-9a96-a0705ddf69c2";
  EXPECT_EQ(check(v2(), {AssertTableUuid{other}}),
            failed("UUID does not match: expected " + other + " != " + kUuid));
}

TEST(Requirements, Case5ATableWithoutAUuidIsNoneThatIsMeant) {
  EXPECT_EQ(check(v1(), {AssertTableUuid{kUuid}}),
            failed("UUID does not match: expected " + kUuid + " != null"));
  EXPECT_EQ(check(v1(), {AssertTableUuid{""}}), failed("UUID does not match: expected  != null"));
  EXPECT_EQ(check(v2().with("table-uuid", R"("no uuid")"), {AssertTableUuid{"no uuid"}}),
            failed("UUID does not match: expected no uuid != null"));
}

TEST(Requirements, ARefIsWhereItWasOrThereIsNone) {
  const Document base =
      with_history(v2(), {7, 8})
          .with(
              "refs",
              R"({"main":{"snapshot-id":8,"type":"branch"},"v1":{"snapshot-id":7,"type":"tag"}})");
  EXPECT_EQ(check(base, {AssertRefSnapshotId{"main", 8}, AssertRefSnapshotId{"v1", 7},
                         AssertRefSnapshotId{"b", std::nullopt}}),
            "met");
  EXPECT_EQ(check(base, {AssertRefSnapshotId{"main", std::nullopt}}),
            failed("branch main was created concurrently"));
  EXPECT_EQ(check(base, {AssertRefSnapshotId{"v1", std::nullopt}}),
            failed("tag v1 was created concurrently"));
  EXPECT_EQ(check(base, {AssertRefSnapshotId{"main", 7}}),
            failed("branch main has changed: expected id 7 != 8"));
  EXPECT_EQ(check(base, {AssertRefSnapshotId{"v1", 8}}),
            failed("tag v1 has changed: expected id 8 != 7"));
  EXPECT_EQ(check(base, {AssertRefSnapshotId{"b", 8}}),
            failed("branch or tag b is missing, expected 8"));
}

TEST(Requirements, MinusOneIsAnIdAndNotNull) {
  EXPECT_EQ(check(v2(), {AssertRefSnapshotId{"main", -1}}),
            failed("branch or tag main is missing, expected -1"));
  EXPECT_EQ(check(v2(), {AssertRefSnapshotId{"main", std::nullopt}}), "met");
}

TEST(Requirements, LastIdsAndCurrentOnesAreThose) {
  EXPECT_EQ(check(v2(), {AssertLastAssignedFieldId{1}, AssertCurrentSchemaId{0},
                         AssertLastAssignedPartitionId{999}, AssertDefaultSpecId{0},
                         AssertDefaultSortOrderId{0}}),
            "met");
  EXPECT_EQ(check(v2(), {AssertLastAssignedFieldId{2}}),
            failed("last assigned field id changed: expected id 2 != 1"));
  EXPECT_EQ(check(v2(), {AssertCurrentSchemaId{3}}),
            failed("current schema changed: expected id 3 != 0"));
  EXPECT_EQ(check(v2(), {AssertLastAssignedPartitionId{1000}}),
            failed("last assigned partition id changed: expected id 1000 != 999"));
  EXPECT_EQ(check(v2(), {AssertDefaultSpecId{4}}),
            failed("default partition spec changed: expected id 4 != 0"));
  EXPECT_EQ(check(v2(), {AssertDefaultSortOrderId{5}}),
            failed("default sort order changed: expected id 5 != 0"));
}

TEST(Requirements, TheFirstThatFailsIsTold) {
  EXPECT_EQ(check(v2(), {AssertCurrentSchemaId{0}, AssertDefaultSpecId{4}, AssertCreate{}}),
            failed("default partition spec changed: expected id 4 != 0"));
}

TEST(Requirements, ThoseOfViewsAreNoneOfATable) {
  EXPECT_THAT(check(v2(), {AssertViewUuid{kUuid}}), StartsWith("invalid_argument: assert-view"));
}

TEST(Requirements, OfATableThatIsNotThereItsAbsenceIsAllThatCanBeAsserted) {
  EXPECT_EQ(check_new({AssertCreate{}}), "met");
  EXPECT_EQ(check_new({AssertTableUuid{kUuid}, AssertCreate{},
                       AssertRefSnapshotId{"main", std::nullopt}}),
            invalid("Invalid create requirements: [assert-table-uuid, assert-ref-snapshot-id]"));
  EXPECT_EQ(check_new({AssertLastAssignedFieldId{}, AssertCurrentSchemaId{},
                       AssertLastAssignedPartitionId{}, AssertDefaultSpecId{},
                       AssertDefaultSortOrderId{}, AssertViewUuid{}}),
            invalid("Invalid create requirements: [assert-last-assigned-field-id, "
                    "assert-current-schema-id, assert-last-assigned-partition-id, "
                    "assert-default-spec-id, assert-default-sort-order-id, assert-view-uuid]"));
  EXPECT_EQ(check_new({}), invalid("Invalid create requirements: []"));
}

TEST(Requirements, AreCheckedBeforeAnyUpdate) {
  const auto outcome =
      commit(v2(), {UpgradeFormatVersion{9}, SetCurrentSchema{kLastAdded}}, {AssertCreate{}});
  EXPECT_EQ(outcome.error, failed("table already exists"));
  EXPECT_EQ(commit(nullptr, {UpgradeFormatVersion{9}}).error,
            invalid("Invalid create requirements: []"));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
