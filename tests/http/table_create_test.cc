#include <gmock/gmock.h>

#include <filesystem>

#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTables[] = "/v1/namespaces/ns/tables";

class TableCreate : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
  }
};

TEST_F(TableCreate, WritesAFileAndAnswersWhatALoadAnswers) {
  auto client = connect();
  const auto made = client.post(kTables, table_creation("t"));
  ASSERT_EQ(made.status, 200) << made.body;
  const auto json = made.json();
  const std::string location(json.at("metadata-location").as_string());
  EXPECT_THAT(location, StartsWith("file://" + scratch().path() + "/warehouse/ns/t-"));
  EXPECT_TRUE(std::filesystem::exists(location.substr(7)));
  EXPECT_EQ(json.at("metadata").at("schemas").at(0).at("fields").at(0).at("id").as_int64(), 1);
  const auto loaded = client.get(std::string(kTables) + "/t");
  EXPECT_EQ(loaded.body, made.body);
  EXPECT_EQ(loaded.header("etag"), made.header("etag"));
  EXPECT_TRUE(made.has_header("etag"));
}

TEST_F(TableCreate, KeepsWhatAnotherHasUnderTheName) {
  auto client = connect();
  ASSERT_EQ(client.post(kTables, table_creation("t")).status, 200);
  ASSERT_EQ(client.post("/v1/namespaces/ns/views", view_creation("v")).status, 200);
  const auto again = client.post(kTables, table_creation("t"));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.error_type(), "AlreadyExistsException");
  EXPECT_EQ(again.error_message(), "Table already exists: ns.t");
  for (const char* more : {"", R"(,"stage-create":true)"}) {
    const auto as_view = client.post(kTables, table_creation("v", more));
    EXPECT_EQ(as_view.status, 409);
    EXPECT_EQ(as_view.error_message(), "View with same name already exists: ns.v");
  }
  const auto nowhere = client.post("/v1/namespaces/none/tables", table_creation("t"));
  EXPECT_EQ(nowhere.status, 404);
  EXPECT_EQ(nowhere.error_type(), "NoSuchNamespaceException");
  EXPECT_EQ(nowhere.error_message(), "Namespace does not exist: none");
}

TEST_F(TableCreate, StagesWithoutAFileUntilItIsCommitted) {
  auto client = connect();
  const auto staged = client.post(kTables, table_creation("t", R"(,"stage-create":true)"));
  ASSERT_EQ(staged.status, 200) << staged.body;
  EXPECT_FALSE(staged.has_header("etag"));
  EXPECT_FALSE(staged.json().as_object().contains("metadata-location"));
  EXPECT_TRUE(staged.json().at("metadata").is_object());
  EXPECT_EQ(client.head(std::string(kTables) + "/t").status, 404);
  EXPECT_FALSE(std::filesystem::exists(scratch().path() + "/warehouse/ns"));
}

TEST_F(TableCreate, WritesNothingOutsideOfTheWriteRoots) {
  const auto refused =
      connect().post(kTables, table_creation("t", R"(,"location":"/nowhere/of/ours")"));
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_EQ(refused.error_type(), "ForbiddenException");
  EXPECT_EQ(connect().head(std::string(kTables) + "/t").status, 404);
}

TEST_F(TableCreate, TakesALargeBodyAndSaysWhatIsWrongWithABadOne) {
  auto client = connect();
  const std::string large = R"(,"properties":{"comment":")" + std::string(200'000, 'x') + R"("})";
  EXPECT_EQ(client.post(kTables, table_creation("large", large)).status, 200);
  const auto nameless = client.post(kTables, R"({"schema":{"type":"struct","fields":[]}})");
  EXPECT_EQ(nameless.status, 400);
  EXPECT_THAT(nameless.error_message(), HasSubstr("name"));
  EXPECT_EQ(client.post(kTables, "not json").status, 400);
}

}  // namespace
}  // namespace iceblink::test
