#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

class TableLoad : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
  }

  static std::string expected_body(const std::string& location, const std::string& metadata) {
    return R"({"metadata-location":")" + location + R"(","metadata":)" + metadata +
           R"(,"config":{}})";
  }
  HttpResponse load(const std::string& query = "", std::vector<std::string> headers = {}) {
    return connect().request(
        {.target = "/v1/namespaces/ns/tables/t" + query, .headers = std::move(headers)});
  }
};

TEST_F(TableLoad, GivesTheFilesBytesAsTheyAre) {
  const auto location = write_table("t.json");
  register_table("ns", "t", location);
  const auto loaded = load();
  EXPECT_EQ(loaded.status, 200);
  EXPECT_EQ(loaded.header("content-type"), "application/json");
  EXPECT_EQ(loaded.body, expected_body(location, table_metadata()));
  EXPECT_EQ(loaded.json().at("metadata").at("x-largest").as_int64(), 9223372036854775807);
}

TEST_F(TableLoad, InflatesGzipAndLeavesOutTheByteOrderMark) {
  for (const std::string& bytes : {gzipped(table_metadata()), "\xEF\xBB\xBF" + table_metadata(),
                                   gzipped("\xEF\xBB\xBF" + table_metadata())}) {
    const auto location = write_metadata("z.gz.metadata.json", bytes);
    register_table("ns", "t", location);
    EXPECT_EQ(load().body, expected_body(location, table_metadata()));
    EXPECT_EQ(connect().del("/v1/namespaces/ns/tables/t").status, 204);
  }
}

TEST_F(TableLoad, SaysWhenTheFileIsGoneAndTheTableCanStillBeDropped) {
  const auto location = write_table("t.json");
  register_table("ns", "t", location);
  std::filesystem::remove(location);
  const auto gone = load();
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(gone.error_type(), "NotFoundException");
  EXPECT_EQ(gone.error_message(), "Failed to open input stream for file: " + location);
  EXPECT_EQ(connect().del("/v1/namespaces/ns/tables/t").status, 204);
}

TEST_F(TableLoad, RefusesAFileThatWasChangedInPlace) {
  const auto location = write_table("t.json", '1');
  register_table("ns", "t", location);
  write_table("t.json", '2');
  const auto changed = load();
  EXPECT_EQ(changed.status, 500);
  EXPECT_THAT(changed.error_message(), HasSubstr("changed in place"));
  EXPECT_THAT(changed.error_message(), HasSubstr(location));
}

TEST_F(TableLoad, ServesAReusedPathAsTheNewTable) {
  const auto location = write_table("v1.metadata.json", '1');
  register_table("ns", "t", location);
  const auto before = load();
  EXPECT_EQ(connect().del("/v1/namespaces/ns/tables/t").status, 204);
  write_table("v1.metadata.json", '2');
  register_table("ns", "t", location);
  const auto after = load();
  EXPECT_EQ(after.body, expected_body(location, table_metadata('2')));
  EXPECT_NE(after.header("etag"), before.header("etag"));
}

TEST_F(TableLoad, Answers304FromThePointerAlone) {
  const auto location = write_table("t.json");
  register_table("ns", "t", location);
  const auto etag = load().header("etag");
  std::filesystem::remove(location);
  for (const std::string& sent : {etag, "W/" + etag, etag.substr(1, etag.size() - 2),
                                  "\"other\", " + etag, std::string("*")}) {
    const auto unchanged = load("", {"If-None-Match: " + sent});
    EXPECT_EQ(unchanged.status, 304) << sent;
    EXPECT_EQ(unchanged.header("etag"), etag);
  }
  EXPECT_EQ(load("", {"If-None-Match: \"other\"", "If-None-Match: " + etag}).status, 304);
  EXPECT_EQ(load("", {"If-None-Match: \"other\""}).status, 404);
}

TEST_F(TableLoad, TagsEachSnapshotModeApart) {
  register_table("ns", "t", write_table("t.json"));
  const auto all = load();
  EXPECT_EQ(load("?snapshots=all").header("etag"), all.header("etag"));
  const auto refs = load("?snapshots=refs");
  EXPECT_EQ(refs.status, 200);
  EXPECT_NE(refs.header("etag"), all.header("etag"));
  EXPECT_EQ(load("?snapshots=refs", {"If-None-Match: " + all.header("etag")}).status, 200);
  EXPECT_EQ(load("?snapshots=some").status, 400);
}

TEST_F(TableLoad, GivesANewTagAfterTheNextCommit) {
  register_table("ns", "t", write_table("1.json", '1'));
  const auto old_tag = load().header("etag");
  const auto moved = connect().post(
      "/v1/namespaces/ns/register",
      R"({"name":"t","overwrite":true,"metadata-location":")" + write_table("2.json", '2') + "\"}");
  EXPECT_NE(moved.header("etag"), old_tag);
  const auto loaded = load("", {"If-None-Match: " + old_tag});
  EXPECT_EQ(loaded.status, 200);
  EXPECT_EQ(loaded.header("etag"), moved.header("etag"));
}

TEST_F(TableLoad, TellsTheGenerationItWasReadFrom) {
  register_table("ns", "t", write_table("t.json"));
  EXPECT_EQ(load().header("iceblink-generation"), std::to_string(daemon().generation()));
}

TEST_F(TableLoad, HasNoBodyForHead) {
  register_table("ns", "t", write_table("t.json"));
  auto client = connect();
  EXPECT_EQ(client.head("/v1/namespaces/ns/tables/t").status, 204);
  EXPECT_EQ(client.head("/v1/namespaces/ns/tables/nope").status, 404);
  EXPECT_EQ(client.get("/healthz").status, 200);  // nothing was left over on the connection
}

// What is in the kernel's caches is read by another way, which a tmpfs does not have.
TEST_F(TableLoad, IsAsExactForAFileOnADisk) {
  const std::string location = ::testing::TempDir() + "/ib-load-" + std::to_string(::getpid());
  write_file(location, table_metadata('1'));
  register_table("ns", "t", location);
  EXPECT_EQ(load().body, expected_body(location, table_metadata('1')));
  write_file(location, table_metadata('2'));
  EXPECT_EQ(load().status, 500);
  write_file(location, table_metadata('1'));
  EXPECT_EQ(load().status, 200);
  std::filesystem::remove(location);
  EXPECT_EQ(load().error_type(), "NotFoundException");
}

}  // namespace
}  // namespace iceblink::test
