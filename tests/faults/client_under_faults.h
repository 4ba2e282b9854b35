// A running instance whose catalog has namespaces, tables and a table with manifests on disk, for
// calls of a client that fail on the way.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/gzip.h"
#include "tests/client/table_files.h"
#include "tests/faults/commit_scenarios.h"
#include "tests/process/rest_requests.h"
#include "tests/process/world.h"

namespace iceblink::test {

// What the calls take is made before anything fails.
inline const Namespace kNamespace{"ns"};
inline const Namespace kRoot;
inline const TableIdent kTable{{"ns"}, "r"};
/// Of two snapshots: data files, and position deletes of some; its metadata is compressed, and its
/// manifests are.
inline const TableIdent kPlanned{{"ns"}, "planned"};
inline constexpr std::int64_t kFirstSnapshot = 1;
inline constexpr std::int64_t kLastSnapshot = 2;

[[nodiscard]] Status status_of(const auto& result) {
  return result.ok() ? Status(Ok{}) : Status(result.error());
}

class ClientUnderFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(world_.start(scenario_arguments())) << world_.daemon().errors();
    for (const HttpRequest& request : preparations()) {
      ASSERT_LT(connect(world_).request(request).status, 300);
    }
    Catalog catalog = world_.open();
    ASSERT_OK(catalog.register_table(kPlanned, write_planned_table()));
  }

  [[nodiscard]] std::shared_ptr<const Table> load_planned() {
    auto table = world_.open().load_table(kPlanned);
    EXPECT_OK(table);
    return *table;
  }

  /// Replaces the arena that everybody has mapped.
  void flip() {
    Catalog catalog = world_.open();
    const std::uint32_t before = catalog.info().value().epoch;
    for (int i = 0; i < 16 && catalog.info().value().epoch == before; ++i) {
      ASSERT_OK(World::put(catalog, {{"ns"}, "long"}, "/none/" + std::string(3500, 'd')));
    }
    ASSERT_NE(catalog.info().value().epoch, before);
  }

  World world_;

 private:
  [[nodiscard]] std::string write_planned_table() const;
};

inline std::string ClientUnderFaults::write_planned_table() const {
  using iceberg::testing::snapshot;
  const std::string directory = world_.data_dir() + "/warehouse/planned";
  std::filesystem::create_directories(directory);
  const testing::TableFiles files(directory, "deflate");
  std::vector<testing::Entry> entries;
  std::vector<testing::Entry> deletes;
  for (int i = 0; i < 4; ++i) {
    const std::string path = "/none/" + std::to_string(i) + ".parquet";
    entries.push_back({.path = path, .kind = i % 2 == 0 ? "even" : "odd"});
  }
  deletes.push_back({.path = "/none/d.parquet", .kind = "odd", .content = 1});
  const auto first = files.manifest("m1.avro", entries);
  const auto more = files.manifest("m2.avro", {{.path = "/none/5.parquet", .kind = "odd"}}, 2);
  const auto deleted = files.manifest("m3.avro", deletes, 2, 1);
  const std::string first_list = files.manifest_list("s1.avro", {first});
  const std::string last_list = files.manifest_list("s2.avro", {first, more, deleted});
  const auto one = snapshot("1").with("manifest-list", '"' + first_list + '"');
  const auto two = snapshot("2")
                       .with("parent-snapshot-id", "1")
                       .with("sequence-number", "2")
                       .with("manifest-list", '"' + last_list + '"');
  const std::string text = testing::partitioned_table()
                               .with("last-sequence-number", "9")
                               .with("snapshots", '[' + one.text() + ',' + two.text() + ']')
                               .with("current-snapshot-id", "2")
                               .with("refs", R"({"main":{"snapshot-id":2,"type":"branch"}})")
                               .with("snapshot-log", R"([{"snapshot-id":1,"timestamp-ms":1000}])")
                               .text();
  return files.write("1-x.gz.metadata.json", iceberg::compress_gzip(text).value());
}

}  // namespace iceblink::test
