// Every allocation of a client's call fails, one after another: the call says so, throws nothing,
// and the catalog goes on.

#include <cstdio>
#include <functional>

#include "tests/faults/allocation_faults.h"
#include "tests/faults/commit_scenarios.h"
#include "tests/process/rest_requests.h"
#include "tests/process/world.h"

namespace iceblink::test {
namespace {

constexpr std::uint64_t kAllocationsMax = 20'000;
// What the calls take is made before anything fails.
const Namespace kNamespace{"ns"};
const Namespace kRoot;
const TableIdent kTable{{"ns"}, "r"};

Status status_of(const auto& result) {
  return result.ok() ? Status(Ok{}) : Status(result.error());
}

class ClientMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(world_.start()) << world_.daemon().errors();
    for (const HttpRequest& request : preparations()) {
      ASSERT_LT(connect(world_).request(request).status, 300);
    }
  }

  using Call = std::function<Status(Catalog&)>;
  using IsRight = std::function<bool(ErrorKind)>;

  /// A catalog of its own for each failure, so that nothing comes from a cache.
  void fail_each_allocation(
      const char* name, const Call& call,
      const IsRight& is_right = [](ErrorKind kind) { return kind == ErrorKind::kOutOfMemory; }) {
    SCOPED_TRACE(name);
    std::uint64_t number = 1;
    for (;; ++number) {
      Catalog catalog = world_.open();
      fail_allocation(number);
      const Status status = call(catalog);
      const bool has_failed = end_allocation_faults();
      if (!has_failed) break;
      if (!status) {
        EXPECT_TRUE(is_right(status.error().kind()))
            << "allocation " << number << ": " << to_string(status.error().kind()) << ": "
            << status.error().message();
      }
      const Status again = call(catalog);
      EXPECT_TRUE(again.ok()) << "after allocation " << number << ": " << again.error().message();
      ASSERT_LT(number, kAllocationsMax);
      if (HasFailure() && number > 200) return;
    }
    std::printf("%s: %llu allocations failed in turn\n", name,
                static_cast<unsigned long long>(number - 1));
    EXPECT_GT(number, 1u) << "the call allocates nothing";
  }

  World world_;
};

TEST_F(ClientMemory, IsReportedByLookups) {
  fail_each_allocation("open",
                       [this](Catalog&) { return status_of(Catalog::open(world_.runtime_dir())); });
  fail_each_allocation("resolve_location",
                       [](Catalog& c) { return status_of(c.resolve_location(kTable)); });
  fail_each_allocation("list_tables",
                       [](Catalog& c) { return status_of(c.list_tables(kNamespace)); });
  fail_each_allocation("list_namespaces",
                       [](Catalog& c) { return status_of(c.list_namespaces(kRoot)); });
  fail_each_allocation("snapshot", [](Catalog& c) -> Status {
    const auto snapshot = c.snapshot();
    if (!snapshot) return snapshot.error();
    const auto found = snapshot->find(kTable);
    if (!found) return found.error();
    return status_of(snapshot->list_tables(kNamespace));
  });
  const std::vector<TableIdent> idents{kTable, {{"ns"}, "x"}, {{"ns"}, "y"}};
  fail_each_allocation("resolve_locations",
                       [&](Catalog& c) { return status_of(c.resolve_locations(idents)); });
}

TEST_F(ClientMemory, IsReportedByChangesAndWaiting) {
  const ChangeToken now = world_.open().change_token().value();
  ChangeToken before = now;
  before.generation = 2;
  fail_each_allocation("changes_since",
                       [&](Catalog& c) { return status_of(c.changes_since(before)); });
  Catalog catalog = world_.open();
  fail_allocation(1);
  const auto waited = catalog.wait_for_change(1, std::chrono::milliseconds(0));
  end_allocation_faults();
  EXPECT_OK(waited);
}

TEST_F(ClientMemory, IsReportedByMetadata) {
  fail_each_allocation("resolve_metadata",
                       [](Catalog& c) { return status_of(c.resolve_metadata(kTable)); });
  fail_each_allocation("load_table", [](Catalog& c) { return status_of(c.load_table(kTable)); });
  const std::vector<TableIdent> idents{kTable, {{"ns"}, "x"}, {{"ns"}, "y"}};
  fail_each_allocation("load_tables", [&](Catalog& c) -> Status {
    const auto tables = c.load_tables(idents);
    if (!tables) return tables.error();
    for (const auto& table : *tables) {
      if (!table) return table.error();
    }
    return Ok{};
  });
}

// Once it is sent, nobody knows.
TEST_F(ClientMemory, IsReportedByWrites) {
  RegisterOptions options;
  options.verification = RegisterOptions::Verification::kUnverified;
  options.if_exists = RegisterOptions::IfExists::kOverwrite;
  Batch batch;
  batch.register_table({{"ns"}, "b1"}, "/none/1-b.json", options);
  batch.register_table({{"ns"}, "b2"}, "/none/1-b.json", options);
  fail_each_allocation(
      "apply", [&](Catalog& c) { return status_of(c.apply(batch)); },
      [](ErrorKind kind) {
        return kind == ErrorKind::kOutOfMemory || kind == ErrorKind::kStateUnknown;
      });
}

}  // namespace
}  // namespace iceblink::test
