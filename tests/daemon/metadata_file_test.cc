#include "daemon/metadata_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <span>

#include "iceberg/fingerprint.h"
#include "iceberg/uuid.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::daemon {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDocument =
    R"({"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1",)"
    R"("location":"/w/t","schemas":[]})";

class MetadataFileTest : public ::testing::Test {
 protected:
  test::ScratchDir dir_;
};

TEST_F(MetadataFileTest, ReadsTheBytesAsTheyAre) {
  const std::string bytes("a\0b\n", 4);
  EXPECT_EQ(*read_metadata_file(dir_.write("f", bytes)), bytes);
  EXPECT_EQ(
      *read_metadata_file("file://" +
                          dir_.write("a b%", bytes).replace(dir_.path().size() + 1, 4, "a%20b%25")),
      bytes);
  EXPECT_EQ(*read_metadata_file(dir_.write("empty", "")), "");
}

TEST_F(MetadataFileTest, AMissingFileIsSaidInTheWordsClientsKnow) {
  const std::string location = "file://" + dir_ / "none.json";
  const auto missing = read_metadata_file(location);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(missing.error().message(), "Failed to open input stream for file: " + location);
  const std::string below_file = dir_.write("f", "") + "/x";
  EXPECT_EQ(read_metadata_file(below_file).error().kind(), ErrorKind::kNotFound);
}

TEST_F(MetadataFileTest, RefusesWhatIsNoRegularFileAndDoesNotWaitForIt) {
  ASSERT_EQ(::mkfifo((dir_ / "fifo").c_str(), 0600), 0);
  for (const std::string& location : {dir_ / "fifo", dir_.path(), std::string("/dev/null")}) {
    const auto file = read_metadata_file(location);
    ASSERT_FALSE(file) << location;
    EXPECT_EQ(file.error().kind(), ErrorKind::kInvalidArgument) << location;
    EXPECT_THAT(file.error().message(), HasSubstr(location));
  }
}

TEST_F(MetadataFileTest, RefusesMoreThanTheLimit) {
  const MetadataFileRules rules{10, 100};
  EXPECT_TRUE(read_metadata_file(dir_.write("ten", "0123456789"), rules));
  const auto larger = read_metadata_file(dir_.write("eleven", "0123456789a"), rules);
  EXPECT_EQ(larger.error().kind(), ErrorKind::kTooLarge);
}

TEST_F(MetadataFileTest, RefusesOtherSchemes) {
  EXPECT_EQ(read_metadata_file("s3://b/k").error().kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(read_metadata_file("relative/f").error().kind(), ErrorKind::kInvalidArgument);
}

TEST_F(MetadataFileTest, DescribesATable) {
  const std::string location = dir_.write("v1.metadata.json", kDocument);
  const auto described = describe_metadata_file(location);
  ASSERT_TRUE(described) << described.error().message();
  EXPECT_EQ(described->bytes, kDocument);
  EXPECT_EQ(described->row.location, location);
  EXPECT_EQ(described->row.format_version, 2);
  EXPECT_FALSE(described->is_view);
  EXPECT_EQ(iceberg::format_uuid(described->row.table_uuid),
            "9c12d441-03fe-4693-9a96-a0705ddf69c1");
  EXPECT_EQ(described->row.metadata_fingerprint,
            iceberg::fingerprint_of(std::as_bytes(std::span(std::string_view(kDocument)))));
}

TEST_F(MetadataFileTest, NamesTheFileThatIsNoMetadata) {
  const std::string location = dir_.write("x.json", "");
  const auto described = describe_metadata_file(location);
  ASSERT_FALSE(described);
  EXPECT_EQ(described.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(described.error().message(), location + ": the file is empty");
}

}  // namespace
}  // namespace iceblink::daemon
