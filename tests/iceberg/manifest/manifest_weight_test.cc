// That manifests and manifest lists weigh what they take: every allocation of this program is
// counted.
#include "tests/iceberg/counted_memory.h"
#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::iceberg::testing {
namespace {

/// What is not counted: what make_shared adds.
constexpr std::size_t kSlackBytes = 64;

AvroRecord entry_with_columns(int columns) {
  std::vector<std::pair<std::int64_t, AvroBytes>> counts;
  std::vector<std::pair<std::int64_t, AvroBytes>> bounds;
  for (int id = 1; id <= columns; ++id) {
    counts.emplace_back(id, AvroBytes().integer(100 + id));
    bounds.emplace_back(id, AvroBytes().text("a bound of some length " + std::to_string(id)));
  }
  return entry(data_file()
                   .with(map_field(kValueCounts, R"("long")", counts))
                   .with(map_field(kNullCounts, R"("long")", counts))
                   .with(map_field(kLowerBounds, R"("bytes")", bounds))
                   .with(map_field(kUpperBounds, R"("bytes")", bounds))
                   .with(list_field("split_offsets", 132, "long", {4, 5, 6})));
}

template <typename Read>
void expect_weight(const Read& read, std::size_t count) {
  const std::size_t before = live_bytes;
  {
    const auto document = read();
    ASSERT_TRUE(document) << document.error().message();
    const std::size_t taken = live_bytes - before;
    EXPECT_LE((*document)->weight_bytes(), taken) << count;
    EXPECT_GE((*document)->weight_bytes() + kSlackBytes, taken) << count;
  }
  EXPECT_EQ(live_bytes, before) << "all of it is given back";
}

TEST(ManifestWeight, IsWhatAManifestTakes) {
  const auto table = unpartitioned_table();
  const ManifestFile of = listed();
  (void)read({entry()});  // some memory is taken once, by the first reader
  for (const std::size_t count : {1, 2, 30, 3000}) {
    const std::string file = avro_file(std::vector<AvroRecord>(count, entry_with_columns(10)));
    expect_weight([&] { return read_manifest(file, of, *table); }, count);
  }
}

TEST(ManifestWeight, IsWhatAManifestListTakes) {
  TableSnapshot snapshot;
  (void)read_list({list_entry()});
  for (const std::size_t count : {1, 2, 30, 3000}) {
    const std::string file = avro_file(std::vector<AvroRecord>(count, list_entry()));
    expect_weight([&] { return read_manifest_list(file, snapshot); }, count);
  }
  const std::vector<std::string_view> paths = {"a.avro", "b.avro"};
  snapshot.manifests = paths;
  expect_weight([&] { return embedded_manifest_list(snapshot); }, 2);
  snapshot.manifests = {};
  expect_weight([&] { return embedded_manifest_list(snapshot); }, 0);
}

TEST(ManifestWeight, ThePeakIsWhatWasTold) {
  const auto table = unpartitioned_table();
  const ManifestFile of = listed();
  (void)read({entry()});
  for (const std::size_t columns : {0, 10, 200}) {
    const std::string file =
        avro_file(std::vector<AvroRecord>(1000, entry_with_columns(static_cast<int>(columns))));
    std::size_t told = 0;
    const ManifestBytesWanted wanted = [&](std::size_t bytes, std::size_t) { told = bytes; };
    const std::size_t before = live_bytes;
    peak_bytes = live_bytes;
    const auto manifest = read_manifest(file, of, *table, {}, wanted);
    ASSERT_TRUE(manifest) << text_of_result(manifest);
    const std::size_t peak = peak_bytes - before;
    EXPECT_LE(peak, told + (std::size_t{64} << 10)) << columns;
    EXPECT_LE(peak, (*manifest)->weight_bytes() * 2 + (std::size_t{128} << 10)) << columns;
  }
}

TEST(ManifestWeight, NothingIsLeftOfWhatIsRefused) {
  const auto table = unpartitioned_table();
  const ManifestFile of = listed();
  (void)read({entry()});
  std::vector<AvroRecord> entries(30, entry_with_columns(10));
  entries.push_back(entry(data_file(), 7));
  const std::string file = avro_file(entries);
  const std::string cut = file.substr(0, file.size() - 100);
  const std::size_t before = live_bytes;
  EXPECT_FALSE(read_manifest(file, of, *table));
  EXPECT_FALSE(read_manifest(cut, of, *table));
  EXPECT_EQ(live_bytes, before);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
