#include "daemon/metadata_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <span>
#include <thread>

#include "daemon/cached_file.h"
#include "iceberg/fingerprint.h"
#include "iceberg/uuid.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::daemon {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDocument =
    R"({"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1",)"
    R"("location":"/w/t","schemas":[]})";

/// Grows with each descriptor that is left open.
int lowest_free_descriptor() {
  const int fd = ::open("/", O_PATH | O_CLOEXEC);
  ::close(fd);
  return fd;
}

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

TEST_F(MetadataFileTest, IsNeverTheStoresHoweverALinkToItIsSwapped) {
  const std::string store = dir_.write("data.mdb", "store");
  const std::string harmless = dir_.write("harmless", "harmless");
  const std::string link = dir_ / "link";
  struct stat status {};
  ASSERT_EQ(::stat(store.c_str(), &status), 0);
  MetadataFileRules rules;
  rules.own_files = {FileIdentity::of(status)};
  std::filesystem::create_symlink(harmless, link);
  const int before = lowest_free_descriptor();
  std::atomic<bool> is_done{false};
  std::thread swapping([&] {
    const std::string next = dir_ / "next";
    // relaxed: the end of a loop
    for (int i = 0; !is_done.load(std::memory_order_relaxed); ++i) {
      std::filesystem::create_symlink(i % 2 == 0 ? store : harmless, next);
      std::filesystem::rename(next, link);
    }
  });
  int refused_count = 0;
  int read_count = 0;
  while (refused_count < 10'000 || read_count < 10'000) {
    const auto bytes = read_metadata_file(link, rules);
    if (bytes) {
      EXPECT_EQ(*bytes, "harmless");
      ++read_count;
    } else {
      EXPECT_THAT(bytes.error().message(), HasSubstr("own store"));
      ++refused_count;
    }
    if (const auto cached = read_if_cached(link, 100, rules.own_files)) {
      EXPECT_EQ(*cached, "harmless");
    }
  }
  is_done.store(true, std::memory_order_relaxed);  // relaxed: as above
  swapping.join();
  EXPECT_EQ(lowest_free_descriptor(), before) << "descriptors are left open";
}

TEST_F(MetadataFileTest, DoesNotTellOfTheStoreOutsideOfTheReadRoots) {
  std::filesystem::create_directory(dir_ / "in");
  const std::string store = dir_.write("data.mdb", "store");
  std::filesystem::create_symlink(store, dir_ / "in/link");
  struct stat status {};
  ASSERT_EQ(::stat(store.c_str(), &status), 0);
  MetadataFileRules rules;
  rules.own_files = {FileIdentity::of(status)};
  rules.read_roots = ReadRoots::of({dir_ / "in"}, {}).value();
  const auto refused = read_metadata_file(dir_ / "in/link", rules);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotAllowed);
  EXPECT_THAT(refused.error().message(), HasSubstr("leaves the directories"));
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
