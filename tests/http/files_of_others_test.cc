// Files that a client must not reach through the daemon, whatever its metadata names.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr char kTables[] = "/v1/namespaces/ns/tables";

std::string table(const std::string& name) {
  return std::string(kTables) + "/" + name;
}

/// How many POSIX locks this process holds.
int count_locks() {
  std::ifstream locks("/proc/locks");
  const std::string pid = " " + std::to_string(::getpid()) + " ";
  int count = 0;
  for (std::string line; std::getline(locks, line);) {
    count += line.find("POSIX") != std::string::npos && line.find(pid) != std::string::npos;
  }
  return count;
}

class FilesOfOthers : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
  }
  /// The location of its metadata file.
  std::string create(const std::string& name, const std::string& more = {}) {
    const auto made = connect().post(kTables, table_creation(name, more));
    EXPECT_EQ(made.status, 200) << made.body;
    return std::string(made.json().at("metadata-location").as_string());
  }
  static std::string path_of(const std::string& location) {
    return location.starts_with("file://") ? location.substr(7) : location;
  }
  /// A table whose metadata-log names `file`, and which deletes what falls out of its log.
  void register_deleting(const std::string& name, const std::string& file) {
    std::string text = table_metadata('7');
    const std::string own = path_of(file).substr(0, path_of(file).rfind('/'));
    const std::string none = R"("properties": {})";
    text.replace(text.find(none), none.size(),
                 R"("metadata-log":[{"timestamp-ms":1,"metadata-file":")" + file +
                     R"("}],"properties":{"write.metadata.path":")" + own +
                     R"(","write.metadata.delete-after-commit.enabled":"true",)"
                     R"("write.metadata.previous-versions-max":"1"})");
    register_table("ns", name, write_metadata(name + ".json", text));
  }
  void commit_to(const std::string& name, const std::string& value) {
    const auto done = connect().post(table(name), commit(set_property("k", value)));
    ASSERT_EQ(done.status, 200) << done.body;
  }
};

TEST_F(FilesOfOthers, TheStoresOwnAreNeverOpened) {
  const int before = count_locks();
  ASSERT_GT(before, 0);
  const std::string store_dir = settings_in(scratch()).data_dir + "/lmdb";
  const std::string link = scratch().path() + "/link";
  for (const char* const name : {"lock.mdb", "data.mdb"}) {
    fs::create_hard_link(store_dir + "/" + name, link);
    for (const std::string& location : {store_dir + "/" + name, link}) {
      const auto refused =
          connect().post("/v1/namespaces/ns/register",
                         R"({"name":"x","metadata-location":")" + location + R"("})");
      EXPECT_EQ(refused.status, 403) << refused.body;
      EXPECT_THAT(refused.error_message(), HasSubstr("own store"));
      register_table("ns", "unread", write_table("unread.json"));
      connect().del(table("unread"));
    }
    fs::remove(link);
  }
  EXPECT_EQ(count_locks(), before);
}

TEST_F(FilesOfOthers, AreNotDeletedAsOldMetadata) {
  const std::string victim = create("victim");
  register_deleting("thief", victim);
  commit_to("thief", "1");
  commit_to("thief", "2");
  EXPECT_TRUE(fs::exists(path_of(victim)));
  EXPECT_EQ(connect().get(table("victim")).status, 200);
}

TEST_F(FilesOfOthers, WithTheSameTableKeepTheirOldMetadata) {
  const std::string first =
      create("t", R"(,"properties":{"write.metadata.delete-after-commit.enabled":"true",)"
                  R"("write.metadata.previous-versions-max":"1"})");
  register_table("ns", "clone", first);
  commit_to("t", "1");
  commit_to("t", "2");
  commit_to("t", "3");
  EXPECT_EQ(connect().get(table("clone")).status, 200);
}

TEST_F(FilesOfOthers, AreNotPurgedWhereATableNamesThem) {
  const std::string victim = create("victim");
  create("thief");
  const std::string warehouse = settings_in(scratch()).warehouse;
  const auto named = connect().post(
      table("thief"),
      commit(R"({"action":"set-location","location":")" + warehouse + R"(/ns"},)" +
             R"({"action":"set-statistics","statistics":{"snapshot-id":1,"statistics-path":")" +
             victim +
             R"(","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}})"));
  ASSERT_EQ(named.status, 200) << named.body;
  EXPECT_EQ(connect().del(table("thief") + "?purgeRequested=true").status, 204);
  EXPECT_TRUE(fs::exists(path_of(victim)));
  EXPECT_EQ(connect().get(table("victim")).status, 200);
}

// The write roots of these tests cover the data directory.
TEST_F(FilesOfOthers, AreNotPurgedWhereTheyAreTheStores) {
  const std::string data_dir = settings_in(scratch()).data_dir;
  const std::string warehouse = settings_in(scratch()).warehouse;
  const auto refused =
      connect().post(kTables, table_creation("u", R"(,"location":")" + data_dir + R"(/lmdb")"));
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_THAT(refused.error_message(), HasSubstr("the daemon's own"));
  for (const std::string name : {"lmdb/data.mdb", "lmdb/lock.mdb", "daemon.lock"}) {
    const std::string file = data_dir + "/" + name;
    create("thief", R"(,"properties":{"write.metadata.path":")" + warehouse + R"(/thief"})");
    const auto named = connect().post(
        table("thief"),
        commit(R"({"action":"set-location","location":")" + file.substr(0, file.rfind('/')) +
               R"("},{"action":"set-statistics","statistics":{"snapshot-id":1,)" +
               R"("statistics-path":")" + file +
               R"(","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}})"));
    ASSERT_EQ(named.status, 200) << named.body;
    EXPECT_EQ(connect().del(table("thief") + "?purgeRequested=true").status, 204);
    EXPECT_TRUE(fs::exists(file)) << file;
  }
  create("after");
}

}  // namespace
}  // namespace iceblink::test
