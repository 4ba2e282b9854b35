// Backups over HTTP: what is answered, to one at a time.
#include <sched.h>
#include <sys/mount.h>

#include "daemon/restore.h"
#include "tests/moves/moves_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTarget = "/iceblink/v1/backup";

class BackupOverHttp : public DaemonTest {
 protected:
  /// Makes the store larger than what sockets hold.
  void fill() {
    std::string lines = R"({"op":"create-namespace","namespace":["a"]})"
                        "\n";
    for (int i = 0; i < 40'000; ++i) {
      lines += R"({"op":"register","namespace":["a"],"unverified":true,"name":"t)" +
               std::to_string(i) + R"(","metadata-location":"s3://bucket/)" +
               std::string(150, 'x') + "\"}\n";
    }
    ASSERT_EQ(connect().post("/iceblink/v1/batch", lines).status, 200);
  }

  /// To whom a backup is being sent: asks until the one before has given its place back.
  HttpClient receiver() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (true) {
      HttpClient client = connect();
      EXPECT_TRUE(client.send(HttpClient::text_of({.verb = "POST", .target = kTarget})));
      const int status = client.next_status();
      if (status == 200) return client;
      EXPECT_EQ(status, 429);
      if (HasFailure() || std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "no backup within a minute";
        return client;
      }
    }
  }
};

TEST_F(BackupOverHttp, IsAWholeStoreWithItsGenerationAndChecksum) {
  fill();
  const HttpResponse backup = connect().post(kTarget, "");
  ASSERT_EQ(backup.status, 200) << backup.body;
  EXPECT_EQ(backup.header("iceblink-generation"), std::to_string(daemon().generation()));
  EXPECT_EQ(backup.header("content-type"), "application/octet-stream");
  EXPECT_THAT(backup.header("iceblink-checksum"), StartsWith("sha256="));
  EXPECT_EQ(backup.header("iceblink-checksum").size(), 7 + 64);
  const std::string file = scratch().path() + "/backup";
  write_file(file, backup.body);
  const auto restored =
      daemon::restore_backup({.backup_file = file, .data_dir = scratch().path() + "/other"});
  ASSERT_TRUE(restored.ok()) << restored.error().message();
  EXPECT_EQ(restored->generation, daemon().generation());
  EXPECT_EQ(restored->table_count, 40'000);
}

TEST_F(BackupOverHttp, AnotherWaitsUntilTheClientHasIt) {
  fill();
  HttpClient slow = receiver();
  HttpClient other = connect();
  const HttpResponse refused = other.post(kTarget, "");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.error_message(), "another backup is being made or sent");
  EXPECT_EQ(other.post(kTarget, "").status, 429);
  EXPECT_EQ(other.post("/v1/namespaces", R"({"namespace":["b"]})").status, 200) << "commits go on";
  const auto taken = slow.receive("POST");
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->status, 200);
}

TEST_F(BackupOverHttp, AClientThatGoesAwayGivesItsPlaceBack) {
  fill();
  for (int round = 0; round < 5; ++round) {
    HttpClient gone = receiver();
    EXPECT_EQ(connect().post(kTarget, "").status, 429);
    gone.close();
    ASSERT_EQ(receiver().receive("POST").value_or(HttpResponse{}).status, 200);
  }
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(scratch().path() + "/data")) {
    ++files;
  }
  EXPECT_LE(files, 3) << "the lock, the store, the warehouse";
}

TEST_F(BackupOverHttp, IsNoReadAndNoPathOfOthers) {
  EXPECT_EQ(connect().get(kTarget).status, 405);
}

// A disk without room beside the store: refused before it is full, and commits go on.
std::string on_a_full_disk() {
  World world;
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", world.data_dir().c_str(), "tmpfs", 0, "size=48m") != 0) {
    return "";  // not allowed here
  }
  std::string wrong;
  if (!world.start()) wrong = "the daemon does not start";
  HttpClient client = HttpClient::to_unix(world.runtime_dir() + "/catalog.sock");
  const HttpResponse refused = client.post(kTarget, "");
  if (refused.status != 507) wrong = "status " + std::to_string(refused.status);
  if (refused.body.find("no room for a backup") == std::string::npos) wrong = refused.body;
  if (client.post("/v1/namespaces", R"({"namespace":["b"]})").status != 200) wrong = "no commit";
  Folder folder;
  const Finished finished =
      Program("iceblink", {"--dir", world.runtime_dir(), "backup", folder / "b"}).wait();
  if (finished.exit_code != 70) wrong = "exit code " + std::to_string(finished.exit_code);
  if (std::filesystem::exists(folder / "b")) wrong = "half a backup is left";
  world.stop_daemon();
  ::umount2(world.data_dir().c_str(), MNT_DETACH);
  return wrong;
}

TEST(BackupOnAFullDisk, IsRefusedAndCommitsGoOn) {
  expect_in_child(on_a_full_disk);
}

}  // namespace
}  // namespace iceblink::test
