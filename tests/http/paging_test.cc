#include "daemon/http/paging.h"

#include <gtest/gtest.h>

namespace iceblink::daemon::http {
namespace {

const Namespace kParent{"a", "b"};

TEST(PageToken, GivesBackTheNameItHolds) {
  for (const std::string name : {"t", "a b/c.d", "\xC3\xA9", "ab", "abc", "abcd"}) {
    const auto token = make_page_token(Listing::kTables, kParent, name);
    EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789-_"),
              std::string::npos);
    const auto read = read_page_token(Listing::kTables, kParent, token);
    ASSERT_TRUE(read.ok()) << name;
    EXPECT_EQ(*read, name);
  }
}

TEST(PageToken, IsRefusedByAnotherListing) {
  const auto token = make_page_token(Listing::kTables, kParent, "t");
  EXPECT_FALSE(read_page_token(Listing::kNamespaces, kParent, token).ok());
  EXPECT_FALSE(read_page_token(Listing::kTables, {"a"}, token).ok());
  EXPECT_FALSE(read_page_token(Listing::kTables, {"a.b"}, token).ok());
}

TEST(PageToken, IsRefusedWhenAnyCharacterOfItsHeadIsChanged) {
  const auto token = make_page_token(Listing::kTables, kParent, "t");
  for (std::size_t i = 0; i < 13; ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(read_page_token(Listing::kTables, kParent, changed).ok()) << i;
  }
}

TEST(PageToken, RefusesGarbage) {
  const auto token = make_page_token(Listing::kTables, kParent, "t");
  for (const std::string& text :
       {std::string("A"), std::string("AAAA"), std::string("%%%"), token.substr(0, 13), token + "=",
        token + "A", std::string(5000, 'A')}) {
    EXPECT_FALSE(read_page_token(Listing::kTables, kParent, text).ok()) << text;
  }
  EXPECT_FALSE(read_page_token(Listing::kTables, kParent,
                               make_page_token(Listing::kTables, kParent, std::string("a\0b", 3)))
                   .ok());
}

}  // namespace
}  // namespace iceblink::daemon::http
