// Names in URLs: separators, what is decoded once, and the two readings of '+'.
#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class NamesInUrls : public ChecklistTest {
 protected:
  static Object some(std::string_view name) { return named(name); }
  HttpResponse create_in(const std::string& levels, std::string_view name) {
    return post("/" + levels + "/tables", named(name));
  }
  void create_view_in(const std::string& levels, std::string_view name) {
    EXPECT_THAT(
        post("/" + levels + "/views", view_creation(name, Array{sql_of("spark", "SELECT 1")})),
        HasStatus(200))
        << name;
  }
  static Commit some_change(std::string_view value) {
    return {.requirements = {}, .updates = {set_properties({{"p", value}})}};
  }
};

TEST_F(NamesInUrls, HaveTheirLevelsSeparatedByAnEscape) {
  create_namespace(R"(["a"])");
  create_namespace(R"(["a","b"])");
  create_namespace(R"(["a.b"])");
  EXPECT_THAT(create_in("a%1Fb", "t"), HasStatus(200));
  EXPECT_THAT(get("/a%1fb/tables/t"), HasStatus(200));
  EXPECT_THAT(get("/a.b/tables/t"), HasStatus(404));
  EXPECT_THAT(names_of("/a%2Eb/tables"), IsEmpty());
  EXPECT_THAT(names_of("/a%1Fb/tables"), ElementsAre("t"));
}

TEST_F(NamesInUrls, HaveTheAdvertisedSeparatorBesideTheUsualOne) {
  auto with_dot = settings();
  with_dot.namespace_separator = "%2E";
  start(with_dot);
  create_namespace(R"(["a"])");
  create_namespace(R"(["a","b"])");
  create_namespace(R"(["c.d"])");
  const auto config = send({.target = "/v1/config"}).json();
  EXPECT_EQ(config.at("overrides").at("namespace-separator"), "%2E");
  EXPECT_THAT(create_in("a%2Eb", "t"), HasStatus(200));
  for (const auto& levels : {"a%2Eb", "a%2eb", "a%1Fb"}) {
    EXPECT_THAT(get("/" + std::string(levels) + "/tables/t"), HasStatus(200)) << levels;
    EXPECT_THAT(post("/" + std::string(levels) + "/tables/t", some_change(levels).body()),
                HasStatus(200))
        << levels;
  }
  // A dot that is not encoded is none.
  EXPECT_THAT(get("/a.b/tables/t"), HasStatus(404));
  EXPECT_THAT(get("/c.d"), HasStatus(200));
  EXPECT_THAT(namespaces("?parent=a.b"), IsEmpty());
  EXPECT_THAT(namespaces("?parent=a"), ElementsAre("a.b"));
  start(settings());
}

TEST_F(NamesInUrls, AreDecodedOnce) {
  for (const auto& [levels, encoded] :
       {std::pair(R"(["a/b"])", "a%2Fb"), std::pair(R"(["a%2Fb"])", "a%252Fb"),
        std::pair(R"(["%"])", "%25"), std::pair(R"(["a.b"])", "a%2Eb"),
        std::pair(R"(["a b"])", "a%20b"), std::pair(R"(["é🧊"])", "%C3%A9%F0%9F%A7%8A"),
        std::pair(R"(["?#&=;"])", "%3F%23%26%3D%3B"), std::pair(R"([".."])", "%2E%2E"),
        std::pair(R"(["\"\\"])", "%22%5C")}) {
    create_namespace(levels);
    const std::string path = encoded;
    EXPECT_EQ(get("/" + path).json().at("namespace"), json_of(levels)) << path;
    const auto name = text_of(json_of(levels).as_array().front());
    EXPECT_THAT(create_in(path, name), HasStatus(200)) << path;
    EXPECT_THAT(names_of("/" + path + "/tables"), ElementsAre(name));
    EXPECT_THAT(post("/" + path + "/tables/" + path, some_change("x").body()), HasStatus(200));
    EXPECT_THAT(head("/" + path + "/tables/" + path), HasStatus(204));
    create_view_in(path, "v" + name);
    EXPECT_THAT(get("/" + path + "/views/v" + path), HasStatus(200));
  }
}

TEST_F(NamesInUrls, ThatAreNotEncodedWellAreRefused) {
  for (const auto& path : {"/%", "/%2", "/%zz", "/a%", "/%FF", "/%C3%28", "/%ED%A0%80", "/%00",
                           "/%1F", "/a%1F", "/%1Fa", "/a%1F%1Fb"}) {
    const auto answer = get(path);
    EXPECT_THAT(answer, HasStatus(400)) << path;
    expect_error_body(answer);
  }
  for (const auto& path : {"/ns/tables/%FF", "/ns/tables/%1F", "/ns/views/%", "/ns/tables/%00"}) {
    EXPECT_THAT(get(path), HasStatus(400)) << path;
    EXPECT_THAT(del(path), HasStatus(400)) << path;
    EXPECT_THAT(head(path), HasStatus(400)) << path;
  }
  EXPECT_THAT(get("/ns/tables/"), HasStatus(400));
  EXPECT_THAT(get("/ns/views/"), HasStatus(400));
}

TEST_F(NamesInUrls, AreCaseSensitive) {
  create_namespace(R"(["NS"])");
  create_table("t");
  EXPECT_THAT(get("/NS/tables/t"), HasStatus(404));
  EXPECT_THAT(get(table("T")), HasStatus(404));
  create_table("T");
  EXPECT_THAT(names_of("/ns/tables"), UnorderedElementsAre("T", "t"));
  EXPECT_THAT(rename("tables", in_ns("t"), in_ns("tT")), HasStatus(204));
  EXPECT_THAT(rename("tables", in_ns("tT"), in_ns("Tt")), HasStatus(204));
  EXPECT_THAT(names_of("/ns/tables"), UnorderedElementsAre("T", "Tt"));
}

// ---- '+': a space, or a plus where no such object is.

TEST_F(NamesInUrls, TakeAPlusForASpaceInEveryRouteOfTables) {
  create_namespace(R"(["a b"])");
  EXPECT_THAT(create_in("a+b", "t u"), HasStatus(200));
  EXPECT_THAT(names_of("/a+b/tables"), ElementsAre("t u"));
  EXPECT_THAT(get("/a+b/tables/t+u"), HasStatus(200));
  EXPECT_THAT(head("/a+b/tables/t+u"), HasStatus(204));
  EXPECT_THAT(post("/a+b/tables/t+u", some_change("x").body()), HasStatus(200));
  EXPECT_THAT(post("/a+b/tables/t+u", some_change("y").body_for("a b", "t u")), HasStatus(200));
  EXPECT_THAT(post_text("/a+b/tables/t+u/metrics", R"({"report-type":"scan-report"})"),
              HasStatus(204));
  EXPECT_THAT(post_text("/a+b/properties", R"({"updates":{"a":"b"}})"), HasStatus(200));
  EXPECT_THAT(del("/a+b/tables/t+u"), HasStatus(204));
  EXPECT_THAT(del("/a+b"), HasStatus(204));
}

TEST_F(NamesInUrls, TakeAPlusForAPlusWhereThatIsWhatIsThere) {
  create_namespace(R"(["a+b"])");
  EXPECT_THAT(create_in("a+b", "t+u"), HasStatus(200));
  EXPECT_THAT(get("/a+b").json().at("namespace"), json_of(R"(["a+b"])"));
  EXPECT_THAT(names_of("/a+b/tables"), ElementsAre("t+u"));
  EXPECT_THAT(get("/a+b/tables/t+u"), HasStatus(200));
  EXPECT_THAT(get("/a%2Bb/tables/t%2Bu"), HasStatus(200));
  EXPECT_THAT(head("/a+b/tables/t+u"), HasStatus(204));
  EXPECT_THAT(post("/a+b/tables/t+u", some_change("x").body()), HasStatus(200));
  EXPECT_THAT(post("/a+b/tables/t+u", some_change("y").body_for("a+b", "t+u")), HasStatus(200));
  create_view_in("a+b", "v+w");
  EXPECT_THAT(get("/a+b/views/v+w"), HasStatus(200));
  EXPECT_THAT(post("/a+b/views/v+w", some_change("x").body()), HasStatus(200));
  EXPECT_THAT(post_text("/a+b/properties", R"({"updates":{"a":"b"}})"), HasStatus(200));
  EXPECT_THAT(del("/a+b/views/v+w"), HasStatus(204));
  EXPECT_THAT(del("/a+b/tables/t+u"), HasStatus(204));
  EXPECT_THAT(del("/a+b"), HasStatus(204));
}

TEST_F(NamesInUrls, PreferTheSpaceWhereBothAreThere) {
  create_table("t u");
  create_table("t+u");
  EXPECT_EQ(get(table("t+u")).body, get(table("t%20u")).body);
  EXPECT_NE(get(table("t+u")).body, get(table("t%2Bu")).body);
  // A body says which one is meant.
  EXPECT_THAT(post(table("t+u"), some_change("x").body_for("ns", "t+u")), HasStatus(200));
  EXPECT_EQ(property(metadata_at(table("t%2Bu")), "p"), "x");
  EXPECT_EQ(property(metadata_at(table("t%20u")), "p"), "(none)");
  EXPECT_THAT(del(table("t+u")), HasStatus(204));
  EXPECT_THAT(names_of("/ns/tables"), ElementsAre("t+u"));
}

TEST_F(NamesInUrls, ReadAParentAsAQueryDoes) {
  create_namespace(R"(["a b"])");
  create_namespace(R"(["a b","c"])");
  EXPECT_THAT(namespaces("?parent=a+b"), ElementsAre("a b.c"));
  EXPECT_THAT(namespaces("?parent=a%20b"), ElementsAre("a b.c"));
  EXPECT_THAT(get("?parent=a%2Bb"), HasStatus(404));
}

TEST_F(NamesInUrls, NeedAPlusSpelledOutWhereATableIsStagedAndCommitted) {
  create_namespace(R"(["a+b"])");
  Object staged = named("t+u");
  staged["stage-create"] = true;
  const auto answer = post("/a+b/tables", staged);
  ASSERT_THAT(answer, HasStatus(200));
  const auto commit = creation(answer.json().at("metadata"));
  EXPECT_THAT(post("/a+b/tables/t+u", commit.body_for("a+b", "t+u")), HasStatus(200));
  EXPECT_THAT(names_of("/a%2Bb/tables"), ElementsAre("t+u"));
}

// ---- Limits.

TEST_F(NamesInUrls, MayHave511BytesTogether) {
  const std::string most(511 - 3, 'x');  // behind "ns" and a separator
  create_table(most);
  EXPECT_THAT(get(table(most)), HasStatus(200));
  EXPECT_THAT(post(table(most), some_change("x").body()), HasStatus(200));
  EXPECT_THAT(rename("tables", in_ns(most), in_ns("t")), HasStatus(204));
  EXPECT_THAT(rename("tables", in_ns("t"), in_ns(most)), HasStatus(204));
  const auto before = state();
  const std::string more = most + "x";
  const auto refused = create(named(more));
  EXPECT_THAT(refused, HasStatus(400));
  EXPECT_THAT(refused.error_message(), HasSubstr("511"));
  EXPECT_THAT(rename("tables", in_ns(most), in_ns(more)), HasStatus(400));
  EXPECT_THAT(get(table(more)), HasStatus(400));
  EXPECT_EQ(state(), before);
}

TEST_F(NamesInUrls, ThatAreNoPlacesInADirectoryAreSafe) {
  for (const auto& levels : {R"([".."])", R"(["a/../.."])", R"(["."])", R"(["/etc"])"}) {
    create_namespace(levels);
    const auto level = text_of(json_of(levels).as_array().front());
    std::string encoded;
    for (const char c : level) encoded += c == '/' ? "%2F" : std::string(1, c);
    for (const auto& name : {"..", ".", "../../x", "/x", "a\\b", "x/metadata"}) {
      const auto created = create_in(encoded, name);
      ASSERT_THAT(created, HasStatus(200)) << name;
      const auto path = text_of(created.json().at("metadata-location"));
      EXPECT_EQ(std::filesystem::path(path).lexically_normal(), path);
      EXPECT_THAT(path, ::testing::StartsWith(warehouse() + "/"));
    }
  }
}

}  // namespace
}  // namespace iceblink::test
