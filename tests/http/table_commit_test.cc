#include <gmock/gmock.h>

#include <filesystem>

#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

constexpr char kTable[] = "/v1/namespaces/ns/tables/t";

class TableCommit : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
    const auto made = connect().post("/v1/namespaces/ns/tables", table_creation("t"));
    ASSERT_EQ(made.status, 200) << made.body;
  }
};

TEST_F(TableCommit, AnswersTheNewMetadataAndItsTag) {
  auto client = connect();
  const auto before = client.get(kTable);
  const auto done = client.post(kTable, commit(set_property("k", "v")));
  ASSERT_EQ(done.status, 200) << done.body;
  EXPECT_FALSE(done.json().as_object().contains("config"));
  EXPECT_EQ(done.json().at("metadata").at("properties").at("k").as_string(), "v");
  const auto after = client.get(kTable);
  EXPECT_EQ(after.header("etag"), done.header("etag"));
  EXPECT_NE(after.header("etag"), before.header("etag"));
  EXPECT_EQ(after.json().at("metadata-location"), done.json().at("metadata-location"));
}

TEST_F(TableCommit, SaysWhichRequirementFailed) {
  const auto refused = connect().post(
      kTable, commit(set_property("k", "v"),
                     R"({"type":"assert-current-schema-id","current-schema-id":7})"));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.error_type(), "CommitFailedException");
  EXPECT_THAT(refused.error_message(), HasSubstr("Requirement failed: current schema changed"));
}

TEST_F(TableCommit, SaysWhichUpdateIsRefused) {
  const auto refused = connect().post(
      kTable, commit(set_property("k", "v") + R"(,{"action":"set-current-schema","schema-id":7})"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.error_message(), "Cannot set current schema to unknown schema: 7 (updates[1])");
}

TEST_F(TableCommit, WritesNothingOutsideOfTheWriteRoots) {
  for (const char* const update :
       {R"({"action":"set-location","location":"/nowhere/of/ours"})",
        R"({"action":"set-properties","updates":{"write.metadata.path":"/nowhere/of/ours"}})"}) {
    const auto refused = connect().post(kTable, commit(update));
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_EQ(refused.error_type(), "ForbiddenException");
    EXPECT_THAT(refused.error_message(), HasSubstr("/nowhere/of/ours"));
  }
}

TEST_F(TableCommit, CompletesAStagedTable) {
  auto client = connect();
  const std::string target = "/v1/namespaces/ns/tables/staged";
  const std::string create =
      commit(R"({"action":"assign-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"},)"
             R"({"action":"upgrade-format-version","format-version":2},)"
             R"({"action":"add-schema","schema":{"type":"struct","schema-id":0,"fields":[)"
             R"({"id":1,"name":"id","type":"long","required":true}]},"last-column-id":1},)"
             R"({"action":"set-current-schema","schema-id":-1},)"
             R"({"action":"add-spec","spec":{"spec-id":0,"fields":[]}},)"
             R"({"action":"set-default-spec","spec-id":-1},)"
             R"({"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}},)"
             R"({"action":"set-default-sort-order","sort-order-id":-1})",
             R"({"type":"assert-create"})");
  const auto made = client.post(target, create);
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(client.head(target).status, 204);
  const auto again = client.post(target, create);
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.error_type(), "CommitFailedException");
  EXPECT_EQ(again.error_message(), "Requirement failed: table already exists");
}

TEST_F(TableCommit, RefusesAnIdentifierThatIsNotThePaths) {
  auto client = connect();
  const std::string other = R"({"identifier":{"namespace":["ns"],"name":"u"},)" +
                            commit(set_property("k", "v")).substr(1);
  const auto refused = client.post(kTable, other);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.error_message(), HasSubstr("ns.u"));
  EXPECT_THAT(refused.error_message(), HasSubstr("ns.t"));
  const std::string same = R"({"identifier":{"namespace":["ns"],"name":"t"},)" +
                           commit(set_property("k", "v")).substr(1);
  EXPECT_EQ(client.post(kTable, same).status, 200);
}

TEST_F(TableCommit, NeedsATable) {
  auto client = connect();
  for (const char* target : {"/v1/namespaces/ns/tables/none", "/v1/namespaces/none/tables/t"}) {
    const auto missing = client.post(target, commit(set_property("k", "v")));
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(missing.error_type(), "NoSuchTableException");
    EXPECT_THAT(missing.error_message(), HasSubstr("Table does not exist: "));
  }
}

TEST_F(TableCommit, ShowsReferencedSnapshotsAloneWhereThatIsAskedFor) {
  auto client = connect();
  ASSERT_EQ(client.post(kTable, commit(append_snapshot(11, 1))).status, 200);
  ASSERT_EQ(client.post(kTable, commit(append_snapshot(12, 2, 11))).status, 200);
  const auto all = client.get(kTable);
  const auto refs = client.get(std::string(kTable) + "?snapshots=refs");
  ASSERT_EQ(refs.status, 200) << refs.body;
  EXPECT_EQ(all.json().at("metadata").at("snapshots").as_array().size(), 2U);
  const auto named = refs.json().at("metadata").at("snapshots").as_array();
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named.at(0).at("snapshot-id").as_int64(), 12);
  EXPECT_NE(all.header("etag"), refs.header("etag"));
  const std::string location(all.json().at("metadata-location").as_string());
  std::filesystem::remove(location.substr(7));
  const auto unchanged = client.request({.target = std::string(kTable) + "?snapshots=refs",
                                         .headers = {"If-None-Match: " + refs.header("etag")}});
  EXPECT_EQ(unchanged.status, 304);
  const auto missing = client.get(kTable);
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.error_message(), "Failed to open input stream for file: " + location);
}

}  // namespace
}  // namespace iceblink::test
