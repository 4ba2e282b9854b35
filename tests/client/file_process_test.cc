// Threads that read at once, processes that fork, and systems that refuse.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <future>
#include <latch>
#include <thread>

#include "client/ring_reader.h"
#include "tests/client/file_fixture.h"

namespace iceblink::client {
namespace {

using namespace testing;

class FileProcessTest : public FileTest {
 protected:
  void expect_all_read(FileReader& reader, const std::vector<std::string>& paths,
                       std::size_t size) {
    auto files = batch_of(paths);
    reader.read_many(files, kBytesMax);
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_TRUE(text_of(files[i].content) == bytes_of(i, size))
          << (files[i].content ? "other bytes" : text_of(files[i].content));
    }
  }
};

/// A thread in the middle of a read, until it is let go.
class HeldRead {
 public:
  HeldRead(FileReader& reader, std::vector<std::string> paths)
      : thread_([this, &reader, paths = std::move(paths)] {
          files = batch_of(paths);
          const auto hold = [this](std::size_t, std::size_t) {
            if (std::exchange(is_first_, false)) {
              reached_.count_down();
              go_.wait();
            }
          };
          if (files.size() == 1) {
            files[0].content = reader.read(files[0].location, kBytesMax, hold);
          } else {
            reader.read_many(files, kBytesMax, hold);
          }
        }) {
    reached_.wait();
  }
  ~HeldRead() { let_go(); }
  void let_go() {
    if (!thread_.joinable()) return;
    go_.count_down();
    thread_.join();
  }
  std::vector<FileRead> files;

 private:
  bool is_first_ = true;
  std::latch reached_{1};
  std::latch go_{1};
  std::thread thread_;
};

TEST_F(FileProcessTest, ReadsFromManyThreadsAtOnce) {
  constexpr std::size_t kThreads = 64;
  constexpr std::size_t kRounds = 20;
  const auto paths = write_files(kThreads, 20'000);
  const auto shared = reader();
  std::barrier barrier(kThreads);
  std::atomic<std::size_t> wrong_count{0};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t round = 0; round < kRounds; ++round) {
          barrier.arrive_and_wait();
          if ((t + round) % 8 != 0) {
            const auto content = shared->read(paths[t], kBytesMax);
            if (text_of(content) != bytes_of(t, 20'000)) ++wrong_count;
            continue;
          }
          auto files = batch_of(paths);
          shared->read_many(files, kBytesMax);
          for (std::size_t i = 0; i < kThreads; ++i) {
            if (text_of(files[i].content) != bytes_of(i, 20'000)) ++wrong_count;
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong_count, 0u);
  EXPECT_EQ(shared->stats().file_count, kRounds * (kThreads * 7 / 8 + kThreads / 8 * kThreads));
}

TEST_F(FileProcessTest, SharesTheRingWhenOthersReadAsWell) {
  const bool is_ring_expected = has_ring();
  const auto paths = write_files(17, 1000);
  const auto shared = reader();
  HeldRead held(*shared, {paths[16]});
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 16; ++t) {
      threads.emplace_back(
          [&, t] { EXPECT_EQ(text_of(shared->read(paths[t], kBytesMax)), bytes_of(t, 1000)); });
    }
  }
  held.let_go();
  EXPECT_EQ(text_of(held.files[0].content), bytes_of(16, 1000));
  EXPECT_EQ(shared->stats().ring_file_count, is_ring_expected ? 16u : 0u);
}

TEST_F(FileProcessTest, HandsTheLeadOnWhenALeaderIsDone) {
  const auto paths = write_files(300, 1000);
  const auto shared = reader();
  HeldRead leader(*shared, {paths[0], paths[1]});
  std::vector<std::future<void>> followers;
  for (int i = 0; i < 4; ++i) {
    followers.push_back(
        std::async(std::launch::async, [&] { expect_all_read(*shared, paths, 1000); }));
  }
  leader.let_go();
  for (auto& follower : followers) follower.get();
  EXPECT_EQ(text_of(leader.files[1].content), bytes_of(1, 1000));
}

TEST_F(FileProcessTest, ReadsOnInAChild) {
  const auto paths = write_files(100, 1000);
  const auto both = reader();
  expect_all_read(*both, paths, 1000);
  const bool is_ring_used = both->stats().uses_io_uring;
  const std::size_t before = descriptor_count();
  in_a_child([&] {
    EXPECT_LE(descriptor_count(), before - (is_ring_used ? 2 : 0));
    EXPECT_FALSE(both->stats().uses_io_uring);
    EXPECT_EQ(text_of(both->read(paths[0], kBytesMax)), bytes_of(0, 1000));
    expect_all_read(*both, paths, 1000);
    EXPECT_EQ(both->stats().uses_io_uring, is_ring_used);
  });
  EXPECT_EQ(both->stats().uses_io_uring, is_ring_used);
  expect_all_read(*both, paths, 1000);
}

TEST_F(FileProcessTest, ForksWhileAnotherThreadReadsAlone) {
  const auto paths = write_files(100, 1000);
  const auto both = reader();
  const std::size_t before = descriptor_count();
  HeldRead held(*both, {paths[0]});
  in_a_child([&] {
    EXPECT_EQ(descriptor_count(), before) << "the file that the parent has open";
    EXPECT_EQ(text_of(both->read(paths[1], kBytesMax)), bytes_of(1, 1000));
    EXPECT_EQ(both->stats().ring_file_count, 0u) << "nobody else reads in the child";
    expect_all_read(*both, paths, 1000);
  });
  held.let_go();
  EXPECT_EQ(text_of(held.files[0].content), bytes_of(0, 1000));
}

TEST_F(FileProcessTest, ForksWhileOtherThreadsShareTheRing) {
  const auto paths = write_files(200, 1000);
  const auto both = reader();
  HeldRead leader(*both, paths);
  auto follower = std::async(std::launch::async, [&] {
    for (int i = 0; i < 20; ++i) expect_all_read(*both, paths, 1000);
  });
  for (int i = 0; i < 3; ++i) {
    in_a_child([&] { expect_all_read(*both, paths, 1000); });
  }
  leader.let_go();
  for (int i = 0; i < 10; ++i) {
    in_a_child([&] { expect_all_read(*both, paths, 1000); });
  }
  follower.get();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(text_of(leader.files[i].content), bytes_of(i, 1000));
  }
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

/// Lets the process open `more` descriptors than it has.
void limit_descriptors(std::size_t more) {
  int number = 0;
  for (std::size_t free_count = 0; free_count < more || is_open(number); ++number) {
    if (!is_open(number)) ++free_count;
  }
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = static_cast<rlim_t>(number);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST_F(FileProcessTest, GetsByWithFewDescriptors) {
  const auto paths = write_files(300, 1000);
  in_a_child([&] {
    const auto limited = reader();
    expect_all_read(*limited, {paths[0], paths[1]}, 1000);  // makes the ring
    const std::size_t before = descriptor_count();
    for (const std::size_t more : {5u, 1u}) {
      limit_descriptors(more);
      expect_all_read(*limited, paths, 1000);
    }
    limit_descriptors(100);
    EXPECT_EQ(descriptor_count(), before);
  });
}

TEST_F(FileProcessTest, FailsWithoutADescriptorAndRecovers) {
  const auto paths = write_files(100, 1000);
  in_a_child([&] {
    for (const bool has_ring : {true, false}) {
      const auto limited = has_ring ? reader() : reader_without_ring();
      expect_all_read(*limited, {paths[0], paths[1]}, 1000);
      limit_descriptors(0);
      auto files = batch_of(paths);
      limited->read_many(files, kBytesMax);
      const auto lone = limited->read(paths[0], kBytesMax);
      limit_descriptors(100);
      for (const FileRead& file : files) {
        EXPECT_EQ(kind_of(file.content), ErrorKind::kIo);
        EXPECT_THAT(text_of(file.content), HasSubstr(file.location + ": open: Too many open"));
      }
      EXPECT_EQ(kind_of(lone), ErrorKind::kIo);
      expect_all_read(*limited, paths, 1000);
    }
  });
}

/// From here on the system call fails with `code`, in this process.
void refuse_call(unsigned number, unsigned code) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof(filter) / sizeof(filter[0]), filter};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST_F(FileProcessTest, ReadsWithoutARingWhereOneIsRefused) {
  const auto paths = write_files(100, 1000);
  for (const unsigned call : {__NR_io_uring_setup, __NR_io_uring_register}) {
    in_a_child([&] {
      refuse_call(call, EPERM);
      const std::size_t before = descriptor_count();
      const auto refused = reader();
      expect_all_read(*refused, paths, 1000);
      EXPECT_FALSE(refused->stats().uses_io_uring);
      EXPECT_EQ(refused->stats().ring_file_count, 0u);
      EXPECT_EQ(refused->stats().file_count, paths.size());
      EXPECT_THAT(refused->stats().io_uring_refusal,
                  HasSubstr(call == __NR_io_uring_setup ? "io_uring_setup: Operation not permitted"
                                                        : "io_uring_register: Operation not"));
      EXPECT_EQ(descriptor_count(), before);
    });
  }
}

TEST_F(FileProcessTest, ReleasesItsFollowersWhereARingIsRefused) {
  const auto paths = write_files(100, 1000);
  in_a_child([&] {
    refuse_call(__NR_io_uring_setup, ENOMEM);
    const auto refused = reader();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] { expect_all_read(*refused, paths, 1000); });
    }
  });
}

TEST_F(FileProcessTest, RefusesRootsWhereTheyCannotBeKeptTo) {
  in_a_child([&] {
    refuse_call(__NR_openat2, ENOSYS);
    FileOptions options;
    options.read_roots = {dir_.path()};
    const auto made = FileReader::make(options);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(made.error().message(), HasSubstr("read_roots"));
    EXPECT_THAT(made.error().message(), HasSubstr("openat2: Function not implemented"));
  });
}

/// As a program does that tidies up after whom it does not know.
void close_ring_descriptors() {
  std::vector<int> rings;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == "anon_inode:[io_uring]") {
      rings.push_back(std::stoi(entry.path().filename()));
    }
  }
  for (const int fd : rings) ::close(fd);
}

TEST_F(FileProcessTest, ReadsOnWhenItsRingIsTakenAway) {
  if (!has_ring()) GTEST_SKIP() << "no ring to lose";
  const auto paths = write_files(300, 1000);
  in_a_child([&] {
    const auto robbed = reader();
    auto files = batch_of(paths);
    std::size_t told_count = 0;
    robbed->read_many(files, kBytesMax, [&](std::size_t, std::size_t) {
      if (++told_count == 100) close_ring_descriptors();
    });
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(text_of(files[i].content), bytes_of(i, 1000));
    }
    EXPECT_FALSE(robbed->stats().uses_io_uring);
    EXPECT_EQ(robbed->stats().io_uring_refusal, "io_uring_enter: Bad file descriptor");
    expect_all_read(*robbed, paths, 1000);
  });
}

}  // namespace
}  // namespace iceblink::client
