// Reads when there is no memory. This program refuses itself some, so it is one of its own.
#include <cstdlib>
#include <new>

#include "tests/client/file_fixture.h"

namespace {

thread_local bool is_memory_refused = false;

void* allocated(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return allocated(is_memory_refused ? nullptr : std::malloc(bytes));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return allocated(is_memory_refused ? nullptr : std::malloc(bytes));
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete[](void* block) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::size_t) noexcept {
  std::free(block);
}

namespace iceblink::client {
namespace {

using namespace testing;

class FileMemoryTest : public FileTest {};

TEST_F(FileMemoryTest, LosesItsRingWithoutMemoryToSaySo) {
  if (!has_ring()) GTEST_SKIP() << "no ring to lose";
  const auto paths = write_files(300, 1000);
  in_a_child([&] {
    const auto robbed = reader();
    auto files = batch_of(paths);
    std::size_t told_count = 0;
    robbed->read_many(files, kBytesMax, [&](std::size_t, std::size_t) {
      if (++told_count != 100) return;
      close_ring_descriptors();
      is_memory_refused = true;
    });
    is_memory_refused = false;
    std::size_t failed_count = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].content) {
        EXPECT_EQ(text_of(files[i].content), bytes_of(i, 1000));
        continue;
      }
      EXPECT_EQ(kind_of(files[i].content), ErrorKind::kOutOfMemory);
      ++failed_count;
    }
    EXPECT_GE(failed_count, 200u);
    expect_all_read(*robbed, paths, 1000);
  });
}

}  // namespace
}  // namespace iceblink::client
