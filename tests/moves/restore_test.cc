// `iceblink backup` and `iceblinkd --restore`.
#include <sys/stat.h>

#include <fstream>

#include "tests/moves/moves_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Finished restore(const std::string& file, const std::string& data_dir,
                 std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"--restore", file, "--data-dir", data_dir});
  return Program("iceblinkd", more).wait();
}

class RestoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    catalog_ = std::make_unique<Catalog>(place_.world.open());
    ASSERT_OK(catalog_->create_namespace({"a"}, {{"k", "v"}}));
    for (int i = 0; i < 500; ++i) put("t" + std::to_string(i), "s3://old");
  }
  void put(const std::string& name, const std::string& location) {
    ASSERT_OK(World::put(*catalog_, {{"a"}, name}, location));
  }
  std::string backup() {
    const std::string file = folder_ / "catalog.backup";
    const Finished finished = place_.run({"backup", file, "--force"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_THAT(finished.out, StartsWith("backup of generation "));
    return file;
  }

  Folder folder_;
  Place place_;
  std::unique_ptr<Catalog> catalog_;
};

TEST_F(RestoreTest, ElsewhereIsTheSameCatalog) {
  const std::string file = backup();
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const Finished again = place_.run({"backup", file});
  EXPECT_EQ(again.exit_code, 4) << "it is not replaced";
  World other;
  const Finished restored = restore(file, other.data_dir());
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_EQ(restored.out,
            "restored generation " + std::to_string(*catalog_->generation()) + ", 500 tables\n");
  ASSERT_TRUE(other.start());
  const Finished exported = Program("iceblink", {"--dir", other.runtime_dir(), "export"}).wait();
  EXPECT_EQ(exported.out, place_.run({"export"}).out) << "the generation too";
}

TEST_F(RestoreTest, ReadersThatStaySeeAHigherGeneration) {
  const std::string file = backup();
  put("t1", "s3://new");
  const auto seen = catalog_->generation();
  ASSERT_OK(seen);
  EXPECT_EQ(place_.world.stop_daemon(), 0);
  EXPECT_EQ(restore(file, place_.world.data_dir(), {"--replace-store"}).exit_code, 0);
  ASSERT_TRUE(place_.world.start());
  const auto location = catalog_->resolve_location({{"a"}, "t1"});
  ASSERT_OK(location);
  EXPECT_EQ(*location, "s3://old");
  EXPECT_GT(*catalog_->generation(), *seen);
  put("t1", "s3://newer");
  EXPECT_EQ(place_.location_of("a.t1"), "s3://newer");
  EXPECT_EQ(place_.world.verify(), std::vector<std::string>{});
}

TEST_F(RestoreTest, AStoreThatIsThereIsKeptOrNotTouched) {
  const std::string file = backup();
  put("t1", "s3://new");
  const std::string data = place_.world.data_dir();
  const Finished running = restore(file, data, {"--replace-store"});
  EXPECT_EQ(running.exit_code, 4);
  EXPECT_THAT(running.err, HasSubstr("in use by another iceblinkd"));
  EXPECT_EQ(place_.world.stop_daemon(), 0);
  const Finished there = restore(file, data);
  EXPECT_EQ(there.exit_code, 4);
  EXPECT_THAT(there.err, HasSubstr("--replace-store"));
  const Finished replaced = restore(file, data, {"--replace-store"});
  ASSERT_EQ(replaced.exit_code, 0) << replaced.err;
  const std::string kPrefix = "the store before is kept in ";
  ASSERT_THAT(replaced.out, StartsWith(kPrefix + data + "/lmdb."));
  const std::string kept =
      replaced.out.substr(kPrefix.size(), replaced.out.find('\n') - kPrefix.size());
  World other;
  EXPECT_EQ(restore(kept + "/data.mdb", other.data_dir()).exit_code, 0);
  ASSERT_TRUE(other.start());
  const auto location = other.open().resolve_location({{"a"}, "t1"});
  ASSERT_OK(location);
  EXPECT_EQ(*location, "s3://new") << "what was replaced";
}

TEST_F(RestoreTest, WhatIsNoBackupIsRefusedAndTheStoreStays) {
  const std::string file = backup();
  const std::string data = place_.world.data_dir();
  const std::string before = place_.tables();
  EXPECT_EQ(place_.world.stop_daemon(), 0);
  const auto size = std::filesystem::file_size(file);
  for (const std::uint64_t cut : {std::uint64_t{0}, std::uint64_t{100}, size / 2, size - 1}) {
    std::filesystem::copy_file(file, folder_ / "cut",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder_ / "cut", cut);
    const Finished finished = restore(folder_ / "cut", data, {"--replace-store"});
    EXPECT_EQ(finished.exit_code, 5) << cut << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(folder_ / "cut"));
  }
  // Each page in turn is overwritten.
  std::ifstream stream(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  bytes.resize(bytes.size() / 4096 * 4096);  // without its checksum, which would see it first
  int refused = 0;
  int pages = 0;
  for (std::size_t at = 2 * 4096; at + 4096 <= bytes.size(); at += 4096, ++pages) {
    std::string damaged = bytes;
    damaged.replace(at, 4096, std::string(4096, '\xff'));
    const Finished finished =
        restore(folder_.put("damaged", damaged), folder_ / ("to" + std::to_string(at)));
    EXPECT_GE(finished.exit_code, 0) << "ended by a signal at page " << at / 4096;
    if (finished.exit_code != 0) ++refused;
  }
  EXPECT_EQ(refused, pages);
  EXPECT_EQ(restore("/nowhere", data, {"--replace-store"}).exit_code, 1);
  EXPECT_EQ(restore(folder_.put("text", "hello"), data, {"--replace-store"}).exit_code, 5);
  ASSERT_TRUE(place_.world.start());
  EXPECT_EQ(place_.tables(), before);
}

TEST_F(RestoreTest, AByteThatChangedIsSeenByTheChecksum) {
  const std::string file = backup();
  std::ifstream stream(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto at = bytes.find("s3://old");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 5] = 'c';
  const Finished changed = restore(folder_.put("changed", bytes), folder_ / "changed.data");
  EXPECT_EQ(changed.exit_code, 5);
  EXPECT_THAT(changed.err, HasSubstr("its SHA-256 is not"));
  bytes.resize(bytes.size() / 4096 * 4096);
  const Finished unseen = restore(folder_.put("unseen", bytes), folder_ / "unseen.data");
  EXPECT_EQ(unseen.exit_code, 0) << unseen.err;
  EXPECT_THAT(unseen.out, StartsWith("the file has no checksum"));
}

TEST_F(RestoreTest, AnErrorLeavesNothingBehind) {
  const std::string file = backup();
  const std::string data = place_.world.data_dir();
  EXPECT_EQ(place_.world.stop_daemon(), 0);
  write_file(data + "/lmdb/restore.tmp", "of one that was killed");
  EXPECT_EQ(restore(file, data).exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(data + "/lmdb/restore.tmp"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(restore(folder_ / "pipe", data, {"--replace-store"}).exit_code, 2);
  EXPECT_EQ(restore(folder_.put("empty", ""), data, {"--replace-store"}).exit_code, 5);
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    EXPECT_THAT(entry.path().filename().string(), ::testing::Not(StartsWith("lmdb.")));
  }
}

TEST_F(RestoreTest, ABackupReplacesFilesAndNothingElse) {
  std::filesystem::create_symlink(folder_ / "target", folder_ / "link");
  folder_.put("target", "before");
  EXPECT_EQ(place_.run({"backup", folder_ / "link"}).exit_code, 4);
  EXPECT_EQ(place_.run({"backup", folder_ / "link", "--force"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_GT(std::filesystem::file_size(folder_ / "target"), 4096U);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const char* const command : {"backup", "export"}) {
    std::vector<std::string> arguments{command, folder_ / "pipe", "--force"};
    if (arguments[0] == "export") arguments = {"export", "--output", folder_ / "pipe"};
    const Finished refused = place_.run(arguments);
    EXPECT_EQ(refused.exit_code, 5);
    EXPECT_THAT(refused.err, HasSubstr("not a regular file"));
    EXPECT_TRUE(std::filesystem::is_fifo(folder_ / "pipe"));
  }
  EXPECT_EQ(place_.run({"backup", folder_ / std::string(255, 'n')}).exit_code, 0);
}

std::size_t kept_stores(const std::string& data_dir) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_dir)) {
    if (entry.path().filename().string().starts_with("lmdb.")) ++count;
  }
  return count;
}

// Killed while it copies, and when the store before is being kept.
TEST_F(RestoreTest, WhereItIsKilledThereIsAWholeStore) {
  const std::string file = backup();
  const std::string data = place_.world.data_dir();
  put("t1", "s3://new");
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(place_.world.stop_daemon(), 0);
    const std::size_t kept = kept_stores(data);
    Program restoring("iceblinkd", {"--restore", file, "--data-dir", data, "--replace-store"});
    const std::string copy = data + "/lmdb/restore.tmp";
    while (kept_stores(data) == kept && (round % 2 == 1 || !std::filesystem::exists(copy))) {
    }
    restoring.signal(SIGKILL);
    restoring.wait();
    ASSERT_TRUE(place_.world.start());
    const auto location = catalog_->resolve_location({{"a"}, "t1"});
    ASSERT_OK(location);
    EXPECT_TRUE(*location == "s3://new" || *location == "s3://old") << *location;
    const std::string tables = place_.tables();
    EXPECT_EQ(std::count(tables.begin(), tables.end(), '\n'), 500);
    EXPECT_EQ(place_.world.verify(), std::vector<std::string>{});
  }
  EXPECT_EQ(place_.world.stop_daemon(), 0);
  EXPECT_EQ(restore(file, data, {"--replace-store"}).exit_code, 0) << "whatever was left behind";
}

TEST_F(RestoreTest, NeedsADirectoryAndAFile) {
  EXPECT_EQ(Program("iceblinkd", {"--restore", "x"}).wait().exit_code, 2);
  EXPECT_EQ(Program("iceblinkd", {"--replace-store", "--data-dir", "/nowhere"}).wait().exit_code,
            2);
  EXPECT_EQ(place_.run({"backup", folder_.path()}).exit_code, 5);
  EXPECT_EQ(place_.world.stop_daemon(), 0);
  EXPECT_EQ(place_.run({"backup", folder_ / "b"}).exit_code, 3);
}

}  // namespace
}  // namespace iceblink::test
