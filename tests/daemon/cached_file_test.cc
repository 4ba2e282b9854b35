#include "daemon/cached_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace iceblink::daemon {
namespace {

class FileAtOnce : public ::testing::Test {
 protected:
  FileAtOnce() {
    std::string name = ::testing::TempDir() + "/ib-cached.XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  ~FileAtOnce() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::string path(const char* name) const { return directory_ + "/" + name; }

 private:
  std::string directory_;
};

TEST_F(FileAtOnce, IsReadWholeOrNotAtAll) {
  const std::string bytes(50'000, 'x');
  std::ofstream(path("f")) << bytes;
  // A file system may be without what it takes; then nothing is right, and anything else wrong.
  EXPECT_EQ(read_if_cached(path("f"), 50'000).value_or(bytes), bytes);
  EXPECT_FALSE(read_if_cached(path("f"), 49'999).has_value());
}

TEST_F(FileAtOnce, IsNothingWhenItIsMissingEmptyOrNoFile) {
  EXPECT_FALSE(read_if_cached(path("missing"), 100).has_value());
  std::ofstream(path("empty")) << "";
  EXPECT_FALSE(read_if_cached(path("empty"), 100).has_value());
  EXPECT_FALSE(read_if_cached(path("."), 100'000).has_value());
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(read_if_cached(path("fifo"), 100).has_value());
}

}  // namespace
}  // namespace iceblink::daemon
