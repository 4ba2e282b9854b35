// That a document weighs what it takes: every allocation of this program is counted.
#include "tests/iceberg/counted_memory.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {
namespace {

/// What is not counted: what make_shared adds, and how full a list of blocks is.
constexpr std::size_t kSlackBytes = 256;

Document table_with(int count) {
  std::string snapshots;
  std::string log;
  std::string properties;
  for (int i = 0; i < count; ++i) {
    const std::string id = std::to_string(i);
    const std::string comma = i == 0 ? "" : ",";
    snapshots += comma + snapshot(id).with("summary", R"({"a\tb":")" + id + "\"}").text();
    log += comma + R"({"timestamp-ms":1,"metadata-file":"m\n)" + id + "\"}";
    properties += comma + "\"k\\n" + id + R"(":"v")";
  }
  return v2()
      .with("snapshots", '[' + snapshots + ']')
      .with("metadata-log", '[' + log + ']')
      .with("properties", '{' + properties + '}');
}

void expect_weight(const TableMetadata& table, std::size_t before, const std::string& when) {
  const std::size_t taken = live_bytes - before;
  EXPECT_LE(table.weight_bytes(), taken + kSlackBytes) << when;
  EXPECT_GE(table.weight_bytes() + kSlackBytes, taken) << when;
}

TEST(Weight, IsWhatTheDocumentTakes) {
  ASSERT_TRUE(load(gzipped(v2().text())));  // some memory is taken once, by the first parser
  for (const int count : {0, 1, 30, 3000}) {
    for (const bool is_gzipped : {false, true}) {
      const std::string text = table_with(count).text();
      const std::string file = is_gzipped ? gzipped(text) : text;
      const std::size_t before = live_bytes;
      {
        const auto table = load(file);
        ASSERT_TRUE(table) << table.error().message();
        expect_weight(**table, before, "loaded");
        ASSERT_TRUE((*table)->snapshot(0));
        expect_weight(**table, before, "with one snapshot");
        ASSERT_TRUE((*table)->snapshots());
        expect_weight(**table, before, "with all snapshots");
        ASSERT_TRUE((*table)->metadata_log());
        expect_weight(**table, before, "with its log");
      }
      EXPECT_EQ(live_bytes, before) << "all of it is given back";
    }
  }
}

TEST(Weight, OfAViewIsWhatItTakes) {
  const std::string text = view().text();
  const std::size_t before = live_bytes;
  const auto loaded = parse_view_metadata(ByteBuffer(std::string_view(text)));
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_LE((*loaded)->weight_bytes(), live_bytes - before + kSlackBytes);
  EXPECT_GE((*loaded)->weight_bytes() + kSlackBytes, live_bytes - before);
}

TEST(Weight, NothingIsLeftOfWhatIsRefused) {
  ASSERT_TRUE(load(v2()));  // as above
  const std::string text = table_with(30).without("location").text();
  const std::string cut = table_with(30).text().substr(0, 1000);
  const std::size_t before = live_bytes;
  EXPECT_FALSE(load(text));
  EXPECT_FALSE(load(cut));
  EXPECT_EQ(live_bytes, before);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
