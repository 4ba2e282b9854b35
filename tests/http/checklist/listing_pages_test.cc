// Paging over tables, views and namespaces (specification, "Pagination").
#include <set>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Page {
  std::vector<std::string> names;
  std::optional<std::string> next;
};

/// `GetParam()`: the kind of listing.
class ListingPages : public ChecklistTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    ChecklistTest::SetUp();
    for (const char* const name : {"a", "b", "c", "d", "e"}) add(name);
  }
  void add(const std::string& name) {
    if (is("namespaces")) return create_namespace(R"(["ns",")" + name + R"("])");
    if (is("tables")) return void(create_table(name));
    create_sql_view(name);
  }
  void remove(const std::string& name) {
    const auto target =
        is("namespaces") ? "/ns%1F" + name : std::string("/ns/") + GetParam() + "/" + name;
    EXPECT_THAT(del(target), HasStatus(204));
  }
  HttpResponse list(const std::string& query) {
    if (is("namespaces")) return get("?parent=ns" + (query.empty() ? "" : "&" + query));
    return get(std::string("/ns/") + GetParam() + (query.empty() ? "" : "?" + query));
  }
  Page page(const std::string& query) {
    const auto listed = list(query);
    EXPECT_THAT(listed, HasStatus(200)) << query;
    if (listed.status != 200) return {};
    const auto body = listed.json();
    Page page;
    if (is("namespaces")) {
      for (const auto& levels : body.at("namespaces").as_array()) {
        page.names.push_back(text_of(levels.as_array().back()));
      }
    } else {
      for (const auto& ident : body.at("identifiers").as_array()) {
        page.names.push_back(text_of(ident.at("name")));
      }
    }
    const auto& next = body.at("next-page-token");
    if (!next.is_null()) page.next = text_of(next);
    return page;
  }
  [[nodiscard]] static bool is(std::string_view kind) { return kind == GetParam(); }
};

TEST_P(ListingPages, AreOneWithoutAPageToken) {
  for (const auto& query : {"", "pageSize=2", "pageSize=1"}) {
    const auto all = page(query);
    EXPECT_THAT(all.names, ElementsAre("a", "b", "c", "d", "e")) << query;
    EXPECT_EQ(all.next, std::nullopt) << query;
  }
}

TEST_P(ListingPages, BeginWithAnEmptyTokenAndEndWithNull) {
  auto current = page("pageToken=&pageSize=2");
  EXPECT_THAT(current.names, ElementsAre("a", "b"));
  ASSERT_TRUE(current.next);
  current = page("pageToken=" + *current.next + "&pageSize=2");
  EXPECT_THAT(current.names, ElementsAre("c", "d"));
  ASSERT_TRUE(current.next);
  current = page("pageToken=" + *current.next + "&pageSize=2");
  EXPECT_THAT(current.names, ElementsAre("e"));
  EXPECT_EQ(current.next, std::nullopt);
}

TEST_P(ListingPages, EndWithNullWhereThePageIsExactlyFull) {
  const auto all = page("pageToken=&pageSize=5");
  EXPECT_THAT(all.names, SizeIs(5));
  EXPECT_EQ(all.next, std::nullopt);
}

TEST_P(ListingPages, TakeAnySizeFromOne) {
  for (const auto& size : {"1000000", "9223372036854775807", "99999999999999999999999"}) {
    EXPECT_THAT(page("pageToken=&pageSize=" + std::string(size)).names, SizeIs(5)) << size;
  }
  EXPECT_THAT(page("pageToken=").names, SizeIs(5));
  for (const auto& size : {"0", "-1", "x", "", "1.5", "2%20", "0x2", "-99999999999999999999"}) {
    const auto refused = list("pageToken=&pageSize=" + std::string(size));
    EXPECT_THAT(refused, IsError(400, "IllegalArgumentException", HasSubstr("pageSize"))) << size;
    EXPECT_THAT(list("pageSize=" + std::string(size)), HasStatus(400)) << size;
  }
}

TEST_P(ListingPages, RefuseTokensThatAreNone) {
  const auto token = *page("pageToken=&pageSize=2").next;
  const std::string cut = token.substr(0, token.size() / 2);
  for (const std::string& bad :
       std::vector<std::string>{"x", "%00", "a%20b", "MQ", cut, token + "A", token + token,
                                "%FF%FE", std::string(5000, 'A')}) {
    EXPECT_THAT(list("pageToken=" + bad),
                IsError(400, "IllegalArgumentException", HasSubstr("pageToken")))
        << bad;
  }
}

TEST_P(ListingPages, RefuseTheTokenOfAnotherListing) {
  const auto token = *page("pageToken=&pageSize=2").next;
  create_namespace(R"(["other"])");
  for (const auto& other : {"/ns/tables", "/ns/views", "/other/tables", "/other/views",
                            "?parent=ns", "?parent=other", ""}) {
    const std::string target = other;
    const bool is_own =
        is("namespaces") ? target == "?parent=ns" : target == std::string("/ns/") + GetParam();
    if (is_own) continue;
    const auto joint = target.find('?') == std::string::npos ? "?" : "&";
    EXPECT_THAT(get(target + joint + "pageToken=" + token), HasStatus(400)) << target;
  }
}

TEST_P(ListingPages, NeitherDoubleNorMissWhatWasThereAllTheTime) {
  const auto first = page("pageToken=&pageSize=2");
  add("aa");    // before what was answered
  remove("b");  // the one that the token holds
  remove("d");
  add("cc");
  add("f");
  std::vector<std::string> rest;
  for (auto next = first.next; next;) {
    const auto more = page("pageToken=" + *next + "&pageSize=2");
    rest.insert(rest.end(), more.names.begin(), more.names.end());
    next = more.next;
  }
  EXPECT_THAT(first.names, ElementsAre("a", "b"));
  EXPECT_THAT(rest, ElementsAre("c", "cc", "e", "f"));
}

TEST_P(ListingPages, AreEmptyWhereEverythingBehindTheTokenIsGone) {
  const auto first = page("pageToken=&pageSize=3");
  remove("d");
  remove("e");
  const auto rest = page("pageToken=" + *first.next + "&pageSize=3");
  EXPECT_THAT(rest.names, IsEmpty());
  EXPECT_EQ(rest.next, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Of, ListingPages, ::testing::Values("tables", "views", "namespaces"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_F(ChecklistTest, ListsDirectChildrenOfANamespaceAlone) {
  create_namespace(R"(["ns","a"])");
  create_namespace(R"(["ns","a","deep"])");
  create_namespace(R"(["other"])");
  EXPECT_THAT(namespaces(), ElementsAre("ns", "other"));
  EXPECT_THAT(namespaces("?parent="), ElementsAre("ns", "other"));
  EXPECT_THAT(namespaces("?parent=ns"), ElementsAre("ns.a"));
  EXPECT_THAT(namespaces("?parent=ns%1Fa"), ElementsAre("ns.a.deep"));
  EXPECT_THAT(get("?parent=none"), IsError(404, "NoSuchNamespaceException", HasSubstr("none")));
}

}  // namespace
}  // namespace iceblink::test
