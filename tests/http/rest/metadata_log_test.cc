// The files that commits leave behind: the log of them, its length, and their removal.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::StartsWith;

class MetadataLog : public RestTest {
 protected:
  std::vector<std::string> log_of(const Value& metadata) {
    std::vector<std::string> files;
    for (const auto& entry : metadata.at("metadata-log").as_array()) {
      files.push_back(text_of(entry.at("metadata-file")));
    }
    return files;
  }
  Value set(const Object& properties) {
    return commit_to("tbl", properties_change(load("tbl"), properties));
  }
};

TEST_F(MetadataLog, HasEachFileBeforeTheCurrentOne) {
  create_table("tbl");
  std::vector<std::string> expected;
  for (int turn = 0; turn < 4; ++turn) {
    const auto location = metadata_location(table("tbl"));
    EXPECT_THAT(location.substr(location.rfind('/') + 1),
                StartsWith("0000" + std::to_string(turn) + "-"));
    expected.push_back(location);
    EXPECT_EQ(log_of(set({{"turn", std::to_string(turn)}})), expected);
  }
  EXPECT_EQ(files().size(), 5u);
}

TEST_F(MetadataLog, DoesNotGrowWhereNothingChanges) {
  const auto base = create_table("tbl");
  const auto location = metadata_location(table("tbl"));
  for (const Commit& nothing :
       {Commit{}, Commit{{assert_table_uuid(base.at("table-uuid"))}, {}}, schema_revert(base, 0),
        Commit{{}, {upgrade_format_version(2)}}, Commit{{}, {remove_properties({"nobody"})}}}) {
    EXPECT_THAT(commit("tbl", nothing), HasStatus(200));
  }
  EXPECT_EQ(metadata_location(table("tbl")), location);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(MetadataLog, IsCutAndItsFilesDeletedWhereThePropertiesSaySo) {
  create_table("tbl");
  for (const char* turn : {"1", "2", "3"}) set({{"turn", turn}});
  const auto before = log_of(load("tbl"));
  EXPECT_EQ(before.size(), 3u);
  const auto last = metadata_location(table("tbl"));
  const auto cut = set({{"write.metadata.previous-versions-max", "1"},
                        {"write.metadata.delete-after-commit.enabled", "true"}});
  EXPECT_THAT(log_of(cut), ElementsAre(last));
  for (const auto& file : before) expect_to_go(file);
  EXPECT_EQ(files().size(), 2u);

  const auto raised = set({{"write.metadata.previous-versions-max", "3"}});
  EXPECT_EQ(log_of(raised).size(), 2u);
  for (const char* turn : {"4", "5"}) set({{"turn", turn}});
  EXPECT_EQ(log_of(load("tbl")).size(), 3u);
  expect_to_go(last);
  EXPECT_EQ(files().size(), 4u);
}

TEST_F(MetadataLog, IsCutAndItsFilesStayWhereThePropertiesDoNotSaySo) {
  create_table("tbl");
  for (const char* turn : {"1", "2", "3"}) set({{"turn", turn}});
  const auto cut = set({{"write.metadata.previous-versions-max", "1"}});
  EXPECT_EQ(log_of(cut).size(), 1u);
  EXPECT_EQ(files().size(), 5u);
}

TEST_F(MetadataLog, GoesWhereThePropertiesSay) {
  create_table("tbl");
  const auto elsewhere = warehouse() + "/other-metadata";
  set({{"write.metadata.path", elsewhere}});
  EXPECT_THAT(metadata_location(table("tbl")), StartsWith(elsewhere + "/00001-"));
}

TEST_F(MetadataLog, IsOnDiskAsItIsAnswered) {
  auto base = create_table("tbl");
  for (int id = 1; id <= 3; ++id) base = commit_to("tbl", append(base, id));
  const auto log = log_of(base);
  EXPECT_EQ(log.size(), 3u);
  for (const auto& file : log) EXPECT_THAT(files(), Contains(file));
  EXPECT_THAT(log, Not(Contains(metadata_location(table("tbl")))));
}

}  // namespace
}  // namespace iceblink::test
