#include <gmock/gmock.h>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

class Changes : public DaemonTest {
 protected:
  HttpResponse since(std::uint64_t generation, const std::string& more = "") {
    return connect().get("/iceblink/v1/changes?since=" + std::to_string(generation) + more);
  }
};

TEST_F(Changes, SayWhatHappenedInOrder) {
  const auto start = daemon().generation();
  const auto location = write_table("t.json");
  create_namespace(R"(["a"])");
  register_table("a", "t", location);
  EXPECT_EQ(connect().del("/v1/namespaces/a/tables/t").status, 204);
  const auto body = since(start).json();
  EXPECT_EQ(body.at("generation").to_number<std::uint64_t>(), daemon().generation());
  EXPECT_EQ(body.at("incarnation").as_string().size(), 16u);
  EXPECT_FALSE(body.at("more").as_bool());
  const auto& changes = body.at("changes").as_array();
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].at("kind").as_string(), "namespace");
  EXPECT_EQ(changes[0].at("op").as_string(), "put");
  EXPECT_EQ(changes[1].at("kind").as_string(), "table");
  EXPECT_EQ(changes[1].at("name").as_string(), "t");
  EXPECT_EQ(changes[1].at("metadata-location").as_string(), location);
  EXPECT_EQ(changes[2].at("op").as_string(), "drop");
  EXPECT_FALSE(changes[2].as_object().contains("metadata-location"));
  EXPECT_EQ(changes[2].at("generation").to_number<std::uint64_t>(), start + 3);
}

TEST_F(Changes, AreNoneAtTheCurrentGeneration) {
  create_namespace(R"(["a"])");
  const auto body = since(daemon().generation()).json();
  EXPECT_TRUE(body.at("changes").as_array().empty());
  EXPECT_FALSE(body.at("more").as_bool());
}

TEST_F(Changes, ComeInPartsOfWholeGenerations) {
  const auto start = daemon().generation();
  for (const char* levels : {R"(["a"])", R"(["b"])", R"(["c"])"}) create_namespace(levels);
  const auto first = since(start, "&limit=2").json();
  EXPECT_TRUE(first.at("more").as_bool());
  const auto& part = first.at("changes").as_array();
  ASSERT_FALSE(part.empty());
  const auto last = part.back().at("generation").to_number<std::uint64_t>();
  EXPECT_EQ(first.at("generation").to_number<std::uint64_t>(), last);
  EXPECT_LT(last, daemon().generation());
  const auto rest = since(last).json();
  EXPECT_EQ(rest.at("generation").to_number<std::uint64_t>(), daemon().generation());
  EXPECT_EQ(part.size() + rest.at("changes").as_array().size(), 3u);
  EXPECT_FALSE(rest.at("more").as_bool());
}

TEST_F(Changes, OfAnotherIncarnationOrAboveTheCurrentGenerationAreGone) {
  create_namespace(R"(["a"])");
  const auto body = since(daemon().generation()).json();
  const std::string incarnation(body.at("incarnation").as_string());
  EXPECT_EQ(since(daemon().generation(), "&incarnation=" + incarnation).status, 200);
  for (const auto& gone :
       {since(daemon().generation(), "&incarnation=1"), since(daemon().generation() + 1)}) {
    EXPECT_EQ(gone.status, 410);
    EXPECT_EQ(gone.error_type(), "GoneException");
  }
}

TEST_F(Changes, NeedANumberToStartFrom) {
  auto client = connect();
  for (const char* query :
       {"", "?since=", "?since=x", "?since=-1", "?since=1&limit=0", "?since=1&limit=x",
        "?since=1&incarnation=xyz", "?since=99999999999999999999999"}) {
    const auto refused = client.get(std::string("/iceblink/v1/changes") + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_EQ(refused.error_type(), "IllegalArgumentException");
  }
}

class ShortLog : public Changes {
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.log_entries_max = 2;
    start(settings);
  }
};

TEST_F(ShortLog, SaysGoneForWhatItNoLongerHolds) {
  const auto start = daemon().generation();
  for (const char* levels : {R"(["a"])", R"(["b"])", R"(["c"])", R"(["d"])"})
    create_namespace(levels);
  EXPECT_EQ(since(start).status, 410);
  EXPECT_EQ(since(start).error_type(), "GoneException");
  EXPECT_EQ(since(daemon().generation() - 1).status, 200);
}

}  // namespace
}  // namespace iceblink::test
