// Whose the directories are that the daemon makes below its write roots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "daemon/warehouse_group.h"
#include "daemon/write_roots.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::daemon {
namespace {

using ::testing::HasSubstr;

/// Needs no name: groups are numbers.
constexpr gid_t kGroup = 54321;

class WarehouseDirectories : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives directories to a group it is not in";
  }

  void open(const std::string& file, std::optional<gid_t> group) const {
    const auto roots = WriteRoots::of({dir_ / "data/wh"}, {}, group);
    ASSERT_TRUE(roots);
    const auto place = roots->open_parent(dir_ / file, WriteRoots::Missing::kIsMade);
    ASSERT_TRUE(place) << place.error().message();
  }
  mode_t mode(const std::string& path) const { return status_of(path).st_mode & 07777u; }
  gid_t group(const std::string& path) const { return status_of(path).st_gid; }

  test::ScratchDir dir_;

 private:
  struct stat status_of(const std::string& path) const {
    struct stat status {};
    EXPECT_EQ(::stat((dir_ / path).c_str(), &status), 0) << path;
    return status;
  }
};

TEST_F(WarehouseDirectories, AreSharedWithTheGroup) {
  open("data/wh/ns/t/metadata/f", kGroup);
  for (const char* const path : {"data/wh", "data/wh/ns", "data/wh/ns/t/metadata"}) {
    EXPECT_EQ(mode(path), 02775u) << path;
    EXPECT_EQ(group(path), kGroup) << path;
  }
  EXPECT_EQ(mode("data"), 0755u) << "what is above the root is not shared";
  EXPECT_NE(group("data"), kGroup);
}

TEST_F(WarehouseDirectories, AreTheOwnersWithoutAGroup) {
  open("data/wh/ns/t/metadata/f", std::nullopt);
  for (const char* const path : {"data/wh", "data/wh/ns", "data/wh/ns/t/metadata"}) {
    EXPECT_EQ(mode(path), 0755u) << path;
  }
}

TEST_F(WarehouseDirectories, ThatAreThereAreLeftAsTheyAre) {
  std::filesystem::create_directories(dir_ / "data/wh/ns");
  ASSERT_EQ(::chmod((dir_ / "data/wh").c_str(), 0700), 0);
  open("data/wh/ns/t/f", kGroup);
  EXPECT_EQ(mode("data/wh"), 0700u);
  EXPECT_NE(group("data/wh/ns"), kGroup);
  EXPECT_EQ(mode("data/wh/ns/t"), 02775u);
}

TEST_F(WarehouseDirectories, CanBeMadeBeforeTheyAreWrittenTo) {
  const auto roots = WriteRoots::of({dir_ / "a/wh", "file://" + (dir_ / "b")}, {}, kGroup);
  ASSERT_TRUE(roots);
  ASSERT_TRUE(roots->make_roots());
  EXPECT_EQ(mode("a/wh"), 02775u);
  EXPECT_EQ(mode("b"), 02775u);
  ASSERT_TRUE(roots->make_roots()) << "a second time";
}

TEST(WarehouseGroup, IsAGroupOfThisHost) {
  const auto root = warehouse_group("root");
  ASSERT_TRUE(root);
  EXPECT_EQ(*root, gid_t{0});
  const auto missing = warehouse_group("no-such-group");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(missing.error().message(), HasSubstr("'no-such-group': there is no such group"));
}

TEST(WarehouseGroup, IsNotNeeded) {
  EXPECT_TRUE(warehouse_group(""));
}

}  // namespace
}  // namespace iceblink::daemon
