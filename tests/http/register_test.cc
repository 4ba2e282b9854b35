#include <gmock/gmock.h>

#include <filesystem>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Register : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["a"])");
  }

  HttpResponse register_at(const std::string& location, const std::string& more = "") {
    return connect().post("/v1/namespaces/a/register",
                          R"({"name":"t1","metadata-location":")" + location + "\"" + more + "}");
  }
};

TEST_F(Register, AnswersAsTheNextLoadDoes) {
  const auto registered = register_at(write_table("t.json"));
  ASSERT_EQ(registered.status, 200) << registered.body;
  EXPECT_EQ(registered.header("iceblink-generation"), std::to_string(daemon().generation()));
  const auto loaded = connect().get("/v1/namespaces/a/tables/t1");
  EXPECT_EQ(loaded.body, registered.body);
  EXPECT_EQ(loaded.header("etag"), registered.header("etag"));
  EXPECT_NE(loaded.header("etag"), "");
}

TEST_F(Register, RefusesANameThatIsTaken) {
  const auto location = write_table("t.json");
  register_table("a", "t1", location);
  const auto refused = register_at(location);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.error_type(), "AlreadyExistsException");
  EXPECT_EQ(refused.error_message(), "Table already exists: a.t1");
}

TEST_F(Register, MovesThePointerWithOverwrite) {
  register_table("a", "t1", write_table("1.json", '1'));
  const auto second = write_table("2.json", '2');
  EXPECT_EQ(register_at(second, R"(,"overwrite":false)").status, 409);
  EXPECT_EQ(register_at(second, R"(,"overwrite":true)").status, 200);
  const auto loaded = connect().get("/v1/namespaces/a/tables/t1").json();
  EXPECT_EQ(loaded.at("metadata-location").as_string(), second);
}

TEST_F(Register, ComparesAndSwapsWithExpect) {
  const auto first = write_table("1.json", '1');
  const auto second = write_table("2.json", '2');
  register_table("a", "t1", first);
  const auto lost = register_at(second, R"(,"overwrite":true,"expect":"/w/other.json")");
  EXPECT_EQ(lost.status, 409);
  EXPECT_EQ(lost.error_type(), "CommitFailedException");
  EXPECT_EQ(register_at(second, R"(,"overwrite":true,"expect":")" + first + "\"").status, 200);
}

TEST_F(Register, LooksAtTheNamesBeforeItReadsTheFile) {
  register_table("a", "t1", write_table("t.json"));
  const auto taken = register_at("/nowhere/v1.metadata.json");
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(taken.error_message(), "Table already exists: a.t1");
  EXPECT_EQ(register_at("/nowhere/v1.metadata.json", R"(,"overwrite":true)").status, 404);
  const auto nowhere =
      connect().post("/v1/namespaces/nope/register",
                     R"({"name":"t","metadata-location":"/nowhere/v1.metadata.json"})");
  EXPECT_EQ(nowhere.error_type(), "NoSuchNamespaceException");
}

TEST_F(Register, ReadsNoLargerFileThanItIsSetTo) {
  auto settings = settings_in(scratch());
  settings.metadata_bytes_max = 4096;
  start(settings);
  EXPECT_EQ(register_at(write_table("small.json")).status, 200);
  std::string large = table_metadata();
  large.insert(1, std::string(4096, ' '));
  const auto refused = register_at(write_metadata("large.json", large), R"(,"overwrite":true)");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.error_message(), HasSubstr("larger than 4096 bytes"));
}

TEST_F(Register, ReadsWhereAPrefixIsMappedToAndKeepsTheStoredLocation) {
  auto settings = settings_in(scratch());
  const std::string path = write_table("moved.json");
  const std::string directory = path.substr(0, path.rfind('/'));
  settings.location_prefixes = {{"s3://bucket/w", directory}, {"data/persistent", directory}};
  start(settings);
  const std::string location = "s3://bucket/w/moved.json";
  EXPECT_EQ(register_at(location).status, 200);
  for (int turn = 0; turn < 2; ++turn) {  // the second may be answered from the kernel's caches
    const auto loaded = connect().get("/v1/namespaces/a/tables/t1");
    EXPECT_EQ(loaded.status, 200);
    EXPECT_THAT(loaded.body, HasSubstr(R"("metadata-location":")" + location + "\""));
    EXPECT_THAT(loaded.body, Not(HasSubstr(directory)));
  }
  EXPECT_EQ(register_at("data/persistent/moved.json", R"(,"overwrite":true)").status, 200);
  const auto missing = register_at("s3://bucket/w/none.json", R"(,"overwrite":true)");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.error_message(),
            "Failed to open input stream for file: s3://bucket/w/none.json");
}

TEST_F(Register, NeedsItsNamespace) {
  const auto refused =
      connect().post("/v1/namespaces/nope/register",
                     R"({"name":"t","metadata-location":")" + write_table("t.json") + "\"}");
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(refused.error_type(), "NoSuchNamespaceException");
  EXPECT_EQ(refused.error_message(), "Namespace does not exist: nope");
}

TEST_F(Register, SaysWhichFileIsMissing) {
  const auto refused = register_at("/nowhere/v1.metadata.json");
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(refused.error_type(), "NotFoundException");
  EXPECT_EQ(refused.error_message(),
            "Failed to open input stream for file: /nowhere/v1.metadata.json");
}

TEST_F(Register, RefusesWhatIsNotTableMetadata) {
  const std::string table = table_metadata();
  for (const std::string& bytes : {std::string(), std::string("{}"), std::string("[]"),
                                   std::string("not json"), table.substr(0, table.size() / 2),
                                   view_metadata(), std::string("{\"format-version\":99}")}) {
    const auto refused = register_at(write_metadata("bad.json", bytes));
    EXPECT_EQ(refused.status, 400) << bytes;
    EXPECT_EQ(refused.error_type(), "IllegalArgumentException");
    EXPECT_THAT(refused.error_message(), HasSubstr("bad.json"));
  }
  EXPECT_EQ(connect().head("/v1/namespaces/a/tables/t1").status, 404);
}

TEST_F(Register, SaysThatAViewIsNotATable) {
  EXPECT_THAT(register_at(write_metadata("v.json", view_metadata())).error_message(),
              HasSubstr("view"));
}

TEST_F(Register, RefusesADirectoryAndAnotherScheme) {
  EXPECT_EQ(register_at(scratch().path()).status, 400);
  const auto remote = register_at("s3://bucket/t/v1.metadata.json");
  EXPECT_EQ(remote.status, 406);
  EXPECT_EQ(remote.error_type(), "UnsupportedOperationException");
}

TEST_F(Register, LeavesNoDoubtThatAFileItCannotReadWasNotRegistered) {
  const std::string loop = scratch().path() + "/loop";
  std::filesystem::create_symlink(loop, loop);
  const std::string socket = daemon().socket_path();
  for (const std::string& location :
       {loop, socket, "/" + std::string(300, 'x'), "/" + std::string(5000, 'x'),
        std::string("/proc/self/mem")}) {
    const auto refused = register_at(location);
    EXPECT_EQ(refused.status, 400) << location.substr(0, 80) << refused.body;
    EXPECT_EQ(refused.error_type(), "IllegalArgumentException");
    EXPECT_THAT(refused.error_message(),
                HasSubstr(location.substr(0, 4000)));  // as far as is shown
    const auto line =
        connect().post("/iceblink/v1/batch",
                       R"({"op":"register","namespace":["a"],"name":"t1","metadata-location":")" +
                           location + "\"}");
    EXPECT_EQ(line.status, 400) << location.substr(0, 80);
  }
}

TEST_F(Register, RefusesALocationThatCannotBeStored) {
  const std::string too_long = "/" + std::string(65535, 'x');
  for (const std::string& location : {std::string("/w/a\\u000ab"), std::string("/w/\\u007f"),
                                      std::string("/w/\\u0000"), too_long}) {
    for (const char* more : {"", R"(,"unverified":true)"}) {
      const auto refused = register_at(location, more);
      EXPECT_EQ(refused.status, 400) << location.substr(0, 80);
      EXPECT_THAT(refused.error_message(), HasSubstr("a.t1"));
    }
  }
  EXPECT_EQ(register_at(too_long.substr(1), R"(,"unverified":true)").status, 200);
}

TEST_F(Register, TakesAnUnverifiedLocationWithoutReadingIt) {
  const auto registered = register_at("s3://bucket/t/v1.metadata.json", R"(,"unverified":true)");
  ASSERT_EQ(registered.status, 200) << registered.body;
  EXPECT_EQ(registered.body,
            R"({"metadata-location":"s3://bucket/t/v1.metadata.json","config":{}})");
  EXPECT_EQ(connect().head("/v1/namespaces/a/tables/t1").status, 204);
  EXPECT_EQ(connect().get("/v1/namespaces/a/tables/t1").status, 406);
}

TEST_F(Register, ServesAnUnverifiedFileOnceItIsThere) {
  const std::string location = scratch().path() + "/later.json";
  ASSERT_EQ(register_at(location, R"(,"unverified":true)").status, 200);
  EXPECT_EQ(connect().get("/v1/namespaces/a/tables/t1").status, 404);
  write_table("later.json");
  const auto loaded = connect().get("/v1/namespaces/a/tables/t1");
  EXPECT_EQ(loaded.status, 200);
  EXPECT_THAT(loaded.body, HasSubstr(table_metadata()));
  write_metadata("later.json", "garbage");
  EXPECT_EQ(connect().get("/v1/namespaces/a/tables/t1").status, 500);
}

TEST_F(Register, RefusesBodiesWithoutWhatItNeeds) {
  auto client = connect();
  for (const char* body :
       {"{}", R"({"name":"t"})", R"({"metadata-location":"/x"})",
        R"({"name":"","metadata-location":"/x"})", R"({"name":"t","metadata-location":""})",
        R"({"name":1,"metadata-location":"/x"})",
        R"({"name":"t","metadata-location":"/x","overwrite":"yes"})",
        R"({"name":"a\u0000b","metadata-location":"/x"})", "[]", "null", ""}) {
    const auto refused = client.post("/v1/namespaces/a/register", body);
    EXPECT_EQ(refused.status, 400) << body;
    EXPECT_EQ(refused.error_type(), "IllegalArgumentException");
  }
}

}  // namespace
}  // namespace iceblink::test
