// What belongs to the daemon is out of the reach of locations, whatever the write roots say.
#include "daemon/own_directories.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "daemon/write_roots.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::daemon {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using enum WriteRoots::Missing;

class OwnDirectoriesTest : public ::testing::Test {
 protected:
  OwnDirectoriesTest() {
    fs::create_directories(dir_ / "data/lmdb");
    fs::create_directories(dir_ / "run");
    dir_.write("data/lmdb/data.mdb", "store");
    dir_.write("data/daemon.lock", "1");
    dir_.write("run/control", "page");
  }
  [[nodiscard]] OwnDirectories own() const { return {dir_ / "data", dir_ / "run"}; }
  [[nodiscard]] Status keep_out(const std::string& root) const {
    auto roots = WriteRoots::of({root}, {});
    return roots ? roots->keep_out_of(own()) : Status(roots.error());
  }
  /// Over all of it.
  [[nodiscard]] WriteRoots roots() const {
    auto roots = WriteRoots::of({dir_.path()}, {}).value();
    EXPECT_TRUE(roots.keep_out_of(own()));
    return roots;
  }

  test::ScratchDir dir_;
};

TEST_F(OwnDirectoriesTest, AreNoWriteRoots) {
  fs::create_symlink(dir_ / "data/lmdb", dir_ / "link");
  for (const char* const root :
       {"data/lmdb", "data/lmdb/below", "run", "run/a/b", "link", "link/below", "data//lmdb/./"}) {
    const Status refused = keep_out(dir_ / root);
    ASSERT_FALSE(refused) << root;
    EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(refused.error().message(), HasSubstr("the store's or the runtime directory"));
  }
}

TEST_F(OwnDirectoriesTest, MayLieBelowWriteRoots) {
  for (const std::string& root : {std::string("/"), dir_.path(), dir_ / "data",
                                  dir_ / "data/warehouse", dir_ / "data/lmdb-not", dir_ / "runs"}) {
    EXPECT_TRUE(keep_out(root)) << root;
  }
}

TEST_F(OwnDirectoriesTest, KeepTheirFiles) {
  fs::create_symlink("data/lmdb", dir_ / "link");
  const auto roots = this->roots();
  for (const char* const file :
       {"data/lmdb/data.mdb", "link/data.mdb", "data/daemon.lock", "run/control"}) {
    const Status refused = roots.remove(dir_ / file);
    ASSERT_FALSE(refused) << file;
    EXPECT_EQ(refused.error().kind(), ErrorKind::kNotAllowed);
    EXPECT_THAT(refused.error().message(), HasSubstr("a directory of the daemon's own"));
    EXPECT_TRUE(fs::exists(dir_ / file)) << file;
  }
}

TEST_F(OwnDirectoriesTest, GetNothingMadeInThem) {
  const auto roots = this->roots();
  for (const char* const file : {"data/lmdb/f", "data/lmdb/a/b/f", "run/a/f", "data/f"}) {
    EXPECT_FALSE(roots.open_parent(dir_ / file, kIsMade)) << file;
  }
  EXPECT_FALSE(fs::exists(dir_ / "data/lmdb/a"));
  EXPECT_FALSE(fs::exists(dir_ / "run/a"));
}

TEST_F(OwnDirectoriesTest, LeaveTheWarehouseThatIsBesideThem) {
  const auto roots = this->roots();
  const auto place = roots.open_parent(dir_ / "data/warehouse/t/f", kIsMade);
  ASSERT_TRUE(place) << place.error().message();
  dir_.write("data/warehouse/t/f", "x");
  EXPECT_TRUE(roots.remove(dir_ / "data/warehouse/t/f"));
  EXPECT_FALSE(fs::exists(dir_ / "data/warehouse/t/f"));
}

}  // namespace
}  // namespace iceblink::daemon
