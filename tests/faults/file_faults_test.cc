// The library of faults itself: this program runs a part of itself under it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <sstream>
#include <thread>
#include <vector>

#include "faults/fault_page.h"
#include "faults/plan.h"
#include "faults/record.h"
#include "tests/faults/faulty_child.h"

namespace iceblink::test {
namespace {

using faults::Action;
using faults::Call;
using faults::FaultPage;
using faults::RecordHead;
using faults::RecordKind;

class FileFaults : public ::testing::Test {
 protected:
  FileFaults() {
    char path[] = "/tmp/iceblink-faults-XXXXXX";
    dir_ = ::mkdtemp(path);
  }
  ~FileFaults() override { std::filesystem::remove_all(dir_); }

  std::string dir_;
};

// Pieces run where the tests stand that made them: in a directory of their own.
int open_new(const std::string& name) {
  return ::open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
}

const FaultyPiece writes_in_four_threads("writes in four threads", [] {
  std::vector<std::thread> threads;
  std::atomic<int> written{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&written, t] {
      const int fd = open_new(std::to_string(t));
      for (int i = 0; i < 50; ++i) written += static_cast<int>(::pwrite(fd, "x", 1, i));
      ::close(fd);
    });
  }
  for (auto& thread : threads) thread.join();
  PIECE_REQUIRE(written == 200);
  return 0;
});

TEST_F(FileFaults, SlowsWritesByTheSeed) {
  // 200 writes in four threads, of 1 ms on average: what the slowest thread waits, at least.
  faults::Plan plan;
  plan.seed = 3;
  plan.delay_mean_us = 1000;
  std::uint64_t sum_us = 0;
  for (std::uint64_t i = 0; i < 200; ++i) sum_us += faults::delay_us(plan, i);
  const auto begun_at = std::chrono::steady_clock::now();
  EXPECT_EQ(run_under_faults("slow:3:1000", "writes in four threads", dir_), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begun_at, std::chrono::microseconds(sum_us / 4));
  EXPECT_EQ(std::filesystem::file_size(dir_ + "/3"), 50u);
}

TEST_F(FileFaults, RefusesToRunUnderAnUnknownPlan) {
  EXPECT_EQ(run_under_faults("quick:1", "writes in four threads", dir_), 127);
}

const FaultyPiece fails_the_third("fails the third write", [] {
  const int fd = open_new("f");
  PIECE_REQUIRE(::pwrite(fd, "a", 1, 0) == 1);
  PIECE_REQUIRE(::pwrite(fd, "b", 1, 1) == 1);
  PIECE_REQUIRE(::pwrite(fd, "c", 1, 2) == -1);
  PIECE_REQUIRE(errno == EDQUOT);
  PIECE_REQUIRE(::pwrite(fd, "d", 1, 2) == 1);
  ::close(fd);
  return 0;
});

TEST_F(FileFaults, FailsTheNthCallOnceWithoutCarryingItOut) {
  EXPECT_EQ(run_under_faults("fail:pwrite:3:EDQUOT", "fails the third write", dir_), 0);
  std::ifstream file(dir_ + "/f");
  std::string text;
  file >> text;
  EXPECT_EQ(text, "abd");
}

const FaultyPiece writes_a_half("writes a half", [] {
  const int fd = open_new("f");
  char first[] = "abc";
  char second[] = "defgh";
  const struct iovec parts[] = {{first, 3}, {second, 5}};
  PIECE_REQUIRE(::writev(fd, parts, 2) == 4);
  PIECE_REQUIRE(::writev(fd, parts, 2) == 8);
  ::close(fd);
  return 0;
});

TEST_F(FileFaults, CarriesAShortCallOutForAHalf) {
  EXPECT_EQ(run_under_faults("short:writev:1", "writes a half", dir_), 0);
  EXPECT_EQ(std::filesystem::file_size(dir_ + "/f"), 12u);
}

const FaultyPiece syncs_thrice("syncs thrice", [] {
  const int fd = open_new("f");
  PIECE_REQUIRE(::fsync(fd) == 0);
  PIECE_REQUIRE(::fsync(fd) == -1);
  PIECE_REQUIRE(errno == EIO);
  PIECE_REQUIRE(::fsync(fd) == 0);
  ::close(fd);
  return 0;
});

TEST_F(FileFaults, IsArmedThroughThePage) {
  const std::string file = dir_ + "/page";
  const int fd = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(::ftruncate(fd, sizeof(FaultPage)), 0);
  void* const at = ::mmap(nullptr, sizeof(FaultPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  ASSERT_NE(at, MAP_FAILED);
  auto* const page = new (at) FaultPage;
  page->action = Action::kFail;
  page->call = static_cast<std::uint32_t>(Call::kFsync);
  page->at_number = 2;
  page->error = EIO;
  page->is_counting = 1;
  EXPECT_EQ(run_under_faults("page:" + file, "syncs thrice", dir_), 0);
  EXPECT_EQ(page->fired_count.load(), 1u);
  EXPECT_EQ(std::string(page->fired_on), dir_ + "/f");
  EXPECT_EQ(page->counts[static_cast<std::size_t>(Call::kFsync)].load(), 3u);
  ::munmap(at, sizeof(FaultPage));
}

const FaultyPiece makes_a_file("makes a file as the daemon does", [] {
  const std::string dir = std::filesystem::current_path().string() + "/d";
  PIECE_REQUIRE(::mkdir(dir.c_str(), 0700) == 0);
  const int dir_fd = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int fd = ::openat(dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  PIECE_REQUIRE(fd >= 0);
  PIECE_REQUIRE(::write(fd, "whole", 5) == 5);
  PIECE_REQUIRE(::fsync(fd) == 0);
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  PIECE_REQUIRE(::linkat(AT_FDCWD, link.c_str(), dir_fd, "name", AT_SYMLINK_FOLLOW) == 0);
  PIECE_REQUIRE(::fsync(dir_fd) == 0);
  const int synced = ::open((dir + "/s").c_str(), O_CREAT | O_WRONLY | O_DSYNC | O_CLOEXEC, 0600);
  PIECE_REQUIRE(::pwrite(synced, "s", 1, 7) == 1);
  PIECE_REQUIRE(::rename((dir + "/s").c_str(), (dir + "/t").c_str()) == 0);
  PIECE_REQUIRE(::unlink((dir + "/t").c_str()) == 0);
  ::close(synced);
  ::close(fd);
  ::close(dir_fd);
  return 0;
});

// One line an entry.
std::string text_of_record(const std::string& file, const std::string& dir) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  RecordHead head;
  std::map<std::uint64_t, std::string> names{{0, "-"}};
  while (in.read(reinterpret_cast<char*>(&head), sizeof head)) {
    std::string path(head.path_bytes, '\0');
    std::string data(head.data_bytes, '\0');
    in.read(path.data(), head.path_bytes);
    in.read(data.data(), head.data_bytes);
    if (head.kind == RecordKind::kSend) continue;
    if (!path.empty() && path.find(dir) != 0) continue;
    names.try_emplace(head.inode, "f" + std::to_string(names.size()));
    text << static_cast<int>(head.kind) << ' ' << names[head.inode] << ' ' << head.offset
         << (head.is_durable != 0 ? " durable " : " ")
         << (path.empty() ? "" : path.substr(dir.size())) << ' '
         << (data.find(dir) == 0 ? data.substr(dir.size()) : data) << '\n';
  }
  return text.str();
}

TEST_F(FileFaults, RecordsWhatIsDoneToFilesInOrder) {
  const std::string record = dir_ + "/record";
  EXPECT_EQ(run_under_faults("record:" + record, "makes a file as the daemon does", dir_), 0);
  EXPECT_EQ(text_of_record(record, dir_),
            "7 - 0 /d \n"          // kMkdir
            "0 f1 0  \n"           // kCreate, without a name
            "1 f1 0  whole\n"      // kWrite
            "9 f1 0  \n"           // kSync of the file
            "4 f1 0 /d/name \n"    // kLink
            "9 - 0 /d \n"          // kSync of the directory
            "0 f2 0 /d/s \n"       // kCreate
            "1 f2 7 durable  s\n"  // kWrite by O_DSYNC
            "6 - 0 /d/s /d/t\n"    // kRename
            "5 - 0 /d/t \n");      // kUnlink
}

}  // namespace
}  // namespace iceblink::test
