// Threads that read at once, and processes that fork.
#include <atomic>
#include <barrier>
#include <cstddef>
#include <future>
#include <thread>

#include "client/ring_pool.h"
#include "tests/client/file_fixture.h"
#include "tests/client/held_read.h"

namespace iceblink::client {
namespace {

using namespace testing;

class FileProcessTest : public FileTest {};

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

TEST_F(FileProcessTest, ReadsThroughARingWhenOthersReadAsWell) {
  const bool is_ring_expected = has_ring();
  const auto paths = write_files(17, 1000);
  const auto shared = reader();
  HeldRead held(*shared, {paths[16]});
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(text_of(shared->read(paths[i], kBytesMax)), bytes_of(i, 1000));
  }
  held.let_go();
  EXPECT_EQ(text_of(held.files[0].content), bytes_of(16, 1000));
  EXPECT_EQ(shared->stats().ring_file_count, is_ring_expected ? 16u : 0u);
}

TEST_F(FileProcessTest, KeepsARingForBatches) {
  const bool is_ring_expected = has_ring();
  const auto paths = write_files(10, 1000);
  const auto shared = reader();
  std::vector<std::unique_ptr<HeldRead>> held;
  for (std::size_t i = 0; i <= RingPool::kRingsMax; ++i) {
    held.push_back(std::make_unique<HeldRead>(*shared, std::vector{paths[i]}));
  }
  expect_all_read(*shared, paths, 1000);
  EXPECT_EQ(shared->stats().ring_file_count, is_ring_expected ? paths.size() : 0u);
  for (auto& each : held) each->let_go();
  // All of the held ones but the first, which was alone, and the last, for which there was none.
  EXPECT_EQ(shared->stats().ring_file_count,
            is_ring_expected ? paths.size() + RingPool::kRingsMax - 1 : 0u);
}

TEST_F(FileProcessTest, GoesOnBesideReadsThatHang) {
  const auto paths = write_files(300, 1000);
  const auto shared = reader();
  const std::size_t before = descriptor_count();
  std::vector<std::unique_ptr<HeldRead>> hung;
  // A batch and a lone one, then batches until there are more than rings.
  for (std::size_t i = 0; i < RingPool::kRingsMax + 2; ++i) {
    const std::vector<std::string> pair{paths[0], paths[1]};
    hung.push_back(std::make_unique<HeldRead>(*shared, i == 1 ? std::vector{paths[0]} : pair));
    EXPECT_EQ(text_of(shared->read(paths[0], kBytesMax)), bytes_of(0, 1000));
    expect_all_read(*shared, paths, 1000);
    // Each has two files open at most, and there are no more rings than that.
    EXPECT_LE(descriptor_count(), before + 2 * hung.size() + RingPool::kRingsMax);
  }
  in_a_child([&] {
    // Not those that are open in the parent, but for what was just being opened.
    EXPECT_LE(descriptor_count(), before + hung.size());
    expect_all_read(*shared, paths, 1000);
    EXPECT_EQ(text_of(shared->read(paths[0], kBytesMax)), bytes_of(0, 1000));
  });
  for (auto& each : hung) {
    each->let_go();
    for (std::size_t i = 0; i < each->files.size(); ++i) {
      EXPECT_EQ(text_of(each->files[i].content), bytes_of(i, 1000));
    }
  }
  expect_all_read(*shared, paths, 1000);
}

TEST_F(FileProcessTest, ReadsOnInAChild) {
  const auto paths = write_files(100, 1000);
  const auto both = reader();
  expect_all_read(*both, paths, 1000);
  const bool is_ring_used = both->stats().uses_io_uring;
  const std::size_t before = descriptor_count();
  in_a_child([&] {
    EXPECT_LE(descriptor_count(), before - (is_ring_used ? 1 : 0));
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

// Their allocators stay locked in a child when a fork meets another thread in them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(FileProcessTest, ForksWhileOtherThreadsReadThroughRings) {
  const auto paths = write_files(200, 1000);
  const auto both = reader();
  HeldRead held(*both, paths);
  auto other = std::async(std::launch::async, [&] {
    for (int i = 0; i < 20; ++i) expect_all_read(*both, paths, 1000);
  });
  for (int i = 0; i < 3; ++i) {
    in_a_child([&] { expect_all_read(*both, paths, 1000); });
  }
  held.let_go();
  for (int i = 0; i < 10; ++i) {
    in_a_child([&] { expect_all_read(*both, paths, 1000); });
  }
  other.get();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(text_of(held.files[i].content), bytes_of(i, 1000));
  }
}
#endif

}  // namespace
}  // namespace iceblink::client
