// What becomes of files, locks and a start where the kernel refuses a call.
#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "shm/arena_builder.h"
#include "shm/directory_lock.h"
#include "shm/file_mapping.h"
#include "tests/shm/memory_store.h"
#include "tests/shm/refused_call.h"

namespace iceblink::shm {
namespace {

using testing::end_with;
using testing::MemoryStore;
using testing::RefusedCall;
using testing::TempDir;

class RefusedCalls : public ::testing::Test {
 protected:
  /// In a child; nothing may be left in the directory but what is `left`.
  template <typename Try>
  void expect_error(const RefusedCall& call, ErrorKind kind, Try&& attempt,
                    std::size_t left = 0) const {
    EXPECT_EXIT(end_with(call,
                         [&] {
                           const auto tried = attempt();
                           return !tried.ok() && tried.error().kind() == kind;
                         }),
                ::testing::ExitedWithCode(0), "");
    const std::filesystem::directory_iterator files(dir_.path());
    EXPECT_EQ(std::distance(begin(files), end(files)), static_cast<std::ptrdiff_t>(left));
  }
  [[nodiscard]] std::string path() const { return dir_.path() + "/file"; }

  const TempDir dir_;
};

TEST_F(RefusedCalls, AFileWhoseModeCannotBeSetIsNotMade) {
  expect_error({SYS_fchmod, EPERM}, ErrorKind::kNotAllowed,
               [&] { return WriteMapping::create(path(), 4096); });
}

TEST_F(RefusedCalls, AFileThatCannotBeMappedIsNotMade) {
  expect_error({SYS_mmap, ENOMEM, 3, MAP_SHARED}, ErrorKind::kOutOfMemory,
               [&] { return WriteMapping::create(path(), 4096); });
}

TEST_F(RefusedCalls, AFileThatCannotBeMappedIsNotRead) {
  ASSERT_OK(WriteMapping::create(path(), 4096));
  expect_error(
      {SYS_mmap, ENOMEM, 3, MAP_SHARED}, ErrorKind::kOutOfMemory,
      [&] { return ReadMapping::open(path()); }, 1);
}

#ifndef __SANITIZE_THREAD__  // which looks by another call
TEST_F(RefusedCalls, AFileThatCannotBeLookedAtIsNotRead) {
  ASSERT_OK(WriteMapping::create(path(), 4096));
  expect_error(
      {SYS_newfstatat, EIO, 3, AT_EMPTY_PATH}, ErrorKind::kIo,
      [&] { return ReadMapping::open(path()); }, 1);
}
#endif

TEST_F(RefusedCalls, AnArenaWithoutRoomIsNotMade) {
  ArenaParameters parameters;
  parameters.index_capacity = 64;
  expect_error({SYS_fallocate, ENOSPC}, ErrorKind::kNoSpace,
               [&] { return create_arena(dir_.path(), parameters); });
}

TEST_F(RefusedCalls, AKernelThatKnowsNoPopulateStillMakesFiles) {
  EXPECT_EXIT(end_with({SYS_madvise, EINVAL, 2, MADV_POPULATE_WRITE},
                       [&] { return WriteMapping::create(path(), (4 << 20) + 4096).ok(); }),
              ::testing::ExitedWithCode(0), "");
}

TEST_F(RefusedCalls, AKernelThatKnowsNoAdviceStillMakesFiles) {
  EXPECT_EXIT(
      end_with({SYS_madvise, EINVAL}, [&] { return WriteMapping::create(path(), 4 << 20).ok(); }),
      ::testing::ExitedWithCode(0), "");
}

TEST_F(RefusedCalls, SpaceThatCannotBeToldIsTakenForEnough) {
  EXPECT_EXIT(end_with({SYS_statfs, ENOSYS},
                       [&] { return free_bytes_of(dir_.path()) == 4 * kArenaBytesMax; }),
              ::testing::ExitedWithCode(0), "");
}

TEST_F(RefusedCalls, ADirectoryIsNotLockedWhereTheLockFails) {
  const auto take = [&] { return DirectoryLock::take(dir_.path()); };
  constexpr std::size_t kTheLock = 1;
  expect_error({SYS_fchmod, EPERM}, ErrorKind::kNotAllowed, take, kTheLock);
  expect_error({SYS_fcntl, ENOLCK, 1, F_OFD_SETLK}, ErrorKind::kIo, take, kTheLock);
  expect_error({SYS_fcntl, EACCES, 1, F_OFD_SETLK}, ErrorKind::kConflict, take, kTheLock);
  expect_error({SYS_ftruncate, EIO}, ErrorKind::kIo, take, kTheLock);
  expect_error({SYS_pwrite64, ENOSPC}, ErrorKind::kNoSpace, take, kTheLock);
}

TEST_F(RefusedCalls, ADirectoryThatCannotBeListedIsAnErrorAndAStartGoesOn) {
  std::ofstream(dir_.path() + "/arena.9") << "of another time";
  constexpr RefusedCall kNoListing{SYS_getdents64, EIO};
  expect_error(
      kNoListing, ErrorKind::kIo, [&] { return list_arenas(dir_.path()); }, 1);
  EXPECT_EXIT(end_with(kNoListing,
                       [&] {
                         MemoryStore store;
                         return store.start(dir_.path()).ok();
                       }),
              ::testing::ExitedWithCode(0), "");
}

TEST_F(RefusedCalls, AStartWithoutRoomIsAnErrorAndLeavesNoArena) {
  constexpr std::size_t kTheLock = 1;
  expect_error(
      {SYS_fallocate, ENOSPC}, ErrorKind::kNoSpace,
      [&] {
        MemoryStore store;
        return store.start(dir_.path());
      },
      kTheLock);
}

TEST_F(RefusedCalls, APageThatCannotBeNamedLeavesNoArena) {
  constexpr std::size_t kTheLock = 1;
  expect_error(
      {SYS_link, EPERM}, ErrorKind::kNotAllowed,
      [&] {
        MemoryStore store;
        return store.start(dir_.path());
      },
      kTheLock);
}

TEST_F(RefusedCalls, APageWhoseArenaIsGoneIsNotAdoptedWithoutAListing) {
  MemoryStore store;
  ASSERT_OK(store.start(dir_.path()));
  store.stop();
  std::filesystem::remove(dir_.path() + "/arena.1");
  constexpr std::size_t kFiles = 2;
  expect_error(
      {SYS_getdents64, EIO}, ErrorKind::kIo, [&] { return store.start(dir_.path()); }, kFiles);
}

TEST_F(RefusedCalls, AStartWithoutABuilderThreadIsAnError) {
  constexpr std::size_t kFiles = 3;  // the lock, the page, its arena
  expect_error(
      {SYS_clone3, EAGAIN}, ErrorKind::kIo,
      [&] {
        MemoryStore store;
        return store.start(dir_.path());
      },
      kFiles);
}

TEST_F(RefusedCalls, APageThatCannotBeMappedIsNotReplaced) {
  MemoryStore store;
  ASSERT_OK(store.start(dir_.path()));
  store.stop();
  store.options.on_foreign_control = PublisherOptions::OnForeignControl::kReplace;
  constexpr std::size_t kFiles = 3;
  expect_error(
      {SYS_mmap, ENOMEM, 3, MAP_SHARED}, ErrorKind::kOutOfMemory,
      [&] { return store.start(dir_.path()); }, kFiles);
}

}  // namespace
}  // namespace iceblink::shm
