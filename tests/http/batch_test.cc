#include <gmock/gmock.h>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

class Batch : public DaemonTest {
 protected:
  HttpResponse apply(const std::string& lines) {
    return connect().post("/iceblink/v1/batch", lines);
  }
  static std::string create(const std::string& name) {
    return R"({"op":"create-namespace","namespace":[")" + name + "\"]}\n";
  }
  static std::string register_line(const std::string& name, const std::string& location,
                                   const std::string& more = "") {
    return R"({"op":"register","namespace":["a"],"name":")" + name + R"(","metadata-location":")" +
           location + "\"" + more + "}\n";
  }
};

TEST_F(Batch, IsOneGeneration) {
  const auto before = daemon().generation();
  const auto location = write_table("t.json");
  const auto applied = apply(R"({"op":"create-namespace","namespace":["a"],"properties":{"k":"v"}})"
                             "\n\r\n  \n" +
                             register_line("t", location) + register_line("u", location) +
                             R"({"op":"rename","source":{"namespace":["a"],"name":"u"},)"
                             R"("destination":{"namespace":["a"],"name":"w"}})"
                             "\n" +
                             create("gone") + R"({"op":"drop-namespace","namespace":["gone"]})");
  ASSERT_EQ(applied.status, 200) << applied.body;
  EXPECT_EQ(daemon().generation(), before + 1);
  EXPECT_EQ(applied.body, R"({"generation":)" + std::to_string(before + 1) + R"(,"operations":6})");
  EXPECT_EQ(applied.header("iceblink-generation"), std::to_string(before + 1));
  auto client = connect();
  EXPECT_EQ(client.get("/v1/namespaces/a/tables/t").status, 200);
  EXPECT_EQ(client.head("/v1/namespaces/a/tables/w").status, 204);
  EXPECT_EQ(client.head("/v1/namespaces/a/tables/u").status, 404);
  EXPECT_EQ(client.head("/v1/namespaces/gone").status, 404);
}

TEST_F(Batch, DoesNothingWhenOneLineIsRefusedAndNamesIt) {
  const auto before = daemon().generation();
  const auto location = write_table("t.json");
  const auto refused = apply("\n" + create("a") + register_line("t", location) + "\n" +
                             register_line("t", location));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.error_type(), "AlreadyExistsException");
  EXPECT_EQ(refused.error_message(), "line 5: Table already exists: a.t");
  EXPECT_EQ(daemon().generation(), before);
  EXPECT_EQ(connect().head("/v1/namespaces/a").status, 404);
}

TEST_F(Batch, NamesTheLineItCannotUnderstand) {
  for (const char* line :
       {"not json", "[]", R"({"op":"frobnicate"})", R"({"namespace":["b"]})",
        R"({"op":"drop","namespace":["a"]})", R"({"op":"create-namespace","namespace":[""]})",
        R"({"op":"register","namespace":["a"],"name":"t"})", R"({"op":"rename","source":1})",
        R"({"op":"register","namespace":["a"],"name":"t","metadata-location":"/x","kind":"z"})",
        "{\"op\":\"drop-namespace\",\"namespace\":[\"\xff\"]}"}) {
    const auto refused = apply(create("a") + line + "\n" + create("b"));
    EXPECT_EQ(refused.status, 400) << line;
    EXPECT_THAT(refused.error_message(), HasSubstr("line 2: ")) << line;
  }
  EXPECT_EQ(connect().get("/v1/namespaces").body, R"({"namespaces":[],"next-page-token":null})");
}

TEST_F(Batch, NamesTheLineOfAMissingFileAndOfAViewsMetadata) {
  const auto missing = apply(create("a") + register_line("t", "/nowhere/v1.json"));
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.error_type(), "NotFoundException");
  EXPECT_EQ(missing.error_message(),
            "line 2: Failed to open input stream for file: /nowhere/v1.json");
  const auto view =
      apply(create("a") + register_line("t", write_metadata("v.json", view_metadata())));
  EXPECT_EQ(view.status, 400);
  EXPECT_THAT(view.error_message(), HasSubstr("line 2: "));
}

TEST_F(Batch, RegistersUnverifiedWithoutReading) {
  ASSERT_EQ(
      apply(create("a") + register_line("t", "s3://b/v1.json", R"(,"unverified":true)")).status,
      200);
  EXPECT_EQ(connect().head("/v1/namespaces/a/tables/t").status, 204);
}

TEST_F(Batch, ComparesAndSwapsEveryPointerOrNone) {
  const auto one = write_table("1.json", '1');
  const auto two = write_table("2.json", '2');
  ASSERT_EQ(apply(create("a") + register_line("t", one) + register_line("u", one)).status, 200);
  const auto lost = apply(register_line("t", two, R"(,"expect":")" + one + "\"") +
                          register_line("u", two, R"(,"expect":"/w/else.json")"));
  EXPECT_EQ(lost.status, 409);
  EXPECT_EQ(lost.error_type(), "CommitFailedException");
  EXPECT_THAT(lost.error_message(), HasSubstr("line 2: "));
  EXPECT_EQ(connect().get("/v1/namespaces/a/tables/t").json().at("metadata-location").as_string(),
            one);
  EXPECT_EQ(apply(register_line("t", two, R"(,"expect":")" + one + "\"") +
                  register_line("u", two, R"(,"expect":")" + one + "\""))
                .status,
            200);
}

TEST_F(Batch, OfNothingIsDoneAtOnce) {
  const auto before = daemon().generation();
  const auto applied = apply("\n \n");
  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.body, R"({"generation":)" + std::to_string(before) + R"(,"operations":0})");
}

TEST_F(Batch, TakesManyLinesAtOnce) {
  std::string lines = create("a");
  for (int i = 0; i < 5000; ++i) {
    lines += register_line("t" + std::to_string(i), "s3://b/" + std::to_string(i),
                           R"(,"unverified":true)");
  }
  ASSERT_EQ(apply(lines).status, 200);
  EXPECT_EQ(daemon().table_count(), 5000u);
}

}  // namespace
}  // namespace iceblink::test
