// Many files at once, with a ring and without.
#include <sys/stat.h>

#include <atomic>
#include <fstream>

#include "client/local_read.h"
#include "client/ring_reader.h"
#include "tests/client/file_fixture.h"

namespace iceblink::client {
namespace {

using namespace testing;

class FileBatchTest : public FileTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    reader_ = GetParam() ? reader() : reader_without_ring();
    is_ring_expected_ = GetParam() && has_ring();
  }
  void expect_ring_files(std::size_t count) {
    EXPECT_EQ(reader_->stats().ring_file_count, is_ring_expected_ ? count : 0);
  }
  std::unique_ptr<FileReader> reader_;
  bool is_ring_expected_ = false;
};
INSTANTIATE_TEST_SUITE_P(Ring, FileBatchTest, ::testing::Bool(), [](const auto& param) {
  return param.param ? "WithRing" : "WithoutRing";
});

TEST_P(FileBatchTest, ReadsFilesOfAnySize) {
  const std::size_t sizes[] = {
      0, 1, kGuessBytes - 1, kGuessBytes, kGuessBytes + 1, std::size_t{10} << 20};
  std::vector<FileRead> files;
  for (const std::size_t size : sizes) {
    files.push_back({dir_.write("f" + std::to_string(size), bytes_of(size, size))});
  }
  reader_->read_many(files, kBytesMax);
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(text_of(files[i].content), bytes_of(sizes[i], sizes[i])) << sizes[i];
  }
  expect_ring_files(files.size());
}

TEST_P(FileBatchTest, ReadsAThousandFilesOfAllSorts) {
  constexpr std::size_t kFiles = 1000;
  const std::string fifo = dir_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::vector<FileRead> files;
  for (std::size_t i = 0; i < kFiles; ++i) {
    switch (i % 10) {
      case 0:
        files.push_back({dir_.path() + "/none." + std::to_string(i)});
        break;
      case 1:
        files.push_back({dir_.path()});
        break;
      case 2:
        files.push_back({fifo});
        break;
      case 3:
        files.push_back({"s3://bucket/" + std::to_string(i)});
        break;
      case 4:
        files.push_back({dir_.write("large." + std::to_string(i), bytes_of(i, 50'000))});
        break;
      default:
        files.push_back({dir_.write("f" + std::to_string(i), bytes_of(i, i * 20))});
    }
  }
  const std::size_t before = descriptor_count();
  std::vector<std::size_t> wanted(kFiles, 0);
  reader_->read_many(files, 40'000,
                     [&](std::size_t index, std::size_t bytes) { wanted[index] = bytes; });
  constexpr ErrorKind kKinds[] = {ErrorKind::kNotFound, ErrorKind::kInvalidArgument,
                                  ErrorKind::kInvalidArgument, ErrorKind::kUnsupported,
                                  ErrorKind::kTooLarge};
  for (std::size_t i = 0; i < kFiles; ++i) {
    if (i % 10 > 4) {
      EXPECT_EQ(text_of(files[i].content), bytes_of(i, i * 20));
      EXPECT_EQ(wanted[i], files[i].content->capacity());
    } else {
      EXPECT_EQ(kind_of(files[i].content), kKinds[i % 10]) << i;
      EXPECT_THAT(text_of(files[i].content), HasSubstr(files[i].location));
      EXPECT_EQ(wanted[i], 0u);
    }
  }
  EXPECT_LE(descriptor_count(), before + 1);  // the ring
  expect_ring_files(900);
  EXPECT_EQ(reader_->stats().file_count, kFiles);
}

TEST_P(FileBatchTest, ReadsFilesThatDoNotSayTheirSize) {
  // Larger than a guess, where it may be read.
  auto files = batch_of({"/proc/kallsyms", "/proc/filesystems", "/proc/kallsyms"});
  reader_->read_many(files, kBytesMax);
  for (const FileRead& file : files) {
    std::ifstream stream(file.location);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (stream.is_open()) {
      EXPECT_TRUE(text_of(file.content) == text) << file.location;
    }
  }
}

TEST_P(FileBatchTest, ReadsFilesOfFileSystemsThatAlwaysWait) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  std::ifstream stream(path);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.empty()) GTEST_SKIP() << "no " << path;
  auto files = batch_of({path, path, dir_.write("f", "text"), path});
  reader_->read_many(files, kBytesMax);
  EXPECT_EQ(text_of(files[2].content), "text");
  for (const std::size_t i : {0, 1, 3}) EXPECT_EQ(text_of(files[i].content), text);
}

TEST_P(FileBatchTest, ReadsFilesThatChangeUnderIt) {
  const auto paths = write_files(20, 1000);
  auto files = batch_of(paths);
  std::vector<int> told(paths.size(), 0);
  reader_->read_many(files, kBytesMax, [&](std::size_t index, std::size_t) {
    if (told[index]++ > 0) return;
    if (index % 2 == 0) std::ofstream(paths[index], std::ios::app) << bytes_of(index, 5000);
    if (index % 2 == 1) {
      EXPECT_EQ(::truncate(paths[index].c_str(), 7), 0);
    }
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string text = bytes_of(i, 1000);
    EXPECT_EQ(text_of(files[i].content), i % 2 == 0 ? text + bytes_of(i, 5000) : text.substr(0, 7));
  }
}

TEST_P(FileBatchTest, ReadsTheSameFileSeveralTimes) {
  auto files = batch_of(std::vector<std::string>(200, dir_.write("f", bytes_of(1, 20'000))));
  reader_->read_many(files, kBytesMax);
  for (const FileRead& file : files) EXPECT_EQ(text_of(file.content), bytes_of(1, 20'000));
}

TEST_P(FileBatchTest, ReadsNothing) {
  reader_->read_many({}, kBytesMax);
  EXPECT_EQ(reader_->stats().file_count, 0u);
}

TEST_P(FileBatchTest, ReplacesWhatWasInTheContents) {
  auto files = batch_of({dir_.write("f", "text"), dir_.path() + "/none"});
  files[0].content = Error{ErrorKind::kInternal, "old"};
  files[1].content = iceberg::ByteBuffer(std::string_view("old"));
  reader_->read_many(files, kBytesMax);
  EXPECT_EQ(text_of(files[0].content), "text");
  EXPECT_EQ(kind_of(files[1].content), ErrorKind::kNotFound);
}

TEST_P(FileBatchTest, FailsOnlyTheFileWhoseMemoryIsRefused) {
  auto files = batch_of(write_files(100, 1000));
  reader_->read_many(files, kBytesMax, [](std::size_t index, std::size_t) {
    if (index == 42) throw std::bad_alloc();
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i == 42) {
      EXPECT_EQ(kind_of(files[i].content), ErrorKind::kOutOfMemory);
    } else {
      EXPECT_EQ(text_of(files[i].content), bytes_of(i, 1000));
    }
  }
}

TEST_P(FileBatchTest, HasABoundedNumberOfFilesOpen) {
  auto files = batch_of(write_files(300, 100));
  std::size_t most = 0;
  const std::size_t before = descriptor_count();
  reader_->read_many(files, kBytesMax,
                     [&](std::size_t, std::size_t) { most = std::max(most, descriptor_count()); });
  EXPECT_LE(most, before + 1 + RingReader::kFilesMax);
  EXPECT_LE(descriptor_count(), before + 1);
}

TEST_P(FileBatchTest, GivesItsDescriptorsBackAtTheEnd) {
  const std::size_t before = descriptor_count();
  auto files = batch_of(write_files(10, 100));
  reader_->read_many(files, kBytesMax);
  reader_.reset();
  EXPECT_EQ(descriptor_count(), before);
}

TEST_F(FileTest, SaysWhetherItUsesARing) {
  const auto with = reader();
  const auto without = reader_without_ring();
  EXPECT_FALSE(with->stats().uses_io_uring);
  EXPECT_EQ(with->stats().io_uring_refusal, "");
  EXPECT_FALSE(without->stats().uses_io_uring);
  EXPECT_THAT(without->stats().io_uring_refusal, HasSubstr("use_io_uring"));
  auto files = batch_of(write_files(2, 10));
  with->read_many(files, kBytesMax);
  EXPECT_NE(with->stats().uses_io_uring, !with->stats().io_uring_refusal.empty());
}

}  // namespace
}  // namespace iceblink::client
