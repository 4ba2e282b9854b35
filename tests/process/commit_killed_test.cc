// The daemon dies at each step of a commit of metadata. After a restart, the same request with the
// same Idempotency-Key is answered, and what it asked for has been done exactly once.

#include <csignal>

#include "tests/process/rest_requests.h"

namespace iceblink::test {
namespace {

constexpr std::int64_t kSnapshotId = 9007199254740993;  // 2^53 + 1
constexpr const char* kKey = "Idempotency-Key: 01890a5d-ac96-774b-bcce-b302099a8057";
constexpr const char* kTable = "/v1/namespaces/ns/tables/t";

const char* const kSteps[] = {
    "metadata.after-write",  "metadata.after-sync", "commit.before-lmdb",  "commit.after-lmdb",
    "publish.before-append", "publish.before-slot", "publish.before-root", "publish.after-root",
    "commit.before-answer",  "answer.before-send"};

class CommitKilled : public ::testing::TestWithParam<const char*> {
 protected:
  void start(std::vector<std::string> arguments = {}) {
    ASSERT_TRUE(world_.start(std::move(arguments))) << world_.daemon().errors();
  }
  void make(const std::string& target, const std::string& body) {
    const auto made = connect(world_).post(target, body);
    ASSERT_EQ(made.status, 200) << made.body;
  }
  static HttpRequest keyed(const std::string& target, const std::string& body) {
    return {.verb = "POST", .target = target, .body = body, .headers = {kKey}};
  }
  /// The daemon dies under the request, at this test's step, and is started again.
  void die_under(const HttpRequest& request) {
    world_.kill_daemon();
    start({"--fault-point", GetParam()});
    auto client = connect(world_);
    ASSERT_TRUE(client.send(HttpClient::text_of(request)));
    ASSERT_FALSE(client.receive().has_value());
    ASSERT_EQ(world_.daemon().wait(), -SIGKILL);
    start();
  }
  HttpResponse again(const HttpRequest& request) { return connect(world_).request(request); }

  World world_;
};

TEST_P(CommitKilled, AppendsExactlyOnce) {
  start();
  make("/v1/namespaces", R"({"namespace":["ns"]})");
  make("/v1/namespaces/ns/tables", creation_of("t"));
  const auto append = keyed(kTable, first_append(kSnapshotId));
  die_under(append);
  if (HasFatalFailure()) return;
  const auto answer = again(append);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json().at("metadata").at("current-snapshot-id").as_int64(), kSnapshotId);
  const auto metadata = connect(world_).get(kTable).json().at("metadata");
  EXPECT_EQ(metadata.at("snapshots").as_array().size(), 1u);
  EXPECT_EQ(metadata.at("metadata-log").as_array().size(), 1u);
  EXPECT_EQ(metadata.at("snapshot-log").as_array().size(), 1u);
  const Catalog catalog = world_.open();
  const auto location = catalog.resolve_location({{"ns"}, "t"});
  ASSERT_OK(location);
  EXPECT_EQ(*location, answer.json().at("metadata-location").as_string());
  EXPECT_EQ(world_.verify(), std::vector<std::string>{});
}

TEST_P(CommitKilled, CreatesExactlyOnce) {
  start();
  make("/v1/namespaces", R"({"namespace":["ns"]})");
  const auto creation = keyed("/v1/namespaces/ns/tables", creation_of("t"));
  die_under(creation);
  if (HasFatalFailure()) return;
  const auto answer = again(creation);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto repeated = again(creation);
  EXPECT_EQ(repeated.status, 200);
  EXPECT_EQ(repeated.json().at("metadata").at("table-uuid"),
            answer.json().at("metadata").at("table-uuid"));
  EXPECT_EQ(connect(world_).get(kTable).json().at("metadata-location"),
            answer.json().at("metadata-location"));
}

TEST_P(CommitKilled, ChangesAllTablesOfATransactionExactlyOnce) {
  start();
  make("/v1/namespaces", R"({"namespace":["ns"]})");
  std::string changes;
  for (const char* const name : {"a", "b", "c"}) {
    make("/v1/namespaces/ns/tables", creation_of(name));
    if (!changes.empty()) changes += ',';
    std::string change = first_append(kSnapshotId);
    change.insert(1, R"("identifier":{"namespace":["ns"],"name":")" + std::string(name) + R"("},)");
    changes += change;
  }
  const auto commit = keyed("/v1/transactions/commit", R"({"table-changes":[)" + changes + "]}");
  die_under(commit);
  if (HasFatalFailure()) return;
  std::size_t appended = 0;
  for (const char* const name : {"a", "b", "c"}) {
    const auto loaded = connect(world_).get(std::string("/v1/namespaces/ns/tables/") + name);
    appended += loaded.json().at("metadata").at("snapshots").as_array().size();
  }
  EXPECT_TRUE(appended == 0 || appended == 3) << appended;
  EXPECT_EQ(again(commit).status, 204);
  for (const char* const name : {"a", "b", "c"}) {
    const auto loaded = connect(world_).get(std::string("/v1/namespaces/ns/tables/") + name);
    EXPECT_EQ(loaded.json().at("metadata").at("metadata-log").as_array().size(), 1u) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(AtEachStep, CommitKilled, ::testing::ValuesIn(kSteps),
                         [](const auto& step) {
                           std::string name = step.param;
                           for (char& c : name) {
                             if (c == '.' || c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace iceblink::test
