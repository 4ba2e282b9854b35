// Every allocation of a client's call fails, one after another: the call says so, throws nothing,
// and the catalog goes on.

#include <functional>

#include "tests/faults/client_under_faults.h"
#include "tests/faults/failing_allocations.h"

namespace iceblink::test {
namespace {

class ClientMemory : public ClientUnderFaults {
 protected:
  using Call = std::function<Status(Catalog&)>;
  void fail_each(const char* name, const Call& call) {
    fail_each_allocation(
        name, [this] { return world_.open(); }, call);
  }
  void fail_each_write(const char* name, const Call& call) {
    fail_each_allocation(
        name, [this] { return world_.open(); }, call,
        // Once it is sent, nobody knows.
        [](ErrorKind kind) {
          return kind == ErrorKind::kOutOfMemory || kind == ErrorKind::kStateUnknown;
        });
  }
};

TEST_F(ClientMemory, IsReportedByLookups) {
  fail_each("open", [this](Catalog&) { return status_of(Catalog::open(world_.runtime_dir())); });
  fail_each("resolve_location", [](Catalog& c) { return status_of(c.resolve_location(kTable)); });
  const TableIdent long_name{{"ns"}, std::string(400, 'n')};
  fail_each("prepare", [&](Catalog& c) { return status_of(c.prepare(long_name)); });
  fail_each("list_tables", [](Catalog& c) { return status_of(c.list_tables(kNamespace)); });
  fail_each("list_namespaces", [](Catalog& c) { return status_of(c.list_namespaces(kRoot)); });
  fail_each("info", [](Catalog& c) { return status_of(c.info()); });
  const std::vector<TableIdent> idents{kTable, {{"ns"}, "x"}, {{"ns"}, "y"}};
  fail_each("resolve_locations",
            [&](Catalog& c) { return status_of(c.resolve_locations(idents)); });
  fail_each("snapshot", [&](Catalog& c) -> Status {
    const auto snapshot = c.snapshot();
    if (!snapshot) return snapshot.error();
    const auto found = snapshot->find(kTable);
    if (!found) return found.error();
    std::optional<TableView> views[3];
    ICEBLINK_RETURN_IF_ERROR(snapshot->find_many(idents, views));
    return status_of(snapshot->list_tables(kNamespace));
  });
}

// Which it asks the daemon about; where it cannot, the segment's answer stands.
TEST_F(ClientMemory, OfAQuestionLeavesTheSegmentsAnswer) {
  CatalogOptions options;
  options.ask_daemon = AskDaemon::kAlways;
  options.asks_per_second_max = 1'000'000;
  const TableIdent absent{{"ns"}, "absent"};
  std::uint64_t told_count = 0;
  std::uint64_t number = 1;
  for (bool has_failed = true; has_failed; ++number) {
    Catalog catalog = world_.open(options);
    fail_allocation(number);
    const auto location = catalog.resolve_location(absent);
    has_failed = end_allocation_faults();
    ASSERT_FALSE(location.ok());
    if (location.error().kind() == ErrorKind::kOutOfMemory) {
      ++told_count;
    } else {
      EXPECT_EQ(location.error().kind(), ErrorKind::kNotFound) << location.error().message();
    }
    EXPECT_EQ(catalog.resolve_location(absent).error().kind(), ErrorKind::kNotFound);
    EXPECT_EQ(catalog.stats().disagreement_count, 0u);
  }
  std::printf("ask: %llu allocations failed in turn, %llu told\n",
              static_cast<unsigned long long>(number - 2),
              static_cast<unsigned long long>(told_count));
  EXPECT_GT(number, 10u);
}

TEST_F(ClientMemory, IsReportedByChanges) {
  ChangeToken before = world_.open().change_token().value();
  before.generation = 2;
  fail_each("changes_since", [&](Catalog& c) { return status_of(c.changes_since(before)); });
}

TEST_F(ClientMemory, IsReportedByMetadata) {
  fail_each("resolve_metadata", [](Catalog& c) { return status_of(c.resolve_metadata(kTable)); });
  fail_each("resolve_metadata, compressed",
            [](Catalog& c) { return status_of(c.resolve_metadata(kPlanned)); });
  fail_each("load_table", [](Catalog& c) { return status_of(c.load_table(kTable)); });
  const std::vector<TableIdent> idents{kTable, {{"ns"}, "x"}, {{"ns"}, "y"}};
  fail_each("load_tables", [&](Catalog& c) -> Status {
    const auto tables = c.load_tables(idents);
    if (!tables) return tables.error();
    for (const auto& table : *tables) {
      if (!table) return table.error();
    }
    return Ok{};
  });
}

TEST_F(ClientMemory, IsReportedByWrites) {
  RegisterOptions options;
  options.verification = RegisterOptions::Verification::kUnverified;
  options.if_exists = RegisterOptions::IfExists::kOverwrite;
  Batch batch;
  batch.register_table({{"ns"}, "b1"}, "/none/1-b.json", options);
  batch.register_table({{"ns"}, "b2"}, "/none/1-b.json", options);
  fail_each_write("apply", [&](Catalog& c) { return status_of(c.apply(batch)); });
  const TableIdent ident{{"ns"}, "b1"};
  const std::string location = "/none/2-b.json";
  fail_each_write("register_table", [&](Catalog& c) {
    return status_of(c.register_table(ident, location, options));
  });
  fail_each_write("move_table", [&](Catalog& c) {
    return status_of(c.move_table(ident, location, location, options.verification));
  });
  const Properties properties{{"owner", "somebody whose name is long"}};
  fail_each_write("update_properties", [&](Catalog& c) {
    return status_of(c.update_properties(kNamespace, {}, properties));
  });
  fail_each("namespace_properties",
            [](Catalog& c) { return status_of(c.namespace_properties(kNamespace)); });
}

// What it says beside its numbers is left out.
TEST_F(ClientMemory, LeavesStatsWithoutWords) {
  CatalogOptions options;
  options.files.use_io_uring = false;
  const Catalog catalog = world_.open(options);
  const std::string words = catalog.stats().files.io_uring_refusal;
  ASSERT_FALSE(words.empty());
  std::uint64_t wordless_count = 0;
  std::uint64_t number = 1;
  for (bool has_failed = true; has_failed; ++number) {
    fail_allocation(number);
    const CatalogStats stats = catalog.stats();
    has_failed = end_allocation_faults();
    wordless_count += stats.files.io_uring_refusal.empty() ? 1 : 0;
    EXPECT_TRUE(has_failed || stats.files.io_uring_refusal == words);
    EXPECT_EQ(stats.attach_count, 1u);
  }
  std::printf("stats: %llu allocations failed in turn\n",
              static_cast<unsigned long long>(number - 2));
  EXPECT_EQ(wordless_count, 1u);
}

}  // namespace
}  // namespace iceblink::test

// avro-c leaks the text in hand when an allocation fails (iceberg/avro/README.md). Known to the
// leak sanitizer alone, which looks for it by its name, and called by nothing else.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libavro";
}
