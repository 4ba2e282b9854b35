// Transactions over five tables, under a reader process that polls snapshots: every one of them
// shows all tables of a transaction changed, or none.

#include "tests/process/reader_process.h"
#include "tests/process/rest_requests.h"

namespace iceblink::test {
namespace {

constexpr int kTables = 5;
constexpr int kTransactions = 100;

TableIdent table_number(int i) {
  return {{"ns"}, "t" + std::to_string(i)};
}

/// The number that a metadata file's name begins with: how often its table was committed to.
std::string version_of(std::string_view location) {
  const auto name = location.substr(location.rfind('/') + 1);
  return std::string(name.substr(0, name.find('-')));
}

/// Empty, or how the tables of one snapshot differ.
std::string judge_mixture(Catalog& catalog, ReaderPage& page) {
  auto snapshot = catalog.snapshot();
  if (!snapshot) return "snapshot: " + snapshot.error().message();
  std::string first;
  for (int i = 0; i < kTables; ++i) {
    const auto found = snapshot->find(table_number(i));
    if (!found) return "lookup: " + found.error().message();
    if (!*found) return "a table is missing";
    const std::string version = version_of((*found)->metadata_location());
    if (i == 0) first = version;
    if (version != first) return "a mixture: " + first + " and " + version;
  }
  page.generation.store(snapshot->generation(), std::memory_order_release);
  page.lookups.fetch_add(1, std::memory_order_release);
  return {};
}

std::string transaction_of(const std::string& round, int wrong_uuid_at = -1) {
  std::string changes;
  for (int i = 0; i < kTables; ++i) {
    if (i > 0) changes += ',';
    std::string change = set_property("round", round);
    if (i == wrong_uuid_at) {
      change = R"({"requirements":[{"type":"assert-table-uuid",)"
               R"("uuid":"00000000-0000-4000-8000-000000000000"}],"updates":[]})";
    }
    change.insert(1,
                  R"("identifier":{"namespace":["ns"],"name":")" + table_number(i).name + R"("},)");
    changes += change;
  }
  return R"({"table-changes":[)" + changes + "]}";
}

class Transactions : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(world_.start()) << world_.daemon().errors();
    auto client = connect(world_);
    ASSERT_EQ(client.post("/v1/namespaces", R"({"namespace":["ns"]})").status, 200);
    for (int i = 0; i < kTables; ++i) {
      const auto made = client.post("/v1/namespaces/ns/tables", creation_of(table_number(i).name));
      ASSERT_EQ(made.status, 200) << made.body;
    }
  }
  World world_;
};

TEST_F(Transactions, AreSeenWholeByAnotherProcessOrNotAtAll) {
  ReaderProcess reader(world_.runtime_dir(), judge_mixture);
  ASSERT_TRUE(reader.wait_for_lookups(10)) << reader.finish();
  auto client = connect(world_);
  const Catalog catalog = world_.open();
  for (int round = 0; round < kTransactions; ++round) {
    const std::uint64_t before = catalog.generation().value();
    const auto done = client.post("/v1/transactions/commit", transaction_of(std::to_string(round)));
    ASSERT_EQ(done.status, 204) << done.body;
    EXPECT_EQ(catalog.generation().value(), before + 1);
    if (round % 10 != 0) continue;
    const auto refused = client.post("/v1/transactions/commit", transaction_of("refused", 2));
    ASSERT_EQ(refused.status, 409);
    EXPECT_EQ(refused.error_type(), "CommitFailedException");
  }
  ASSERT_TRUE(reader.wait_for_lookups(100)) << reader.finish();
  EXPECT_EQ(reader.finish(), "");
  const auto last = catalog.resolve_location(table_number(0));
  ASSERT_OK(last);
  EXPECT_EQ(version_of(*last), "00100");
}

TEST_F(Transactions, ThatAreRefusedChangeNothingAndLeaveNoFile) {
  auto client = connect(world_);
  const Catalog catalog = world_.open();
  const std::uint64_t before = catalog.generation().value();
  const std::size_t files = count_files(world_.data_dir() + "/warehouse");
  EXPECT_EQ(files, static_cast<std::size_t>(kTables));
  const auto refused = client.post("/v1/transactions/commit", transaction_of("refused", 2));
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(refused.error_message().find("Requirement failed: UUID does not match"),
            std::string::npos)
      << refused.error_message();
  EXPECT_EQ(count_files(world_.data_dir() + "/warehouse"), files);
  EXPECT_EQ(catalog.generation().value(), before);
  for (int i = 0; i < kTables; ++i) {
    const auto location = catalog.resolve_location(table_number(i));
    ASSERT_OK(location);
    EXPECT_EQ(version_of(*location), "00000");
  }
}

}  // namespace
}  // namespace iceblink::test
