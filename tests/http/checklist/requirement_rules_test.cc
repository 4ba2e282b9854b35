// Requirements (specification, "TableRequirement", "ViewRequirement"): what holds, what does not,
// and the words that clients look for.
#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

struct FailedRequirement {
  std::string_view text;
  std::string_view says;
};

/// Of the table of create_rich_table.
constexpr std::string_view kThatHold[] = {
    R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":8})",
    R"({"type":"assert-ref-snapshot-id","ref":"v1","snapshot-id":7})",
    R"({"type":"assert-ref-snapshot-id","ref":"none","snapshot-id":null})",
    R"({"type":"assert-last-assigned-field-id","last-assigned-field-id":5})",
    R"({"type":"assert-current-schema-id","current-schema-id":1})",
    R"({"type":"assert-last-assigned-partition-id","last-assigned-partition-id":1000})",
    R"({"type":"assert-default-spec-id","default-spec-id":1})",
    R"({"type":"assert-default-sort-order-id","default-sort-order-id":1})",
    R"({"x-new":{},"type":"assert-current-schema-id","current-schema-id":1,"more":[]})",
};

constexpr FailedRequirement kThatFail[] = {
    {R"({"type":"assert-create"})", "Requirement failed: table already exists"},
    {R"({"type":"assert-table-uuid","uuid":"11111111-1111-4111-8111-111111111111"})",
     "Requirement failed: UUID does not match: expected 11111111-1111-4111-8111-111111111111 != "},
    {R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null})",
     "Requirement failed: branch main was created concurrently"},
    {R"({"type":"assert-ref-snapshot-id","ref":"v1","snapshot-id":null})",
     "Requirement failed: tag v1 was created concurrently"},
    {R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":7})",
     "Requirement failed: branch main has changed: expected id 7 != 8"},
    {R"({"type":"assert-ref-snapshot-id","ref":"none","snapshot-id":7})",
     "Requirement failed: branch or tag none is missing, expected 7"},
    {R"({"type":"assert-ref-snapshot-id","ref":"none","snapshot-id":-1})",
     "Requirement failed: branch or tag none is missing, expected -1"},
    {R"({"type":"assert-last-assigned-field-id","last-assigned-field-id":4})",
     "Requirement failed: last assigned field id changed: expected id 4 != 5"},
    {R"({"type":"assert-current-schema-id","current-schema-id":0})",
     "Requirement failed: current schema changed: expected id 0 != 1"},
    {R"({"type":"assert-last-assigned-partition-id","last-assigned-partition-id":999})",
     "Requirement failed: last assigned partition id changed: expected id 999 != 1000"},
    {R"({"type":"assert-default-spec-id","default-spec-id":0})",
     "Requirement failed: default partition spec changed: expected id 0 != 1"},
    {R"({"type":"assert-default-sort-order-id","default-sort-order-id":0})",
     "Requirement failed: default sort order changed: expected id 0 != 1"},
};

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c;
  return text;
}

class RequirementRules : public ChecklistTest {
 protected:
  void SetUp() override {
    ChecklistTest::SetUp();
    create_rich_table("t");
  }
};

TEST_F(RequirementRules, ThatHoldChangeNothing) {
  const auto before = state();
  std::string all;
  for (const auto text : kThatHold) {
    EXPECT_THAT(require(table("t"), std::string(text)), HasStatus(200)) << text;
    all += (all.empty() ? "" : ",") + std::string(text);
  }
  EXPECT_THAT(require(table("t"), all), HasStatus(200));
  EXPECT_EQ(state(), before);
}

TEST_F(RequirementRules, ThatFailSayWhich) {
  const auto before = state();
  for (const auto& [text, says] : kThatFail) {
    const auto refused = require(table("t"), std::string(text));
    EXPECT_THAT(refused,
                IsError(409, "CommitFailedException", ::testing::StartsWith(std::string(says))))
        << text;
  }
  EXPECT_EQ(state(), before);
}

TEST_F(RequirementRules, FailWhereOneOfManyDoes) {
  const auto before = state();
  for (const auto& [text, says] : kThatFail) {
    const std::string mixed =
        std::string(kThatHold[0]) + "," + std::string(text) + "," + std::string(kThatHold[1]);
    EXPECT_THAT(require(table("t"), mixed), HasStatus(409)) << text;
  }
  EXPECT_EQ(state(), before);
}

TEST_F(RequirementRules, CompareUuidsWhateverTheirCase) {
  const auto uuid = text_of(load("t").at("table-uuid"));
  for (const auto& text : {uuid, upper(uuid)}) {
    EXPECT_THAT(require(table("t"), R"({"type":"assert-table-uuid","uuid":")" + text + "\"}"),
                HasStatus(200))
        << text;
  }
}

TEST_F(RequirementRules, AreCheckedBeforeAnyUpdate) {
  // Both would hold after the updates, or before them.
  const std::string body =
      R"({"requirements":[{"type":"assert-current-schema-id","current-schema-id":1}],
        "updates":[{"action":"set-current-schema","schema-id":0}]})";
  EXPECT_THAT(post_text(table("t"), body), HasStatus(200));
  EXPECT_THAT(post_text(table("t"), body), HasStatus(409));
  const std::string wrong =
      R"({"requirements":[{"type":"assert-current-schema-id","current-schema-id":9}],
        "updates":[{"action":"set-default-spec","spec-id":99}]})";
  EXPECT_THAT(post_text(table("t"), wrong), HasStatus(409));
}

TEST_F(RequirementRules, FailForATableThatIsNotThere) {
  EXPECT_THAT(require(table("none"), std::string(kThatHold[0])),
              IsError(404, "NoSuchTableException", HasSubstr("ns.none")));
}

TEST_F(RequirementRules, OfViewsAreTheirUuid) {
  create_rich_view("v");
  const auto uuid = text_of(load_view("v").at("view-uuid"));
  const auto before = state();
  for (const auto& text : {uuid, upper(uuid)}) {
    EXPECT_THAT(require(view("v"), R"({"type":"assert-view-uuid","uuid":")" + text + "\"}"),
                HasStatus(200));
  }
  EXPECT_THAT(
      require(view("v"),
              R"({"type":"assert-view-uuid","uuid":"11111111-1111-4111-8111-111111111111"})"),
      IsError(409, "CommitFailedException", HasSubstr("UUID does not match")));
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace iceblink::test
