// Reads where the system refuses: rings, descriptors, or what a host took away.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstddef>
#include <thread>

#include "client/ring_reader.h"
#include "tests/client/file_fixture.h"

namespace iceblink::client {
namespace {

using namespace testing;

class FileRefusalTest : public FileTest {};

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

TEST_F(FileRefusalTest, GetsByWithFewDescriptors) {
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

#ifndef __SANITIZE_ADDRESS__  // beside which UBSan needs descriptors of its own to look at objects
TEST_F(FileRefusalTest, FailsWithoutADescriptorAndRecovers) {
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

TEST_F(FileRefusalTest, TriesAgainForARingAfterAShortage) {
  const bool is_ring_expected = has_ring();
  const auto paths = write_files(100, 1000);
  in_a_child([&] {
    const auto limited = reader();
    limit_descriptors(0);
    auto files = batch_of(paths);
    limited->read_many(files, kBytesMax);
    const auto stats = limited->stats();
    limit_descriptors(100);
    EXPECT_FALSE(stats.uses_io_uring);
    if (is_ring_expected) {
      EXPECT_EQ(stats.io_uring_refusal, "io_uring_setup: Too many open files");
    }
    expect_all_read(*limited, paths, 1000);
    EXPECT_EQ(limited->stats().uses_io_uring, is_ring_expected);
    EXPECT_EQ(limited->stats().io_uring_refusal.empty(), is_ring_expected);
  });
}
#endif

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

TEST_F(FileRefusalTest, ReadsWithoutARingWhereOneIsRefused) {
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

TEST_F(FileRefusalTest, ReadsFromManyThreadsWhereARingIsRefused) {
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

TEST_F(FileRefusalTest, RefusesRootsWhereTheyCannotBeKeptTo) {
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

TEST_F(FileRefusalTest, ReadsOnWhenItsRingIsTakenAway) {
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

TEST_F(FileRefusalTest, LeavesDescriptorsAloneThatTheHostHasInstead) {
  if (!has_ring()) GTEST_SKIP() << "no ring to lose";
  const auto paths = write_files(300, 1000);
  in_a_child([&] {
    auto robbed = reader();
    std::vector<int> host_fds;
    // Under way in one ring, and idle in another.
    const auto rob = [&] {
      std::thread([&] { expect_all_read(*robbed, paths, 1000); }).join();
      const int host_fd = ::memfd_create("host", 0);
      host_fds = close_ring_descriptors();
      EXPECT_EQ(host_fds.size(), 2u);
      for (const int fd : host_fds) EXPECT_EQ(::dup2(host_fd, fd), fd);
      ::close(host_fd);
      std::thread([&] { EXPECT_TRUE(robbed->read(paths[0], kBytesMax).ok()); }).join();
    };
    auto files = batch_of(paths);
    std::size_t told_count = 0;
    robbed->read_many(files, kBytesMax, [&](std::size_t, std::size_t) {
      if (++told_count == 100) rob();
    });
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(text_of(files[i].content), bytes_of(i, 1000));
    }
    EXPECT_EQ(robbed->stats().io_uring_refusal, "io_uring_enter: Operation not supported");
    expect_all_read(*robbed, paths, 1000);
    robbed.reset();
    for (const int fd : host_fds) {
      struct stat status {};
      EXPECT_EQ(::fstat(fd, &status), 0) << "closed";
      EXPECT_EQ(status.st_size, 0) << "written to";
    }
  });
}

}  // namespace
}  // namespace iceblink::client
