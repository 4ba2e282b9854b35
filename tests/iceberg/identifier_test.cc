#include <gmock/gmock.h>
#include <iceblink/identifier.h>

namespace iceblink {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kNul(1, '\0');

TEST(Identifier, EncodesLevelsAndNamesWithSeparatorsOfTheirOwn) {
  EXPECT_EQ(encode(Namespace{}), "");
  EXPECT_EQ(encode(Namespace{"a", "b"}),
            "a\x1f"
            "b");
  EXPECT_EQ(encode(TableIdent{{"a", "b"}, "t"}),
            "a\x1f"
            "b" +
                kNul + "t");
}

TEST(Identifier, DecodesWhatItEncodes) {
  for (const Namespace& levels : {Namespace{"a"}, Namespace{"a.b", "\x01", "\xc3\xa4"}}) {
    EXPECT_EQ(*decode_namespace(encode(levels)), levels);
    const TableIdent table{levels, "t \"x\""};
    EXPECT_EQ(*decode_table(encode(table)), table);
  }
  EXPECT_TRUE(decode_namespace("")->empty());
}

TEST(Identifier, CallsKeysCorruptThatItCannotHaveMade) {
  for (const std::string& key :
       {std::string("a\x1f"), std::string("\x1f"), std::string("\xff"), "a" + kNul}) {
    EXPECT_EQ(decode_namespace(key).error().kind(), ErrorKind::kCorrupt);
  }
  for (const std::string& key :
       {std::string("a"), "a" + kNul, "a" + kNul + "b" + kNul + "c", "\x1f" + kNul + "t"}) {
    EXPECT_EQ(decode_table(key).error().kind(), ErrorKind::kCorrupt);
  }
}

TEST(Identifier, RefusesEmptyPartsSeparatorsAndBrokenUtf8) {
  const std::string bad[] = {"",         kNul,           "a\x1f",        "\x80",
                             "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                             "\xc3",     "\xf8"};
  for (const auto& part : bad) {
    EXPECT_EQ(validate(Namespace{"a", part}).error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_EQ(validate(TableIdent{{"a"}, part}).error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_EQ(validate_name(part).error().kind(), ErrorKind::kInvalidArgument);
  }
  for (const std::string part : {"a b", "a.b", "a/b", "\x01", "\xc3\xa4", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(validate(Namespace{"a", part}));
    EXPECT_TRUE(validate(TableIdent{{"a"}, part}));
    EXPECT_TRUE(validate_name(part));
  }
  EXPECT_FALSE(validate(Namespace{}));
  EXPECT_FALSE(validate(TableIdent{{}, "t"}));
}

TEST(Identifier, NamesTheLevelThatIsWrong) {
  EXPECT_THAT(validate(Namespace{"a", ""}).error().message(), HasSubstr("level 2"));
  EXPECT_THAT(validate(Namespace{"a\x1f"}).error().message(), HasSubstr("\\x1f"));
}

TEST(Identifier, TakesKeysOfExactlyTheLimit) {
  EXPECT_TRUE(validate(Namespace{std::string(511, 'x')}));
  EXPECT_FALSE(validate(Namespace{std::string(512, 'x')}));
  EXPECT_TRUE(validate(TableIdent{{"a"}, std::string(509, 'x')}));
  const auto longer = validate(TableIdent{{"a"}, std::string(510, 'x')});
  EXPECT_THAT(longer.error().message(), HasSubstr("512 bytes once encoded, the limit is 511"));
}

TEST(Identifier, ParsesTheDottedForm) {
  EXPECT_EQ(*parse_namespace("a.b"), (Namespace{"a", "b"}));
  EXPECT_EQ(*parse_table("a.b.t"), (TableIdent{{"a", "b"}, "t"}));
  EXPECT_EQ(*parse_table(R"("a.b"."say ""hi""")"), (TableIdent{{"a.b"}, R"(say "hi")"}));
}

TEST(Identifier, SaysWhereTheDottedFormIsWrong) {
  EXPECT_THAT(parse_namespace("a..b").error().message(), HasSubstr("byte 2: a part is empty"));
  EXPECT_THAT(parse_namespace("\"a").error().message(), HasSubstr("byte 0: this quote is never"));
  EXPECT_THAT(parse_namespace("a\"b").error().message(), HasSubstr("byte 1: a part that holds"));
  EXPECT_THAT(parse_namespace("\"a\"b").error().message(), HasSubstr("byte 3: expected '.'"));
  for (const char* text : {"", ".", "a.", ".a", "\"\""})
    EXPECT_FALSE(parse_namespace(text)) << text;
  EXPECT_THAT(parse_table("t").error().message(), HasSubstr("names no table"));
}

TEST(Identifier, FormatsSoThatParsingGivesTheSame) {
  for (const Namespace& levels :
       {Namespace{"a"}, Namespace{"a.b", "c"}, Namespace{"\"", "\"\".", " "}}) {
    EXPECT_EQ(*parse_namespace(format(levels)), levels);
    const TableIdent table{levels, "t.\"u\""};
    EXPECT_EQ(*parse_table(format(table)), table);
  }
  EXPECT_EQ(format(TableIdent{{"a", "b.c"}, "t"}), "a.\"b.c\".t");
}

}  // namespace
}  // namespace iceblink
