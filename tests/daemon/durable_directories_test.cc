#include "daemon/durable_directories.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "daemon/write_roots.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::daemon {
namespace {

namespace fs = std::filesystem;

OwnedFd open_directory(const std::string& path) {
  return OwnedFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

TEST(DurableDirectories, KnowADirectoryNotItsName) {
  const test::ScratchDir dir;
  const std::string path = dir / "d";
  fs::create_directory(path);
  DurableDirectories known;
  const OwnedFd first = open_directory(path);
  EXPECT_FALSE(known.has(path, first.get()));
  known.add(path, first.get());
  EXPECT_TRUE(known.has(path, first.get()));
  fs::rename(path, dir / "away");
  fs::create_directory(path);  // another one, made since
  const OwnedFd second = open_directory(path);
  EXPECT_FALSE(known.has(path, second.get()));
}

TEST(WriteRoots, MakesItsRootAndEverythingBelow) {
  const test::ScratchDir dir;
  const auto roots = WriteRoots::of({dir / "a/b/top"}, {});
  ASSERT_TRUE(roots);
  const std::string file = dir / "a/b/top/c/d/file";
  EXPECT_EQ(roots->open_parent(file, WriteRoots::Missing::kFails).error().kind(),
            ErrorKind::kNotFound);
  for (int i = 0; i < 2; ++i) {
    const auto place = roots->open_parent(file, WriteRoots::Missing::kIsMade);
    ASSERT_TRUE(place) << place.error().message();
    EXPECT_EQ(place->name, "file");
    EXPECT_TRUE(fs::is_directory(dir / "a/b/top/c/d"));
  }
  fs::remove_all(dir / "a/b/top/c");
  EXPECT_TRUE(roots->open_parent(file, WriteRoots::Missing::kIsMade));
  EXPECT_TRUE(fs::is_directory(dir / "a/b/top/c/d"));
}

}  // namespace
}  // namespace iceblink::daemon
