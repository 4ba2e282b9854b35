#include <gmock/gmock.h>

#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTransaction[] = "/v1/transactions/commit";

std::string change(const std::string& name, const std::string& body) {
  return R"({"identifier":{"namespace":["ns"],"name":")" + name + R"("},)" + body.substr(1);
}

std::string transaction(const std::string& changes) {
  return R"({"table-changes":[)" + changes + "]}";
}

class Transactions : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
    for (const char* name : {"a", "b"}) {
      const auto made = connect().post("/v1/namespaces/ns/tables", table_creation(name));
      ASSERT_EQ(made.status, 200) << made.body;
    }
  }
  std::string location_of(const std::string& name) {
    const auto loaded = connect().get("/v1/namespaces/ns/tables/" + name);
    return std::string(loaded.json().at("metadata-location").as_string());
  }
};

TEST_F(Transactions, ChangeAllOfTheirTablesInOneGeneration) {
  const auto before = daemon().generation();
  const auto done =
      connect().post(kTransaction, transaction(change("a", commit(set_property("k", "1"))) + "," +
                                               change("b", commit(set_property("k", "2")))));
  EXPECT_EQ(done.status, 204) << done.body;
  EXPECT_EQ(daemon().generation(), before + 1);
  EXPECT_EQ(done.header("iceblink-generation"), std::to_string(before + 1));
}

TEST_F(Transactions, ChangeNothingWhenOneTableRefuses) {
  const auto a = location_of("a");
  const auto b = location_of("b");
  const auto refused = connect().post(
      kTransaction, transaction(change("a", commit(set_property("k", "1"))) + "," +
                                change("b", commit(set_property("k", "2"),
                                                   R"({"type":"assert-current-schema-id",)"
                                                   R"("current-schema-id":7})"))));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.error_type(), "CommitFailedException");
  EXPECT_THAT(refused.error_message(), StartsWith("Requirement failed: current schema changed"));
  EXPECT_THAT(refused.error_message(), HasSubstr("ns.b"));
  EXPECT_EQ(location_of("a"), a);
  EXPECT_EQ(location_of("b"), b);
}

TEST_F(Transactions, NameTheUpdateThatIsRefusedAndItsTable) {
  const auto refused = connect().post(
      kTransaction, transaction(change("a", commit(set_property("k", "1"))) + "," +
                                change("b", commit(R"({"action":"set-current-schema",)"
                                                   R"("schema-id":7})"))));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.error_message(),
            "Cannot set current schema to unknown schema: 7 (updates[0]) (table ns.b)");
}

TEST_F(Transactions, NameTheTableThatIsMissing) {
  const auto refused =
      connect().post(kTransaction, transaction(change("a", commit(set_property("k", "1"))) + "," +
                                               change("c", commit(set_property("k", "2")))));
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(refused.error_type(), "NoSuchTableException");
  EXPECT_EQ(refused.error_message(), "Table does not exist: ns.c");
  EXPECT_EQ(connect().post(kTransaction, transaction("")).status, 400);
}

}  // namespace
}  // namespace iceblink::test
