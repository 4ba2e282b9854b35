#include <gmock/gmock.h>

#include <filesystem>

#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

constexpr char kTable[] = "/v1/namespaces/ns/tables/t";

class Purge : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
    const auto made = connect().post("/v1/namespaces/ns/tables", table_creation("t"));
    ASSERT_EQ(made.status, 200) << made.body;
    path_ = std::string(made.json().at("metadata-location").as_string()).substr(7);
  }
  std::string path_;  // of the metadata file
};

TEST_F(Purge, DeletesTheFilesBeforeItAnswers) {
  ASSERT_TRUE(std::filesystem::exists(path_));
  EXPECT_EQ(connect().del(std::string(kTable) + "?purgeRequested=True").status, 204);
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(connect().head(kTable).status, 404);
}

TEST_F(Purge, LeavesTheFilesOfADropWithoutIt) {
  EXPECT_EQ(connect().del(kTable).status, 204);
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(Purge, DropsATableWhoseMetadataFileIsGone) {
  std::filesystem::remove(path_);
  EXPECT_EQ(connect().del(std::string(kTable) + "?purgeRequested=true").status, 204);
  EXPECT_EQ(connect().head(kTable).status, 404);
}

TEST_F(Purge, LeavesTheFilesOfATableWithAnotherName) {
  register_table("ns", "second", path_);
  EXPECT_EQ(connect().del(std::string(kTable) + "?purgeRequested=true").status, 204);
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_EQ(connect().get("/v1/namespaces/ns/tables/second").status, 200);
  EXPECT_EQ(connect().del("/v1/namespaces/ns/tables/second?purgeRequested=true").status, 204);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Purge, NeedsATable) {
  const auto missing = connect().del("/v1/namespaces/ns/tables/u?purgeRequested=true");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.error_message(), "Table does not exist: ns.u");
}

TEST_F(Purge, LeavesTheFilesOfATableThatIsUnregistered) {
  auto client = connect();
  const auto loaded = client.get(kTable).json();
  const auto gone = client.post(std::string(kTable) + "/unregister", "");
  ASSERT_EQ(gone.status, 200) << gone.body;
  EXPECT_EQ(gone.json().at("metadata-location"), loaded.at("metadata-location"));
  EXPECT_EQ(gone.json().at("metadata"), loaded.at("metadata"));
  EXPECT_FALSE(gone.json().as_object().contains("config"));
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_EQ(client.head(kTable).status, 404);
  const auto again = client.post(std::string(kTable) + "/unregister", "");
  EXPECT_EQ(again.status, 404);
  EXPECT_EQ(again.error_type(), "NoSuchTableException");
  register_table("ns", "t", path_);
}

}  // namespace
}  // namespace iceblink::test
