#include "daemon/new_metadata_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon/metadata_file.h"
#include "daemon/new_location.h"
#include "iceberg/gzip.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::daemon {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

constexpr std::string_view kJson = R"({"format-version":2})";

iceberg::NewMetadata metadata_at(std::string location) {
  iceberg::NewMetadata metadata;
  metadata.json = kJson;
  metadata.format_version = 2;
  metadata.uuid[0] = 1;
  metadata.location = std::move(location);
  return metadata;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return (std::stringstream() << file.rdbuf()).str();
}

std::size_t count_files(const std::string& directory) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    count += entry.is_directory() ? 0 : 1;
  }
  return count;
}

class NewMetadataFileTest : public ::testing::Test {
 protected:
  Result<NewMetadataFile> write(const iceberg::NewMetadata& metadata, std::uint64_t version = 0) {
    return NewMetadataFile::write(metadata, version, roots_);
  }
  ErrorKind refusal(const std::string& location) {
    const auto written = write(metadata_at(location));
    EXPECT_FALSE(written) << location;
    return written ? ErrorKind::kInternal : written.error().kind();
  }

  test::ScratchDir dir_;
  WriteRoots roots_ = WriteRoots::of({dir_ / "warehouse"}, {}).value();
};

TEST_F(NewMetadataFileTest, LiesBelowTheTableAndStaysOnceItIsKept) {
  std::string path;
  {
    auto file = write(metadata_at(dir_ / "warehouse/ns/t/"), 42);
    ASSERT_TRUE(file) << file.error().message();
    path = file->row().location;
    EXPECT_THAT(path, StartsWith(dir_ / "warehouse/ns/t/metadata/00042-"));
    EXPECT_THAT(path, EndsWith(".metadata.json"));
    EXPECT_EQ(bytes_of(path), kJson);
    EXPECT_EQ(file->row().format_version, 2);
    EXPECT_EQ(file->row().table_uuid[0], 1);
    file->keep();
  }
  EXPECT_TRUE(fs::exists(path));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
  EXPECT_EQ(count_files(dir_ / "warehouse"), 1u);
}

TEST_F(NewMetadataFileTest, IsGoneUnlessItIsKept) {
  { ASSERT_TRUE(write(metadata_at(dir_ / "warehouse/t"))); }
  EXPECT_EQ(count_files(dir_ / "warehouse"), 0u);
}

TEST_F(NewMetadataFileTest, IsKnownByTheFingerprintOfItsBytes) {
  auto metadata = metadata_at(dir_ / "warehouse/t");
  metadata.is_gzip = true;
  auto file = write(metadata);
  ASSERT_TRUE(file);
  EXPECT_THAT(file->row().location, EndsWith(".gz.metadata.json"));
  const std::string stored = bytes_of(file->row().location);
  EXPECT_EQ(iceberg::inflate_gzip(std::as_bytes(std::span(stored)))->view(), kJson);
  auto plain = write(metadata_at(dir_ / "warehouse/t"));
  ASSERT_TRUE(plain);
  EXPECT_NE(plain->row().metadata_fingerprint, file->row().metadata_fingerprint);
}

TEST_F(NewMetadataFileTest, GoesWhereThePropertySays) {
  auto metadata = metadata_at(dir_ / "warehouse/t");
  metadata.metadata_path = dir_ / "warehouse/elsewhere/";
  auto file = write(metadata);
  ASSERT_TRUE(file);
  EXPECT_THAT(file->row().location, StartsWith(dir_ / "warehouse/elsewhere/00000-"));
}

TEST_F(NewMetadataFileTest, UnderstandsFileUris) {
  auto file = write(metadata_at("file://" + (dir_ / "warehouse/a%20b")));
  ASSERT_TRUE(file);
  EXPECT_THAT(file->row().location, StartsWith("file://" + (dir_ / "warehouse/a%20b/metadata/")));
  EXPECT_EQ(count_files(dir_ / "warehouse/a b/metadata"), 1u);
}

TEST_F(NewMetadataFileTest, NeverLeavesTheRoots) {
  fs::create_directories(dir_ / "outside");
  fs::create_directories(dir_ / "warehouse");
  fs::create_directory_symlink(dir_ / "outside", dir_ / "warehouse/link");
  fs::create_directory_symlink("..", dir_ / "warehouse/up");
  EXPECT_EQ(refusal(dir_ / "outside/t"), ErrorKind::kNotAllowed);
  EXPECT_EQ(refusal(dir_ / "warehouse2/t"), ErrorKind::kNotAllowed);
  EXPECT_EQ(refusal(dir_ / "warehouse/../outside/t"), ErrorKind::kNotAllowed);
  EXPECT_EQ(refusal("file://" + (dir_ / "warehouse/%2e%2e/outside/t")), ErrorKind::kNotAllowed);
  EXPECT_EQ(refusal(dir_ / "warehouse/link/t"), ErrorKind::kNotAllowed);
  EXPECT_EQ(refusal(dir_ / "warehouse/up/outside/t"), ErrorKind::kNotAllowed);
  EXPECT_EQ(refusal("s3://bucket/t"), ErrorKind::kUnsupported);
  EXPECT_EQ(refusal(""), ErrorKind::kInvalidArgument);
  EXPECT_EQ(count_files(dir_ / "outside"), 0u);
}

TEST_F(NewMetadataFileTest, SaysWhatStandsInItsWay) {
  fs::create_directories(dir_ / "warehouse");
  dir_.write("warehouse/file", "x");
  const auto written = write(metadata_at(dir_ / "warehouse/file"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(written.error().message(), HasSubstr(dir_ / "warehouse/file/metadata/"));
}

TEST_F(NewMetadataFileTest, FollowsALinkThatStaysInside) {
  fs::create_directories(dir_ / "warehouse/real");
  fs::create_directory_symlink("real", dir_ / "warehouse/link");
  auto file = write(metadata_at(dir_ / "warehouse/link/t"));
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(count_files(dir_ / "warehouse/real"), 1u);
}

TEST_F(NewMetadataFileTest, RemovesOnlyBelowTheRoots) {
  fs::create_directories(dir_ / "outside");
  fs::create_directories(dir_ / "warehouse");
  const std::string outside = dir_.write("outside/f", "x");
  const std::string inside = dir_.write("warehouse/f", "x");
  fs::create_directory_symlink(dir_ / "outside", dir_ / "warehouse/link");
  EXPECT_EQ(roots_.remove(outside).error().kind(), ErrorKind::kNotAllowed);
  EXPECT_EQ(roots_.remove(dir_ / "warehouse/link/f").error().kind(), ErrorKind::kNotAllowed);
  EXPECT_TRUE(fs::exists(outside));
  EXPECT_TRUE(roots_.remove(inside));
  EXPECT_FALSE(fs::exists(inside));
  EXPECT_TRUE(roots_.remove(inside));
  EXPECT_TRUE(roots_.remove(dir_ / "warehouse/none/f"));
  EXPECT_TRUE(roots_.covers(dir_ / "warehouse/x"));
  EXPECT_FALSE(roots_.covers(dir_ / "warehouse"));
  EXPECT_FALSE(roots_.covers(dir_ / "warehouse/../x"));
}

TEST_F(NewMetadataFileTest, NothingIsBelowAFileToBeRemoved) {
  fs::create_directories(dir_ / "warehouse");
  const std::string file = dir_.write("warehouse/f", "x");
  for (const std::string& below : {file + "/g", file + "/h/g"}) {
    const auto removed = roots_.remove(below);
    EXPECT_TRUE(removed) << removed.error().message();
  }
  EXPECT_TRUE(fs::exists(file));
}

TEST(NextMetadataVersion, IsOneMoreThanTheNamesNumber) {
  EXPECT_EQ(next_metadata_version("/t/metadata/00041-a.metadata.json"), 42u);
  EXPECT_EQ(next_metadata_version("/t/metadata/v7.metadata.json"), 8u);
  EXPECT_EQ(next_metadata_version("/t/metadata/100000-a.gz.metadata.json"), 100001u);
  EXPECT_EQ(next_metadata_version("/t/metadata/first.json"), 0u);
  EXPECT_EQ(next_metadata_version("/t/12/x"), 0u);
  EXPECT_EQ(next_metadata_version("/t/9999999999999999999-a.metadata.json"), 0u);
  EXPECT_EQ(next_metadata_version("12"), 0u);
  EXPECT_EQ(next_metadata_version(""), 0u);
}

TEST(NewLocation, IsPlainAndItsOwn) {
  const iceberg::Uuid uuid{0x12, 0x34};
  EXPECT_EQ(new_location("/w/", {{"a", "b c"}, "t"}, uuid),
            "/w/a/b_c/t-12340000-0000-0000-0000-000000000000");
  EXPECT_EQ(new_location("file:///w", {{".."}, "../x%/\xC3\xA9"}, uuid),
            "file:///w/_./_._x____-12340000-0000-0000-0000-000000000000");
  EXPECT_EQ(new_location("", {{"a"}, "t"}, uuid), "");
  EXPECT_LT(new_location("/w", {{"a"}, std::string(400, 'x')}, uuid).size(), 200u);
}

}  // namespace
}  // namespace iceblink::daemon
