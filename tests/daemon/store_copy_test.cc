// Copies of the store that are made while it is used, and what damage does to them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <future>
#include <thread>

#include "daemon/backups.h"
#include "daemon/store_file.h"
#include "tests/daemon/catalog_fixture.h"

namespace iceblink::daemon {
namespace {

constexpr std::size_t kPageBytes = 4096;

class StoreCopyTest : public ::testing::Test {
 protected:
  void open(std::uint64_t map_bytes) {
    StoreOptions options;
    options.map_bytes = map_bytes;
    store_ = open_store(dir_.path(), options);
  }
  void fill(int first, int end) {
    for (int i = first; i < end; ++i) {
      commit(*store_,
             {CreateNamespace{{"n" + std::to_string(i)}, {{"k", std::string(3000, 'v')}}}});
    }
  }
  Result<std::shared_ptr<const Backup>> backup() const {
    Backups backups(*store_, dir_.path());
    std::promise<Result<std::shared_ptr<const Backup>>> made;
    backups.make([&](Result<std::shared_ptr<const Backup>> backup) { made.set_value(backup); });
    auto result = made.get_future().get();
    backups.stop();
    return result;
  }

  test::ScratchDir dir_;
  std::unique_ptr<Store> store_;
};

// The reader of a pipe decides how long the copy takes.
TEST_F(StoreCopyTest, HoldsUpNoCommitThatFillsTheMap) {
  open(1 << 20);
  fill(0, 60);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  Status copied = Ok{};
  std::thread copying([&] {
    copied = store_->copy_to(ends[1]);
    ::close(ends[1]);
  });
  std::array<char, kPageBytes> part{};
  EXPECT_GT(::read(ends[0], part.data(), 1), 0) << "it has begun, and cannot end";
  const auto map_bytes = store_->extent().map_bytes;
  for (int i = 60; store_->extent().map_bytes == map_bytes; ++i) fill(i, i + 1);
  while (::read(ends[0], part.data(), part.size()) > 0) {
  }
  copying.join();
  ::close(ends[0]);
  EXPECT_TRUE(copied) << copied.error().message();
}

TEST_F(StoreCopyTest, ADamagedStoreFailsItsBackupAndNothingElse) {
  open(1 << 24);
  fill(0, 40);
  ASSERT_TRUE(backup());
  const std::string file = dir_ / "lmdb/data.mdb";
  const int data = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(data, 0);
  int refused = 0;
  const std::size_t file_bytes = std::filesystem::file_size(file);
  std::array<char, kPageBytes> page{};
  for (std::size_t at = 2 * kPageBytes; at < file_bytes; at += kPageBytes) {
    ASSERT_EQ(::pread(data, page.data(), page.size(), static_cast<off_t>(at)), kPageBytes);
    // Behind the page's number and flags: offsets and lengths that lead anywhere.
    const std::string damage(kPageBytes - 12, '\xee');
    ASSERT_EQ(::pwrite(data, damage.data(), damage.size(), static_cast<off_t>(at + 12)),
              static_cast<ssize_t>(damage.size()));
    const auto damaged = backup();
    if (!damaged) {
      ++refused;
      EXPECT_EQ(damaged.error().kind(), ErrorKind::kCorrupt) << damaged.error().message();
    }
    ASSERT_EQ(::pwrite(data, page.data(), page.size(), static_cast<off_t>(at)), kPageBytes);
  }
  ::close(data);
  EXPECT_GT(refused, 2) << "pages that are in use";
  EXPECT_TRUE(backup());
  fill(40, 41);
  EXPECT_EQ(read(*store_)->generation(), 42u);
}

}  // namespace
}  // namespace iceblink::daemon
