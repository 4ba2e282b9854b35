#include "daemon/apply.h"

#include <gmock/gmock.h>

#include "shm/layout.h"
#include "tests/daemon/catalog_fixture.h"

namespace iceblink::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const TableIdent kTable{{"ns"}, "tbl"};

class ApplyTest : public ::testing::Test {
 protected:
  ApplyTest() { done({CreateNamespace{{"ns"}, {{"owner", "me"}}}}); }

  ApplyOutcome run(const std::vector<Operation>& operations) { return commit(*store_, operations); }
  void done(const std::vector<Operation>& operations) { ASSERT_EQ(said(run(operations)), "done"); }
  void refused(const std::vector<Operation>& operations, Refusal refusal, const std::string& text) {
    const auto generation = read(*store_)->generation();
    const auto outcome = run(operations);
    EXPECT_EQ(refusal_of(outcome), refusal);
    EXPECT_EQ(said(outcome), text);
    EXPECT_EQ(read(*store_)->generation(), generation);
  }
  void make_view(const TableIdent& ident) {
    auto writing = std::move(store_->write()).value();
    ASSERT_TRUE(writing->put_view(ident, row_at("/view")));
    ASSERT_TRUE(writing->commit({{0, shm::RecordKind::kView, encode(ident), row_at("/view")}}));
  }
  Properties properties() const { return read(*store_)->find_namespace({"ns"})->value(); }

  test::ScratchDir dir_;
  std::unique_ptr<Store> store_ = open_store(dir_ / "data");
};

TEST_F(ApplyTest, CreatesANamespaceBelowOneThatExistsOnly) {
  done({CreateNamespace{{"ns", "below"}, {}}});
  refused({CreateNamespace{{"non", "existing", "x"}, {}}}, Refusal::kNoSuchNamespace,
          "0 not_found: Namespace does not exist: non.existing");
  refused({CreateNamespace{{"ns"}, {}}}, Refusal::kAlreadyExists,
          "0 already_exists: Namespace already exists: ns");
}

TEST_F(ApplyTest, RefusesNamesThatNoKeyCanHold) {
  for (const Namespace& levels :
       {Namespace{}, Namespace{""}, Namespace{"a\x1f"}, Namespace{"ns", std::string(600, 'x')}}) {
    const auto outcome = run({CreateNamespace{levels, {}}});
    ASSERT_TRUE(std::holds_alternative<Refused>(outcome));
    EXPECT_EQ(std::get<Refused>(outcome).error.kind(), ErrorKind::kInvalidArgument);
  }
  EXPECT_THAT(said(run({registering({{"ns"}, ""}, "/t")})), HasSubstr("invalid_argument"));
}

TEST_F(ApplyTest, DropsANamespaceThatIsEmptyOnly) {
  const std::string not_empty = "0 not_empty: Namespace ns is not empty.";
  done({registering(kTable, "/t")});
  refused({DropNamespace{{"ns"}}}, Refusal::kNamespaceNotEmpty, not_empty);
  done({Drop{kTable}, CreateNamespace{{"ns", "below"}, {}}});
  refused({DropNamespace{{"ns"}}}, Refusal::kNamespaceNotEmpty, not_empty);
  done({DropNamespace{{"ns", "below"}}});
  make_view({{"ns"}, "view"});
  refused({DropNamespace{{"ns"}}}, Refusal::kNamespaceNotEmpty, not_empty);
  refused({DropNamespace{{"x"}}}, Refusal::kNoSuchNamespace,
          "0 not_found: Namespace does not exist: x");
}

TEST_F(ApplyTest, AnotherNamespaceWithTheSameBeginningIsNoChild) {
  done({CreateNamespace{{"ns2"}, {}}, CreateNamespace{{"ns\x01"}, {}},
        registering({{"ns2"}, "t"}, "/t")});
  done({DropNamespace{{"ns"}}});
}

TEST_F(ApplyTest, UpdatesPropertiesAndSaysWhatWasMissing) {
  const auto outcome = run({UpdateProperties{{"ns"}, {"owner", "none"}, {{"a", "1"}, {"b", "2"}}}});
  const auto& change = *std::get<Applied>(outcome).properties;
  EXPECT_THAT(change.removed, ElementsAre("owner"));
  EXPECT_THAT(change.missing, ElementsAre("none"));
  EXPECT_THAT(change.updated, ElementsAre("a", "b"));
  EXPECT_EQ(properties(), (Properties{{"a", "1"}, {"b", "2"}}));
  refused({UpdateProperties{{"newdb"}, {}, {}}}, Refusal::kNoSuchNamespace,
          "0 not_found: Namespace does not exist: newdb");
  refused({UpdateProperties{{"ns"}, {"a"}, {{"a", "2"}}}}, Refusal::kUnprocessable,
          "0 invalid_argument: A property key cannot be both set and removed: a");
}

TEST_F(ApplyTest, AnUpdateThatChangesNothingIsNoChange) {
  for (const UpdateProperties& update :
       {UpdateProperties{{"ns"}, {}, {}}, UpdateProperties{{"ns"}, {"none"}, {{"owner", "me"}}}}) {
    const auto outcome = run({update});
    EXPECT_THAT(std::get<Applied>(outcome).changes, IsEmpty());
    EXPECT_TRUE(std::get<Applied>(outcome).properties);
  }
  EXPECT_EQ(read(*store_)->generation(), 2u);
}

TEST_F(ApplyTest, RegistersATableOnce) {
  done({registering(kTable, "/1")});
  refused({registering(kTable, "/2")}, Refusal::kAlreadyExists,
          "0 already_exists: Table already exists: ns.tbl");
  EXPECT_EQ(location_of(*store_, kTable), "/1");
  refused({registering({{"non-existing"}, "t"}, "/t")}, Refusal::kNoSuchNamespace,
          "0 not_found: Namespace does not exist: non-existing");
}

TEST_F(ApplyTest, AViewTakesTheNameOfATable) {
  make_view({{"ns"}, "view"});
  refused({overwriting({{"ns"}, "view"}, "/t")}, Refusal::kAlreadyExists,
          "0 already_exists: View with same name already exists: ns.view");
}

TEST_F(ApplyTest, OverwritesOrCreates) {
  done({overwriting(kTable, "/1")});
  done({overwriting(kTable, "/2")});
  EXPECT_EQ(location_of(*store_, kTable), "/2");
}

TEST_F(ApplyTest, ExpectIsACompareAndSwap) {
  refused({overwriting(kTable, "/2", "/1")}, Refusal::kNoSuchTable,
          "0 not_found: Table does not exist: ns.tbl");
  done({registering(kTable, "/1")});
  done({overwriting(kTable, "/2", "/1")});
  refused({overwriting(kTable, "/3", "/1")}, Refusal::kCommitFailed,
          "0 conflict: Cannot commit ns.tbl: expected metadata location /1, but it is /2");
  auto without_overwrite = registering(kTable, "/3");
  without_overwrite.expect = "/2";
  done({without_overwrite});
  EXPECT_EQ(location_of(*store_, kTable), "/3");
}

TEST_F(ApplyTest, TakesLocationsAsLongAsARecordCanHold) {
  done({registering(kTable, std::string(shm::kLocationBytesMax, 'x'))});
  const auto outcome =
      run({registering({{"ns"}, "u"}, std::string(shm::kLocationBytesMax + 1, 'x'))});
  EXPECT_THAT(said(outcome), HasSubstr("has 65536 bytes, it must have 1 to 65535"));
  EXPECT_THAT(said(run({registering({{"ns"}, "u"}, "")})), HasSubstr("has 0 bytes"));
}

TEST_F(ApplyTest, DropsATable) {
  done({registering(kTable, "/1")});
  done({Drop{kTable}});
  refused({Drop{kTable}}, Refusal::kNoSuchTable, "0 not_found: Table does not exist: ns.tbl");
  refused({Drop{{{"non-existing"}, "tbl"}}}, Refusal::kNoSuchTable,
          "0 not_found: Table does not exist: non-existing.tbl");
}

TEST_F(ApplyTest, RenamesAndKeepsTheRowButItsGeneration) {
  done({CreateNamespace{{"to"}, {}}, registering(kTable, "/1")});
  const TableIdent to{{"to"}, "t"};
  const auto outcome = run({Rename{kTable, to}});
  ASSERT_EQ(said(outcome), "done");
  const auto& changes = std::get<Applied>(outcome).changes;
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].kind, shm::RecordKind::kTombstone);
  EXPECT_EQ(changes[0].key, encode(kTable));
  EXPECT_EQ(changes[1].key, encode(to));
  EXPECT_EQ(changes[1].row.generation, 4u);
  const TableRow row = read(*store_)->find_table(to)->value();
  EXPECT_EQ(row.location, "/1");
  EXPECT_EQ(row.table_uuid, row_at("").table_uuid);
  EXPECT_EQ(row.metadata_fingerprint, row_at("").metadata_fingerprint);
  EXPECT_EQ(row.generation, 4u);
  EXPECT_EQ(location_of(*store_, kTable), "(none)");
}

TEST_F(ApplyTest, RefusesARenameWithTheWordsClientsKnow) {
  const TableIdent other{{"ns"}, "other"};
  refused({Rename{kTable, other}}, Refusal::kNoSuchTable,
          "0 not_found: Table does not exist: ns.tbl");
  done({registering(kTable, "/1"), registering(other, "/2")});
  refused({Rename{kTable, {{"non_existing"}, "t"}}}, Refusal::kNoSuchNamespace,
          "0 not_found: Namespace does not exist: non_existing");
  refused({Rename{kTable, other}}, Refusal::kAlreadyExists,
          "0 already_exists: Cannot rename ns.tbl to ns.other. Table already exists");
  refused({Rename{kTable, kTable}}, Refusal::kAlreadyExists,
          "0 already_exists: Cannot rename ns.tbl to ns.tbl. Table already exists");
  make_view({{"ns"}, "view"});
  refused({Rename{kTable, {{"ns"}, "view"}}}, Refusal::kAlreadyExists,
          "0 already_exists: Cannot rename ns.tbl to ns.view. View already exists");
  EXPECT_EQ(location_of(*store_, kTable), "/1");
  EXPECT_EQ(location_of(*store_, other), "/2");
}

Register registering_view(TableIdent ident, std::string location) {
  Register operation = registering(std::move(ident), std::move(location));
  operation.kind = ObjectKind::kView;
  return operation;
}

TEST_F(ApplyTest, KeepsViewsBesideTablesUnderOneSetOfNames) {
  const TableIdent view{{"ns"}, "v"};
  done({registering(kTable, "/1"), registering_view(view, "/v")});
  EXPECT_EQ(read(*store_)->find_view(view)->value().location, "/v");
  refused({registering_view(view, "/w")}, Refusal::kAlreadyExists,
          "0 already_exists: View already exists: ns.v");
  refused({registering_view(kTable, "/w")}, Refusal::kAlreadyExists,
          "0 already_exists: Table with same name already exists: ns.tbl");
  refused({registering(view, "/w")}, Refusal::kAlreadyExists,
          "0 already_exists: View with same name already exists: ns.v");
  refused({Drop{view}}, Refusal::kNoSuchTable, "0 not_found: Table does not exist: ns.v");
  refused({Drop{kTable, ObjectKind::kView}}, Refusal::kNoSuchView,
          "0 not_found: View does not exist: ns.tbl");
  refused({Rename{view, {{"ns"}, "w"}}}, Refusal::kNoSuchTable,
          "0 not_found: Table does not exist: ns.v");
  refused({Rename{view, kTable, ObjectKind::kView}}, Refusal::kAlreadyExists,
          "0 already_exists: Cannot rename ns.v to ns.tbl. Table already exists");
  refused({Rename{{{"ns"}, "none"}, view, ObjectKind::kView}}, Refusal::kNoSuchView,
          "0 not_found: View does not exist: ns.none");
}

TEST_F(ApplyTest, RenamesAndDropsViewsAndSaysWhatWasDropped) {
  const TableIdent view{{"ns"}, "v"};
  const TableIdent other{{"ns"}, "w"};
  done({registering_view(view, "/v")});
  const auto renamed = run({Rename{view, other, ObjectKind::kView}});
  ASSERT_EQ(said(renamed), "done");
  const auto& changes = std::get<Applied>(renamed).changes;
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].kind, shm::RecordKind::kTombstone);
  EXPECT_EQ(changes[0].dropped_kind, ObjectKind::kView);
  EXPECT_EQ(changes[1].kind, shm::RecordKind::kView);
  refused({DropNamespace{{"ns"}}}, Refusal::kNamespaceNotEmpty,
          "0 not_empty: Namespace ns is not empty.");
  done({Drop{other, ObjectKind::kView}});
  const auto log = read(*store_)->changes_since(1, 100);
  ASSERT_TRUE(log);
  EXPECT_EQ(log->back().dropped_kind, ObjectKind::kView);
  EXPECT_EQ(log->front().dropped_kind, ObjectKind::kTable);
}

TEST_F(ApplyTest, SwapsAPointerOnlyFromTheRowItIsBasedOn) {
  done({registering(kTable, "/1")});
  const TableRow base = read(*store_)->find_table(kTable)->value();
  Register next = registering(kTable, "/2");
  next.based_on = base;
  done({next});
  refused({next}, Refusal::kStaleBase,
          "0 conflict: Cannot commit: Table ns.tbl has changed meanwhile");
  // Back to the same file: still another version.
  Register back = overwriting(kTable, "/1");
  done({back});
  refused({next}, Refusal::kStaleBase,
          "0 conflict: Cannot commit: Table ns.tbl has changed meanwhile");
  refused({Drop{kTable, ObjectKind::kTable, base}}, Refusal::kStaleBase,
          "0 conflict: Cannot commit: Table ns.tbl has changed meanwhile");
  done({Drop{kTable, ObjectKind::kTable, read(*store_)->find_table(kTable)->value()}});
  refused({next}, Refusal::kStaleBase,
          "0 conflict: Cannot commit: Table ns.tbl has changed meanwhile");
}

TEST_F(ApplyTest, ChecksAPointerWithoutMovingIt) {
  done({registering(kTable, "/1")});
  const TableRow row = read(*store_)->find_table(kTable)->value();
  const auto checked = run({CheckPointer{kTable, row}});
  ASSERT_EQ(said(checked), "done");
  EXPECT_TRUE(std::get<Applied>(checked).changes.empty());
  done({overwriting(kTable, "/2")});
  refused({registering({{"ns"}, "other"}, "/o"), CheckPointer{kTable, row}}, Refusal::kStaleBase,
          "1 conflict: Cannot commit: Table ns.tbl has changed meanwhile");
  EXPECT_EQ(location_of(*store_, {{"ns"}, "other"}), "(none)");
  refused({CheckPointer{kTable, row, ObjectKind::kView}}, Refusal::kStaleBase,
          "0 conflict: Cannot commit: View ns.tbl has changed meanwhile");
}

TEST_F(ApplyTest, AListIsAllOrNothing) {
  done({registering(kTable, "/1")});
  refused({CreateNamespace{{"new"}, {}}, registering({{"new"}, "t"}, "/t"),
           overwriting(kTable, "/2"), UpdateProperties{{"ns"}, {"owner"}, {}}, Drop{kTable},
           DropNamespace{{"ns"}}, Drop{{{"new"}, "missing"}}},
          Refusal::kNoSuchTable, "6 not_found: Table does not exist: new.missing");
  EXPECT_EQ(location_of(*store_, kTable), "/1");
  EXPECT_FALSE(read(*store_)->find_namespace({"new"})->has_value());
  EXPECT_EQ(properties(), (Properties{{"owner", "me"}}));
}

TEST_F(ApplyTest, ARefusedListLeavesNothingToTheNextOfTheSameTransaction) {
  auto writing = std::move(store_->write()).value();
  const std::vector<Operation> bad{registering(kTable, "/bad"), Drop{{{"ns"}, "missing"}}};
  const std::vector<Operation> good{registering(kTable, "/good")};
  EXPECT_EQ(said(*apply_operations(*writing, bad)),
            "1 not_found: Table does not exist: ns.missing");
  const auto outcome = apply_operations(*writing, good);
  ASSERT_EQ(said(*outcome), "done");
  ASSERT_TRUE(writing->commit(std::get<Applied>(*outcome).changes));
  EXPECT_EQ(location_of(*store_, kTable), "/good");
}

TEST_F(ApplyTest, TheOperationsOfAListSeeEachOther) {
  done({CreateNamespace{{"a"}, {}}, registering({{"a"}, "t"}, "/1"),
        overwriting({{"a"}, "t"}, "/2", "/1"), Rename{{{"a"}, "t"}, {{"a"}, "u"}},
        Drop{{{"a"}, "u"}}, DropNamespace{{"a"}}});
  EXPECT_FALSE(read(*store_)->find_namespace({"a"})->has_value());
}

TEST_F(ApplyTest, AnEmptyListChangesNothing) {
  const auto outcome = run({});
  EXPECT_THAT(std::get<Applied>(outcome).changes, IsEmpty());
}

TEST_F(ApplyTest, StoresNoLocationThatIsNotOneLineOfUtf8) {
  for (const std::string& location : {std::string("/a\nb"), std::string("/\0", 2),
                                      std::string("/\x7f"), std::string("/\xff"), std::string()}) {
    const auto outcome = run({registering(kTable, location)});
    EXPECT_THAT(said(outcome), HasSubstr("invalid_argument: The metadata location of ns.tbl"));
  }
  done({registering(kTable, "/\xC3\xA9 b")});
}

TEST_F(ApplyTest, KeepsANamespacesPropertiesWithinBounds) {
  const std::string most(kPropertiesBytesMax - 6,
                         'v');  // next to "owner", "me" and "k" is 2 too many
  const std::string text =
      "0 invalid_argument: The properties of namespace ns would have 1048578 bytes, "
      "they may have 1048576";
  refused({UpdateProperties{{"ns"}, {}, {{"k", most}}}}, Refusal::kNone, text);
  done({UpdateProperties{{"ns"}, {"owner"}, {{"k", most}}}});
  const auto outcome = run({CreateNamespace{{"x"}, {{"key", std::string(1 << 20, 'v')}}}});
  EXPECT_THAT(said(outcome), HasSubstr("1048579 bytes"));
}

}  // namespace
}  // namespace iceblink::daemon
