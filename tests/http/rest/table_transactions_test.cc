// transactions/commit: several tables, all or none.
#include <atomic>
#include <thread>

#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class TableTransactions : public RestTest {
 protected:
  void SetUp() override {
    RestTest::SetUp();
    for (const char* name : {"t1", "t2", "t3"}) bases_.push_back(create_table(name));
  }
  /// An append to each of the tables.
  Array appends(std::int64_t snapshot_id) {
    Array changes;
    for (int i = 0; i < 3; ++i) {
      changes.push_back(append(bases_[static_cast<std::size_t>(i)], snapshot_id)
                            .body_for("ns", "t" + std::to_string(i + 1)));
    }
    return changes;
  }
  void expect_unchanged() {
    EXPECT_EQ(load("t1"), bases_[0]);
    EXPECT_EQ(load("t2"), bases_[1]);
    EXPECT_EQ(load("t3"), bases_[2]);
    EXPECT_EQ(files().size(), 3u);
  }

  std::vector<Value> bases_;
};

TEST_F(TableTransactions, ChangeOneTable) {
  const Array one{
      joined(append(bases_[0], 1),
             schema_change(bases_[0], with_column(current_schema(bases_[0]), 1, 3, "new_col")))
          .body_for("ns", "t1")};
  EXPECT_THAT(transact(one), HasStatus(204));
  const auto changed = load("t1");
  EXPECT_EQ(changed.at("current-snapshot-id").as_int64(), 1);
  EXPECT_EQ(changed.at("current-schema-id").as_int64(), 1);
  EXPECT_EQ(changed.at("metadata-log").as_array().size(), 1u);
  EXPECT_EQ(load("t2"), bases_[1]);
}

TEST_F(TableTransactions, ChangeAllTablesInOneGeneration) {
  const auto before = daemon().generation();
  const auto done = transact(appends(1));
  EXPECT_THAT(done, HasStatus(204));
  EXPECT_EQ(done.body, "");
  EXPECT_EQ(daemon().generation(), before + 1);
  for (const char* name : {"t1", "t2", "t3"}) {
    EXPECT_EQ(load(name).at("current-snapshot-id").as_int64(), 1) << name;
  }
}

TEST_F(TableTransactions, ChangeNothingWhereOneTableConflicts) {
  for (int conflicting = 0; conflicting < 3; ++conflicting) {
    auto changes = appends(1);
    Array& requirements =
        changes.at(static_cast<std::size_t>(conflicting)).as_object()["requirements"].as_array();
    requirements.push_back(assert_ref("main", 99));
    const auto before = daemon().generation();
    EXPECT_THAT(transact(changes),
                IsError(409, "CommitFailedException", HasSubstr("Requirement failed: ")));
    EXPECT_EQ(daemon().generation(), before);
    expect_unchanged();
  }
}

TEST_F(TableTransactions, ChangeNothingWhereOneTableIsMissing) {
  auto changes = appends(1);
  changes.push_back(append(bases_[0], 1).body_for("ns", "t4"));
  EXPECT_THAT(transact(changes),
              IsError(404, "NoSuchTableException", HasSubstr("Table does not exist: ns.t4")));
  expect_unchanged();
}

TEST_F(TableTransactions, ChangeNothingWhereOneUpdateIsWrong) {
  auto changes = appends(1);
  changes.at(2).as_object()["updates"].as_array().push_back(set_current_schema(77));
  EXPECT_THAT(transact(changes), IsError(400, "IllegalArgumentException", Not(IsEmpty())));
  expect_unchanged();
}

TEST_F(TableTransactions, CreateTablesBesideChangingThem) {
  const auto staged = stage(named("fresh"));
  const Array changes{creation(staged).body_for("ns", "fresh"),
                      append(bases_[0], 1).body_for("ns", "t1")};
  EXPECT_THAT(transact(changes), HasStatus(204));
  EXPECT_EQ(load("fresh").at("table-uuid"), staged.at("table-uuid"));
  EXPECT_EQ(load("t1").at("current-snapshot-id").as_int64(), 1);
  EXPECT_THAT(transact(changes), HasStatus(409));
}

TEST_F(TableTransactions, AreRefusedWithoutIdentifiersOrWithOneTwice) {
  const Array twice{append(bases_[0], 1).body_for("ns", "t1"),
                    append(bases_[0], 2).body_for("ns", "t1")};
  EXPECT_THAT(transact(twice), IsError(400, "IllegalArgumentException", Not(IsEmpty())));
  EXPECT_THAT(transact({append(bases_[0], 1).body()}),
              IsError(400, "IllegalArgumentException", HasSubstr("identifier")));
  EXPECT_THAT(transact({}), HasStatus(400));
  expect_unchanged();
}

TEST_F(TableTransactions, ShowNoReaderHalfOfThem) {
  std::atomic<bool> is_done{false};
  std::atomic<int> halves{0};
  std::thread reader([&] {
    // t1 is read before t3: what t1 has, t3 must have.
    while (!is_done.load(std::memory_order_acquire)) {
      const auto first = load("t1").at("current-snapshot-id").as_int64();
      const auto last = load("t3").at("current-snapshot-id").as_int64();
      if (last < first) halves.fetch_add(1, std::memory_order_relaxed);
    }
  });
  for (int id = 1; id <= 20; ++id) {
    EXPECT_THAT(transact(appends(id)), HasStatus(204));
    auto conflicting = appends(id + 100);
    EXPECT_THAT(transact(conflicting), HasStatus(409));
    for (int i = 0; i < 3; ++i)
      bases_[static_cast<std::size_t>(i)] = load("t" + std::to_string(i + 1));
  }
  is_done.store(true, std::memory_order_release);
  reader.join();
  EXPECT_EQ(halves.load(std::memory_order_relaxed), 0);
}

}  // namespace
}  // namespace iceblink::test
