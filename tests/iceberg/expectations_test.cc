// The files of other implementations: each is accepted or refused as it is expected to be, and what
// is accepted is written again without a loss.
#include <fstream>
#include <map>
#include <sstream>

#include "iceberg/metadata_writer.h"
#include "tests/iceberg/metadata_equality.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {
namespace {

struct Expectation {
  std::string file;
  std::string kind;
  std::string verdict;
};

/// Where the known libraries disagree, what is taken here; docs/metadata.md says why.
const std::map<std::string, std::string> kChosen = {
    // format 3 without next-row-id: readable, and no base for a commit
    {"v1.metadata.json", "accept"},
    // format 2 without default-sort-order-id
    {"00095_x.json", "reject"},
    // a column of type unknown below format 3
    {"00474_DeserializeRejectsUnknownSchemaBeforeFormatV3.json", "accept"},
    {"00494_DeserializeRejectsUnknownSchemaBeforeFormatV3.json", "accept"},
    // of a response, only the metadata in it counts
    {"01198_LoadTableJsonWithCredentials.json", "accept"},
    // its metadata has no partition specs
    {"update_table_response.json", "reject"},
    // a manifest list and embedded manifests: the list counts; embedded manifests alone
    {"00593_test_v1_snapshot_with_manifest_list_and_manifests.json", "accept"},
    {"00633_test_v1_snapshot_with_manifest_list_and_manifests.json", "accept"},
    // format 1 with lists and without the ids that choose from them
    {"TableMetadataV1PartitionSpecsWithoutDefaultId.json", "accept"},
    {"TableMetadataV1SchemasWithoutCurrentId.json", "accept"}};

std::string corpus_dir() {
  return std::string(ICEBLINK_SOURCE_DIR) + "/../shared/data";
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

class Expectations : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(corpus_dir() + "/expectations.tsv");
    std::string line;
    std::getline(file, line);  // the heading
    while (std::getline(file, line)) {
      std::istringstream columns(line);
      Expectation entry;
      std::getline(columns, entry.file, '\t');
      std::getline(columns, entry.kind, '\t');
      std::getline(columns, entry.verdict, '\t');
      if (entry.verdict == "choose") {
        const auto name = entry.file.substr(entry.file.rfind('/') + 1);
        const auto chosen = kChosen.find(name);
        ASSERT_NE(chosen, kChosen.end()) << "nothing is decided about " << entry.file;
        entry.verdict = chosen->second;
      }
      all_.push_back(entry);
    }
    if (all_.empty()) GTEST_SKIP() << corpus_dir() << " is not here: nothing to compare with";
  }

  static std::string text_of(const Expectation& entry) {
    return read_file(corpus_dir() + '/' + entry.file);
  }

  std::vector<Expectation> all_;
};

TEST_F(Expectations, TheCheckJudgesEveryFileAsExpected) {
  std::map<std::string, int> counts;
  for (const auto& entry : all_) {
    const auto problems = problems_of(text_of(entry));
    EXPECT_EQ(problems.empty() ? "accept" : "reject", entry.verdict)
        << entry.file << ": " << ::testing::PrintToString(problems);
    ++counts[entry.verdict];
  }
  EXPECT_GT(counts["accept"], 80);
  EXPECT_GT(counts["reject"], 30);
}

TEST_F(Expectations, LoadAndCheckAgree) {
  for (const auto& entry : all_) {
    if (entry.kind == "load-table-response") continue;  // not a metadata file: only the check knows
    EXPECT_EQ(error_of(text_of(entry)) == "accepted", entry.verdict == "accept") << entry.file;
  }
}

TEST_F(Expectations, ALoadFailsWithTheFirstProblemOrOneOfTheOthers) {
  for (const auto& entry : all_) {
    if (entry.kind == "load-table-response" || entry.verdict == "accept") continue;
    const std::string text = text_of(entry);
    const std::string error = error_of(text);
    EXPECT_THAT(problems_of(text), ::testing::Contains(error.substr(error.find(": ") + 2)))
        << entry.file;
  }
}

TEST_F(Expectations, WhatIsAcceptedIsWrittenWithoutALoss) {
  std::map<MetadataDocument::Kind, int> counts;
  for (const auto& entry : all_) {
    const auto document = parse_metadata(ByteBuffer(std::string_view(text_of(entry))));
    if (!document) continue;
    // Two SQL texts of one dialect may be read, and must not be written.
    if (entry.file.ends_with("ViewMetadataMultipleSQLsForDialect.json")) continue;
    const auto written = (*document)->kind() == MetadataDocument::Kind::kView
                             ? write_view_metadata(static_cast<const ViewMetadata&>(**document))
                             : write_table_metadata(static_cast<const TableMetadata&>(**document));
    ASSERT_TRUE(written) << entry.file << ": " << written.error().message();
    EXPECT_EQ(problems_of(*written), std::vector<std::string>{}) << entry.file;
    const auto again = parse_metadata(ByteBuffer(std::string_view(*written)));
    ASSERT_TRUE(again) << entry.file << ": " << again.error().message();
    EXPECT_EQ(difference(**document, **again), "") << entry.file;
    ++counts[(*document)->kind()];
  }
  EXPECT_GT(counts[MetadataDocument::Kind::kTable], 60);
  EXPECT_GT(counts[MetadataDocument::Kind::kView], 2);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
