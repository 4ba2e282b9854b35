// POST /v1/transactions/commit: all or nothing (specification, "commitTransaction").
#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class TransactionRules : public ChecklistTest {
 protected:
  void SetUp() override {
    ChecklistTest::SetUp();
    for (const auto& name : {"a", "b", "c"}) create_table(name);
  }
  static Object set(std::string_view name, std::string_view value) {
    return Commit{.requirements = {}, .updates = {set_properties({{"p", value}})}}.body_for("ns",
                                                                                            name);
  }
  HttpResponse transact_text(const std::string& body) {
    return send({.verb = "POST", .target = "/v1/transactions/commit", .body = body});
  }
  void expect_refused(const HttpResponse& answer, int status, const std::string& says) {
    EXPECT_THAT(answer, HasStatus(status));
    expect_error_body(answer);
    EXPECT_THAT(answer.error_message(), HasSubstr(says));
  }
};

TEST_F(TransactionRules, AreOneGenerationAndOneFileATable) {
  const auto before = state();
  const auto answer = transact({set("a", "1"), set("b", "1"), set("c", "1")});
  EXPECT_THAT(answer, HasStatus(204));
  EXPECT_EQ(answer.body, "");
  for (const auto& name : {"a", "b", "c"}) EXPECT_EQ(property(load(name), "p"), "1");
  EXPECT_EQ(state().generation, before.generation + 1);
  EXPECT_EQ(state().files.size(), before.files.size() + 3);
}

TEST_F(TransactionRules, LeaveEverythingWhereOneChangeFails) {
  const auto before = state();
  for (const std::size_t place : {0, 1, 2}) {
    Array changes{set("a", "1"), set("b", "1"), set("c", "1")};
    changes[place].as_object()["requirements"] = Array{assert_current_schema_id(99)};
    const auto refused = transact(changes);
    expect_refused(refused, 409, "Requirement failed: current schema changed");
    EXPECT_EQ(refused.error_type(), "CommitFailedException");
    EXPECT_THAT(refused.error_message(), HasSubstr("ns." + std::string(1, "abc"[place])));
    changes[place].as_object()["requirements"] = Array{};
    changes[place].as_object()["updates"] = Array{set_default_spec(99)};
    expect_refused(transact(changes), 400, "99");
    changes[place] = set("none", "1");
    expect_refused(transact(changes), 404, "Table does not exist: ns.none");
  }
  EXPECT_EQ(state(), before);
}

TEST_F(TransactionRules, RefuseATableTwice) {
  const auto before = state();
  expect_refused(transact({set("a", "1"), set("b", "1"), set("a", "2")}), 400, "a");
  EXPECT_EQ(state(), before);
}

TEST_F(TransactionRules, RefuseBodiesThatAreNone) {
  const auto before = state();
  expect_refused(transact_text(""), 400, "empty");
  expect_refused(transact_text("[]"), 400, "object");
  expect_refused(transact_text("{}"), 400, "table-changes");
  expect_refused(transact_text(R"({"table-changes":null})"), 400, "table-changes");
  expect_refused(transact_text(R"({"table-changes":{}})"), 400, "table-changes");
  expect_refused(transact_text(R"({"table-changes":[7]})"), 400, "table-changes[0]");
  expect_refused(transact_text(R"({"table-changes":[{"requirements":[],"updates":[]}]})"), 400,
                 "table-changes[0].identifier");
  expect_refused(transact_text(R"({"table-changes":[{"identifier":{"namespace":[],"name":"a"},
                    "requirements":[],"updates":[]}]})"),
                 400, "identifier");
  expect_refused(transact_text(R"({"table-changes":[{"identifier":{"namespace":["ns"],"name":"a"},
                    "requirements":[{"type":"assert-luck"}],"updates":[]}]})"),
                 400, "assert-luck");
  expect_refused(transact_text(R"({"table-changes":[{"identifier":{"namespace":["ns"],"name":"a"},
                    "requirements":[],"updates":[{"action":"win"}]}]})"),
                 400, "win");
  EXPECT_EQ(state(), before);
}

TEST_F(TransactionRules, CreateTablesAmongOthers) {
  const auto staged = stage(named("new"));
  const auto before = state();
  EXPECT_THAT(transact({set("a", "1"), creation(staged).body_for("ns", "new")}), HasStatus(204));
  EXPECT_EQ(state().generation, before.generation + 1);
  EXPECT_EQ(load("new").at("table-uuid"), staged.at("table-uuid"));
  EXPECT_EQ(property(load("a"), "p"), "1");
  const auto after = state();
  expect_refused(transact({set("b", "1"), creation(staged).body_for("ns", "new")}), 409,
                 "Requirement failed: table already exists");
  EXPECT_EQ(state(), after);
}

TEST_F(TransactionRules, CreateNothingWhereALaterChangeFails) {
  const auto staged = stage(named("new"));
  const auto before = state();
  expect_refused(transact({creation(staged).body_for("ns", "new"), set("none", "1")}), 404, "none");
  EXPECT_EQ(state(), before);
  EXPECT_THAT(head(table("new")), HasStatus(404));
}

TEST_F(TransactionRules, OfNothingAreDone) {
  const auto before = state();
  const Object nothing = Commit{}.body_for("ns", "a");
  EXPECT_THAT(transact({nothing, Commit{}.body_for("ns", "b")}), HasStatus(204));
  EXPECT_EQ(state(), before);
  EXPECT_THAT(transact({nothing, set("b", "1")}), HasStatus(204));
  EXPECT_EQ(state().generation, before.generation + 1);
  EXPECT_EQ(state().files.size(), before.files.size() + 1);
}

TEST_F(TransactionRules, AreOfTablesAlone) {
  create_rich_view("v");
  const auto before = state();
  expect_refused(transact({set("a", "1"), set("v", "1")}), 404, "Table does not exist: ns.v");
  EXPECT_EQ(state(), before);
}

TEST_F(TransactionRules, SpanNamespaces) {
  create_namespace(R"(["other"])");
  create_namespace(R"(["other","deep"])");
  EXPECT_THAT(post("/other%1Fdeep/tables", named("a")), HasStatus(200));
  Object change = set("a", "1");
  Object deep = set("a", "2");
  deep["identifier"] = Object{{"namespace", Array{"other", "deep"}}, {"name", "a"}};
  EXPECT_THAT(transact({change, deep}), HasStatus(204));
  EXPECT_EQ(property(load("a"), "p"), "1");
  EXPECT_EQ(property(metadata_at("/other%1Fdeep/tables/a"), "p"), "2");
}

}  // namespace
}  // namespace iceblink::test
