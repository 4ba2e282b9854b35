// One file at a time, and what it is called.
#include "client/file_reader.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#include <fstream>

#include "client/local_read.h"
#include "tests/client/file_fixture.h"

namespace iceblink::client {
namespace {

using namespace testing;

class FileReaderTest : public FileTest {
 protected:
  std::string read(const std::string& location, std::size_t bytes_max = kBytesMax) {
    return text_of(reader_->read(location, bytes_max));
  }
  ErrorKind refusal(const std::string& location, std::size_t bytes_max = kBytesMax) {
    const auto content = reader_->read(location, bytes_max);
    EXPECT_FALSE(content.ok()) << location;
    if (content.ok()) return ErrorKind::kInternal;
    EXPECT_THAT(content.error().message(), HasSubstr(location));
    return content.error().kind();
  }
  std::unique_ptr<FileReader> reader_ = reader();
};

TEST_F(FileReaderTest, ReadsFilesOfAnySize) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kGuessBytes - 1, kGuessBytes,
                                 kGuessBytes + 1, std::size_t{10} << 20}) {
    EXPECT_EQ(read(dir_.write("f", bytes_of(size, size))), bytes_of(size, size)) << size;
  }
}

TEST_F(FileReaderTest, ReadsFilesThatDoNotSayTheirSize) {
  std::ifstream file("/proc/filesystems");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(read("/proc/filesystems"), text);
}

TEST_F(FileReaderTest, ReadsFilesThatSayMoreThanTheyAre) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";  // "4096 bytes"
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) GTEST_SKIP() << "no " << path;
  EXPECT_EQ(read(path), text);
}

TEST_F(FileReaderTest, ReadsToTheEndOfAFileThatGrowsUnderIt) {
  const std::string path = dir_.write("grows", "begin");
  std::vector<std::size_t> wanted;
  const auto content = reader_->read(path, kBytesMax, [&](std::size_t index, std::size_t bytes) {
    EXPECT_EQ(index, 0u);
    if (wanted.empty()) std::ofstream(path, std::ios::app) << bytes_of(1, 100);
    wanted.push_back(bytes);
  });
  EXPECT_EQ(text_of(content), "begin" + bytes_of(1, 100));
  EXPECT_TRUE(std::is_sorted(wanted.begin(), wanted.end()));
  // From one buffer into the next: both are there for a moment.
  ASSERT_GT(wanted.size(), 2u);
  EXPECT_EQ(wanted[1], wanted[0] * 3);
  EXPECT_EQ(wanted[2], wanted[0] * 6);
}

TEST_F(FileReaderTest, ReadsToTheEndOfAFileThatShrinksUnderIt) {
  const std::string path = dir_.write("shrinks", bytes_of(1, 100'000));
  const auto content = reader_->read(path, kBytesMax, [&](std::size_t, std::size_t bytes) {
    EXPECT_GE(bytes, 100'000u);
    EXPECT_EQ(::truncate(path.c_str(), 10), 0);
  });
  EXPECT_EQ(text_of(content), bytes_of(1, 100'000).substr(0, 10));
  EXPECT_LT(content->capacity(), 1'000u);
}

TEST_F(FileReaderTest, SaysWhatMemoryItTakes) {
  std::size_t wanted = 0;
  const auto content = reader_->read(dir_.write("f", bytes_of(0, 20'000)), kBytesMax,
                                     [&](std::size_t, std::size_t bytes) { wanted = bytes; });
  EXPECT_EQ(content->capacity(), wanted);
  EXPECT_GE(wanted, 20'000u);
  EXPECT_LE(wanted, 20'064u);
}

TEST_F(FileReaderTest, RefusesFilesAboveTheLimit) {
  const std::string path = dir_.write("ten", "0123456789");
  EXPECT_EQ(read(path, 10), "0123456789");
  EXPECT_EQ(refusal(path, 9), ErrorKind::kTooLarge);
  EXPECT_EQ(refusal("/proc/filesystems", 5), ErrorKind::kTooLarge);
  EXPECT_EQ(refusal("/proc/filesystems", 0), ErrorKind::kTooLarge);
  EXPECT_EQ(read(dir_.write("empty", ""), 0), "");
  EXPECT_EQ(read(path, std::numeric_limits<std::size_t>::max()), "0123456789");
}

TEST_F(FileReaderTest, TakesNoMemoryForAFileThatIsTooLarge) {
  const std::string path = dir_.write("sparse", "");
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 40), 0);
  const auto content = reader_->read(path, kBytesMax, [](std::size_t, std::size_t) { FAIL(); });
  EXPECT_EQ(kind_of(content), ErrorKind::kTooLarge);
}

TEST_F(FileReaderTest, TakesEveryFormOfALocalLocation) {
  const std::string path = dir_.write("a %20+#?\xc3\xa4", "plain");
  EXPECT_EQ(read(path), "plain");
  const std::string encoded = dir_.path() + "/a%20%2520+#?%C3%a4";
  for (const char* prefix : {"file:", "file://", "file://localhost", "FILE://LOCALHOST"}) {
    EXPECT_EQ(read(prefix + encoded), "plain") << prefix;
  }
}

TEST_F(FileReaderTest, OpensDoubledSlashesAsTheyAreStored) {
  std::filesystem::create_directories(dir_.path() + "/t/metadata");
  dir_.write("t/metadata/v1.metadata.json", "text");
  EXPECT_EQ(read(dir_.path() + "/t//metadata/v1.metadata.json"), "text");
  EXPECT_EQ(read("/" + dir_.path() + "/t/metadata//v1.metadata.json"), "text");
}

TEST_F(FileReaderTest, RefusesLocationsThatAreNotItsOwn) {
  EXPECT_EQ(refusal("s3://b/k"), ErrorKind::kUnsupported);
  EXPECT_EQ(refusal("local:////p"), ErrorKind::kUnsupported);
  EXPECT_EQ(refusal("file://data/persistent/v1.metadata.json"), ErrorKind::kUnsupported);
  EXPECT_EQ(refusal("data/persistent/v1.metadata.json"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(refusal("./v1.metadata.json"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(refusal(""), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of(reader_->read(std::string("/a\0b", 4), 1)), ErrorKind::kInvalidArgument);
}

TEST_F(FileReaderTest, UsesTheWordsOfTheReferenceForAMissingFile) {
  const std::string location = "file://" + dir_.path() + "/no%20file";
  const auto content = reader_->read(location, kBytesMax);
  EXPECT_EQ(text_of(content), "not_found: Failed to open input stream for file: " + location);
  EXPECT_EQ(refusal(dir_.write("f", "") + "/below"), ErrorKind::kNotFound);
}

TEST_F(FileReaderTest, RefusesWhatIsNoRegularFile) {
  const std::string fifo = dir_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& location :
       {dir_.path(), fifo, std::string("/dev/null"), std::string("/dev/zero")}) {
    EXPECT_EQ(refusal(location), ErrorKind::kInvalidArgument) << location;
  }
  const std::string loop = dir_.path() + "/loop";
  ASSERT_EQ(::symlink("loop", loop.c_str()), 0);
  EXPECT_EQ(refusal(loop), ErrorKind::kInvalidArgument);
  EXPECT_EQ(refusal("/" + std::string(300, 'x')), ErrorKind::kInvalidArgument);
}

TEST_F(FileReaderTest, RefusesFilesThatItMayNotRead) {
  const std::string path = dir_.write("secret", "text");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
  const int own = ::setfsuid(65534);  // of this thread only; root may read everything
  const auto kind = refusal(path);
  ::setfsuid(static_cast<uid_t>(own));
  EXPECT_EQ(kind, ErrorKind::kNotAllowed);
}

TEST_F(FileReaderTest, ReadsWhereAPrefixIsMappedTo) {
  FileOptions options;
  std::filesystem::create_directories(dir_.path() + "/x y");
  dir_.write("x y/a%20b", "text");
  options.location_prefixes = {{"s3://b/w", dir_.path()},
                               {"file:///w", "file://" + dir_.path()},
                               {"data/persistent/", dir_.path() + "/"}};
  reader_ = reader(options);
  EXPECT_EQ(read("s3://b/w/x y/a%20b"), "text");
  EXPECT_EQ(read("file:///w/x%20y/a%2520b"), "text");
  EXPECT_EQ(read("data/persistent/x y/a%20b"), "text");
  EXPECT_EQ(refusal("data/other/x"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(refusal("s3://b/wide/x"), ErrorKind::kUnsupported);
  const auto missing = reader_->read("s3://b/w/none", kBytesMax);
  EXPECT_EQ(missing.error().message(), "Failed to open input stream for file: s3://b/w/none");
  const auto directory = reader_->read("s3://b/w", kBytesMax);
  EXPECT_THAT(directory.error().message(), Not(HasSubstr(dir_.path())));
}

TEST_F(FileReaderTest, DoesNotTellWhereAPrefixLeadsToWhenItCannotBeRead) {
  FileOptions options;
  options.location_prefixes = {{"s3://b", "hdfs://secret"}};
  const auto content = reader(options)->read("s3://b/k", kBytesMax);
  EXPECT_EQ(kind_of(content), ErrorKind::kUnsupported);
  EXPECT_THAT(content.error().message(), HasSubstr("s3://b/k"));
  EXPECT_THAT(content.error().message(), Not(HasSubstr("secret")));
}

TEST_F(FileReaderTest, NamesTheSettingThatCannotBe) {
  FileOptions options;
  options.location_prefixes = {{"/a", "relative"}};
  const auto made = FileReader::make(options);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(made.error().message(), HasSubstr("location_prefixes"));
}

TEST_F(FileReaderTest, LeavesNoDescriptorOpen) {
  const std::string fifo = dir_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::size_t before = descriptor_count();
  read(dir_.write("f", "text"));
  for (const std::string& location : {fifo, dir_.path(), dir_.path() + "/none"}) {
    refusal(location);
  }
  refusal(dir_.write("large", "0123456789"), 5);
  EXPECT_EQ(descriptor_count(), before);
}

TEST_F(FileReaderTest, ReadsALoneFileWithoutARing) {
  read(dir_.write("f", "text"));
  const auto stats = reader_->stats();
  EXPECT_FALSE(stats.uses_io_uring);
  EXPECT_EQ(stats.io_uring_refusal, "");
  EXPECT_EQ(stats.file_count, 1u);
  EXPECT_EQ(stats.ring_file_count, 0u);
  EXPECT_EQ(stats.byte_count, 4u);
}

}  // namespace
}  // namespace iceblink::client
