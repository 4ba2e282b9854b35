// Metadata is read below the read roots alone, whatever a location says.
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BoundReading : public DaemonTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in", "in/deep", "in-other", "out", "w"}) {
      fs::create_directory(path(name));
    }
    start(bound_settings());
    create_namespace(R"(["ns"])");
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return scratch().path() + "/" + name;
  }
  [[nodiscard]] daemon::Settings bound_settings() const {
    auto settings = settings_in(scratch());
    settings.warehouse = "file://" + path("w");
    settings.write_roots = {};
    settings.read_roots = {path("in")};
    return settings;
  }
  HttpResponse try_register(const std::string& location, const std::string& more = {}) {
    return connect().post("/v1/namespaces/ns/register",
                          R"({"name":"t","metadata-location":")" + location + "\"" + more + "}");
  }
  void expect_refused(const std::string& location) {
    for (const char* more : {"", R"(,"unverified":true)", R"(,"overwrite":true)"}) {
      const auto refused = try_register(location, more);
      EXPECT_EQ(refused.status, 403) << location << more << refused.body;
      EXPECT_EQ(refused.error_type(), "ForbiddenException");
      EXPECT_THAT(refused.error_message(), HasSubstr(location));
    }
  }
};

TEST_F(BoundReading, TakesWhatIsBelowARoot) {
  write_table("in/a.json");
  write_table("in/deep/b.json");
  for (const char* name :
       {"in/a.json", "in/deep/b.json", "in//deep/./b.json", "in/deep/../a.json"}) {
    const auto taken = try_register(path(name), R"(,"overwrite":true)");
    EXPECT_EQ(taken.status, 200) << name << taken.body;
    EXPECT_EQ(connect().get("/v1/namespaces/ns/tables/t").status, 200) << name;
  }
  EXPECT_EQ(try_register("file://" + path("in/a.json"), R"(,"overwrite":true)").status, 200);
  EXPECT_EQ(try_register(path("in/new.json"), R"(,"overwrite":true,"unverified":true)").status,
            200);
}

TEST_F(BoundReading, IsNotLedOutByWords) {
  write_table("out/t.json");
  write_table("in-other/t.json");
  expect_refused(path("out/t.json"));
  expect_refused(path("in-other/t.json"));
  expect_refused(path("in/../out/t.json"));
  expect_refused(path("in/deep/../../out/t.json"));
  expect_refused("file://" + path("out/t.json"));
  expect_refused("file://" + path("in/%2e%2e/out/t.json"));
  expect_refused("/etc/passwd");
  expect_refused("/");
}

TEST_F(BoundReading, IsNotLedOutByLinks) {
  write_table("out/t.json");
  write_table("in/deep/inside.json");
  fs::create_symlink(path("out/t.json"), path("in/file-link.json"));
  fs::create_symlink("../out", path("in/directory-link"));
  fs::create_symlink("deep/inside.json", path("in/link-within.json"));
  for (const char* name : {"in/file-link.json", "in/directory-link/t.json"}) {
    const auto refused = try_register(path(name));
    EXPECT_EQ(refused.status, 403) << name << refused.body;
    EXPECT_THAT(refused.error_message(), HasSubstr("leaves the directories"));
  }
  EXPECT_EQ(try_register(path("in/link-within.json")).status, 200);
}

TEST_F(BoundReading, IsNotLedOutByOtherSchemes) {
  for (const char* location : {"s3://bucket/t.json", "hdfs://host/t.json",
                               "http://127.0.0.1/t.json", "file://other-host/t.json"}) {
    const auto refused = try_register(location, R"(,"unverified":true)");
    EXPECT_EQ(refused.status, 403) << location << refused.body;
    EXPECT_EQ(try_register(location).status, 403) << location;
  }
}

TEST_F(BoundReading, DoesNotTellWhatIsOutside) {
  write_table("out/t.json");
  const auto there = try_register(path("out/t.json"));
  const auto missing = try_register(path("out/u.json"));
  EXPECT_EQ(there.status, missing.status);
  EXPECT_EQ(there.error_message().size(), missing.error_message().size());
}

TEST_F(BoundReading, HoldsForBatches) {
  const auto refused = connect().post(
      "/iceblink/v1/batch",
      R"({"op":"create-namespace","namespace":["b"]})"
      "\n"
      R"({"op":"register","namespace":["b"],"name":"t","unverified":true,"metadata-location":")" +
          path("out/t.json") + "\"}");
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_THAT(refused.error_message(), HasSubstr("line 2"));
  EXPECT_EQ(connect().head("/v1/namespaces/b").status, 404);
}

TEST_F(BoundReading, HoldsForWhatWasRegisteredBefore) {
  auto unbound = bound_settings();
  unbound.read_roots = {};
  start(unbound);
  register_table("ns", "t", write_table("out/t.json"));
  EXPECT_EQ(connect().get("/v1/namespaces/ns/tables/t").status, 200);
  start(bound_settings());
  EXPECT_EQ(connect().get("/v1/namespaces/ns/tables/t").status, 403);
  EXPECT_EQ(connect().post("/v1/namespaces/ns/tables/t/unregister", "{}").status, 403);
  const auto commit = connect().post(
      "/v1/namespaces/ns/tables/t",
      R"({"requirements":[],"updates":[{"action":"set-properties","updates":{"k":"v"}}]})");
  EXPECT_EQ(commit.status, 403) << commit.body;
  EXPECT_EQ(connect().head("/v1/namespaces/ns/tables/t").status, 204);
  EXPECT_EQ(connect().del("/v1/namespaces/ns/tables/t").status, 204);
}

TEST_F(BoundReading, ReadsWhatItWroteItself) {
  const auto made = connect().post("/v1/namespaces/ns/tables", table_creation("own"));
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(connect().get("/v1/namespaces/ns/tables/own").status, 200);
}

TEST_F(BoundReading, SeesThroughLinksOfTheRootItself) {
  write_table("in/a.json");
  fs::create_directory_symlink(path("in"), path("root-link"));
  auto linked = bound_settings();
  linked.read_roots = {path("root-link")};
  start(linked);
  EXPECT_EQ(try_register(path("root-link/a.json")).status, 200);
}

TEST_F(BoundReading, RefusesRootsThatAreNoDirectoriesOfThisHost) {
  for (const char* root : {"s3://bucket/x", "/a/../b"}) {
    auto wrong = bound_settings();
    wrong.read_roots = {root};
    EXPECT_FALSE(daemon::Instance::start(wrong).ok()) << root;
  }
}

}  // namespace
}  // namespace iceblink::test
