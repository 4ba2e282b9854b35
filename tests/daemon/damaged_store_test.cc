// What a store's directory may hold that is no store, or is one no more.
#include <gmock/gmock.h>
#include <lmdb.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "daemon/data_dir.h"
#include "daemon/store.h"
#include "tests/daemon/catalog_fixture.h"

namespace iceblink::daemon {
namespace {

using ::testing::HasSubstr;

class DamagedStoreTest : public ::testing::Test {
 protected:
  Error open_error() const {
    StoreOptions options;
    options.data_dir = dir_.path();
    options.map_bytes = 1 << 24;
    const auto store = Store::open(options);
    return store ? Error(ErrorKind::kInternal, "it opened") : store.error();
  }
  void make_store_dir() const { std::filesystem::create_directory(dir_ / "lmdb"); }
  std::string file() const { return dir_ / "lmdb/data.mdb"; }

  test::ScratchDir dir_;
};

TEST_F(DamagedStoreTest, RefusesAFileThatIsNotLmdb) {
  make_store_dir();
  dir_.write("lmdb/data.mdb", std::string(16384, 'x'));
  EXPECT_EQ(open_error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(open_error().message(), HasSubstr(file()));
}

TEST_F(DamagedStoreTest, RefusesAFileOfAFewBytes) {
  make_store_dir();
  dir_.write("lmdb/data.mdb", "not a store");
  EXPECT_EQ(open_error().kind(), ErrorKind::kCorrupt);
}

TEST_F(DamagedStoreTest, RefusesAFileThatWasCutShort) {
  {
    const auto store = open_store(dir_.path());
    for (int i = 0; i < 50; ++i) {
      commit(*store, {CreateNamespace{{"n" + std::to_string(i)}, {{"k", std::string(3000, 'v')}}}});
    }
  }
  std::filesystem::resize_file(file(), 3 * 4096);
  EXPECT_EQ(open_error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(open_error().message(), HasSubstr("cut short: 12288 bytes"));
}

// A page that LMDB asserts about: it would abort without a word about the file.
TEST_F(DamagedStoreTest, NamesTheFileWhenLmdbGivesUp) {
  {
    const auto store = open_store(dir_.path());
    for (int i = 0; i < 50; ++i) commit(*store, {CreateNamespace{{"n" + std::to_string(i)}, {}}});
  }
  std::fstream data(file(), std::ios::binary | std::ios::in | std::ios::out);
  const std::string page(4096, '\0');
  for (std::uint64_t at = 2 * page.size(); at < std::filesystem::file_size(file());) {
    data.seekp(static_cast<std::streamoff>(at));
    data.write(page.data(), static_cast<std::streamsize>(page.size()));
    at += page.size();
  }
  data.close();
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_EXIT(
      {
        const Error error = open_error();
        std::fputs(error.message().c_str(), stderr);
        ::_exit(70);
      },
      ::testing::ExitedWithCode(70), file());
}

TEST_F(DamagedStoreTest, RefusesAnotherProgramsLmdb) {
  MDB_env* env = nullptr;
  ASSERT_EQ(mdb_env_create(&env), 0);
  ASSERT_EQ(mdb_env_set_maxdbs(env, 4), 0);
  ASSERT_EQ(mdb_env_open(env, dir_.path().c_str(), 0, 0600), 0);
  MDB_txn* txn = nullptr;
  MDB_dbi database = 0;
  ASSERT_EQ(mdb_txn_begin(env, nullptr, 0, &txn), 0);
  ASSERT_EQ(mdb_dbi_open(txn, "mail", MDB_CREATE, &database), 0);
  ASSERT_EQ(mdb_txn_commit(txn), 0);
  mdb_env_close(env);
  EXPECT_EQ(open_error().kind(), ErrorKind::kIncompatible);
  EXPECT_THAT(open_error().message(), HasSubstr("not a store of iceblink's"));
}

TEST_F(DamagedStoreTest, RefusesAnotherFormatNamingBoth) {
  open_store(dir_.path());
  MDB_env* env = nullptr;
  ASSERT_EQ(mdb_env_create(&env), 0);
  ASSERT_EQ(mdb_env_set_maxdbs(env, 8), 0);
  ASSERT_EQ(mdb_env_open(env, (dir_ / "lmdb").c_str(), 0, 0600), 0);
  MDB_txn* txn = nullptr;
  MDB_dbi meta = 0;
  ASSERT_EQ(mdb_txn_begin(env, nullptr, 0, &txn), 0);
  ASSERT_EQ(mdb_dbi_open(txn, "meta", 0, &meta), 0);
  char name[] = "format";
  char value[] = {0, 0, 0, 0, 0, 0, 0, 9};
  MDB_val key{6, name};
  MDB_val data{8, value};
  ASSERT_EQ(mdb_put(txn, meta, &key, &data, 0), 0);
  ASSERT_EQ(mdb_txn_commit(txn), 0);
  mdb_env_close(env);
  EXPECT_EQ(open_error().kind(), ErrorKind::kIncompatible);
  EXPECT_THAT(open_error().message(), HasSubstr("format 9, this daemon knows format 1"));
}

TEST_F(DamagedStoreTest, RefusesAFileInPlaceOfTheDirectory) {
  dir_.write("file", "");
  StoreOptions options;
  options.data_dir = dir_ / "file";
  EXPECT_EQ(Store::open(options).error().kind(), ErrorKind::kInvalidArgument);
  options.data_dir = dir_ / "file/below";
  EXPECT_EQ(Store::open(options).error().kind(), ErrorKind::kInvalidArgument);
}

TEST(DataDir, KnowsNetworkFileSystems) {
  for (const std::uint32_t magic : {0x6969u, 0xff534d42u, 0xfe534d42u, 0x517bu, 0x01021997u}) {
    EXPECT_TRUE(network_filesystem(magic)) << std::hex << magic;
  }
  for (const std::uint32_t local : {0xef53u /* ext4 */, 0x01021994u /* tmpfs */,
                                    0x65735546u /* FUSE */, 0x58465342u /* XFS */}) {
    EXPECT_FALSE(network_filesystem(local)) << std::hex << local;
  }
}

}  // namespace
}  // namespace iceblink::daemon
