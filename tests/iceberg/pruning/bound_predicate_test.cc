// Predicates that meet a schema: which columns they name, and what values become.
#include "iceberg/pruning/bound_predicate.h"

#include <array>
#include <cmath>
#include <limits>

#include "tests/iceberg/metadata_samples.h"
#include "tests/iceberg/pruning/pruning_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::HasSubstr;

Document needed(int id, const std::string& name) {
  return field(id, name).with("required", "true");
}

/// A column of each kind, its kind for a name; and some that hold others.
std::string all_fields() {
  std::string fields;
  int id = 0;
  for (const auto& [name, type] : {std::pair{"i", "int"},
                                   {"l", "long"},
                                   {"f", "float"},
                                   {"d", "double"},
                                   {"dec", "decimal(9,2)"},
                                   {"date", "date"},
                                   {"time", "time"},
                                   {"ts", "timestamp"},
                                   {"tz", "timestamptz"},
                                   {"ns", "timestamp_ns"},
                                   {"s", "string"},
                                   {"u", "uuid"},
                                   {"bin", "binary"},
                                   {"b", "boolean"},
                                   {"user.name", "string"},
                                   {"un", "unknown"},
                                   {"unz", "timestamptz_ns"}}) {
    fields += field(++id, name, '"' + std::string(type) + '"').text() + ',';
  }
  const auto holding = [](const std::string& inner) {
    return R"({"type":"struct","fields":[)" + inner + "]}";
  };
  const std::string mail = field(21, "e.mail", R"("string")").text();
  fields += field(22, "user", holding(needed(20, "id").text() + ',' + mail)).text() + ',';
  fields += field(30, "tags",
                  R"({"type":"list","element-id":31,"element":"string",)"
                  R"("element-required":true})")
                .text() +
            ',';
  fields += needed(40, "r").text() + ',';
  fields += needed(50, "needed").with("type", holding(needed(51, "id").text())).text();
  return fields;
}

class BindTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto table = load(v3().with("schemas", '[' + schema(all_fields()).text() + ']'));
    ASSERT_TRUE(table) << table.error().message();
    table_ = *table;
  }

  /// "l >= 5", with ids for names; a range of values as "3 < [0.1, 0.2]".
  std::string bound(const Predicate& predicate) {
    const auto bound = BoundPredicate::bind(predicate, table_->current_schema(), table_->schemas);
    if (!bound)
      return std::string(to_string(bound.error().kind())) + ": " + bound.error().message();
    return text_of(*bound, bound->nodes().back());
  }
  std::string bound(const char* column, Comparison comparison, const PredicateValue& value) {
    return bound(Predicate::compare(column, comparison, value));
  }
  std::string equal(const char* column, const PredicateValue& value) {
    return bound(column, Comparison::kEqual, value);
  }

  std::shared_ptr<const TableMetadata> table_;

 private:
  static std::string text_of(const BoundPredicate& predicate, const BoundNode& node) {
    using Kind = BoundNode::Kind;
    constexpr std::array kSigns{"=", "<>", "<", "<=", ">", ">="};
    if (node.kind == Kind::kNever) return "never";
    if (node.kind == Kind::kAnd || node.kind == Kind::kOr) {
      return '(' + text_of(predicate, predicate.nodes()[node.left]) +
             (node.kind == Kind::kAnd ? " and " : " or ") +
             text_of(predicate, predicate.nodes()[node.right]) + ')';
    }
    const std::string id = std::to_string(predicate.columns()[node.column].field->id);
    if (node.kind == Kind::kIsNull) return id + " is null";
    if (node.kind == Kind::kNotNull) return id + " is not null";
    const bool is_one = is_same(node.low, node.high);
    const std::string value =
        is_one ? to_text(node.low) : '[' + to_text(node.low) + ", " + to_text(node.high) + ']';
    const bool is_float = node.low.kind == TypeKind::kFloat || node.low.kind == TypeKind::kDouble;
    return id + ' ' + kSigns[static_cast<std::size_t>(node.comparison)] + ' ' + value +
           (is_float && node.nan == NanMatch::kPossible ? " or NaN" : "");
  }
};

TEST_F(BindTest, ANameIsATopLevelColumnBeforeItIsAPath) {
  EXPECT_EQ(bound(Predicate::is_null("user.name")), "15 is null");
  EXPECT_EQ(bound(Predicate::is_null("user.id")), "20 is null");
  EXPECT_EQ(bound(Predicate::is_null("user.e.mail")), "21 is null");
  EXPECT_EQ(bound(Predicate::not_null("user")), "22 is not null");
  EXPECT_EQ(bound(Predicate::not_null("tags")), "30 is not null");
}

TEST_F(BindTest, RefusesNamesOfNoColumn) {
  for (const char* name : {"", ".", "I", "user.", ".user", "user.x", "user.id.x", "i.x", "use"}) {
    EXPECT_EQ(bound(Predicate::is_null(name)),
              "invalid_argument: " + std::string(name) + ": the schema has no such column");
  }
  EXPECT_THAT(bound(Predicate::is_null("tags.element")),
              HasSubstr("tags.element: is inside of a list or map"));
}

TEST_F(BindTest, SaysWhatAColumnTakes) {
  EXPECT_EQ(equal("user.id", "x"),
            "invalid_argument: user.id: a long cannot be compared with text 'x'; it takes an "
            "integer");
  EXPECT_THAT(equal("i", 1.0), HasSubstr("i: an int cannot be compared with the number 1.0"));
  EXPECT_THAT(equal("i", true), HasSubstr("with true; it takes an integer"));
  EXPECT_THAT(equal("b", std::int64_t{1}),
              HasSubstr("a boolean cannot be compared with the integer 1"));
  EXPECT_THAT(equal("s", std::int64_t{1}), HasSubstr("s: a string cannot be compared"));
  EXPECT_THAT(equal("d", "1"), HasSubstr("it takes a number"));
  EXPECT_THAT(equal("dec", 1.5), HasSubstr("a decimal(9, 2) cannot be compared with the number"));
  EXPECT_THAT(equal("user", "x"), HasSubstr("user: a struct cannot be compared with text 'x'"));
  EXPECT_THAT(equal("tags", "x"), HasSubstr("a list cannot be compared"));
  EXPECT_THAT(equal("un", "x"), HasSubstr("an unknown cannot be compared"));
  EXPECT_THAT(equal("l", std::string(59, 'a') + "\xc3\xa4zz"),
              HasSubstr("text '" + std::string(59, 'a') + "\xe2\x80\xa6'"));
  EXPECT_THAT(equal("l", "a\n\xff"), HasSubstr(R"(text 'a\x0a\xff')"));
}

TEST_F(BindTest, TakesTextsOfDecimals) {
  EXPECT_EQ(equal("dec", "14.20"), "5 = 14.20");
  EXPECT_EQ(equal("dec", "-.5"), "5 = -0.50");
  EXPECT_EQ(equal("dec", "+7."), "5 = 7.00");
  EXPECT_EQ(equal("dec", std::int64_t{-7}), "5 = -7.00");
  for (const char* text : {"14.200", "", ".", "-", "1e2", " 1", "1 ", "0x1", "1.2.3", "--1"}) {
    EXPECT_THAT(equal("dec", text), HasSubstr("as many digits behind the point as its scale"));
  }
}

TEST_F(BindTest, TakesTextsOfDatesAndTimes) {
  EXPECT_EQ(equal("date", "2024-02-29"), "6 = 2024-02-29");
  EXPECT_EQ(equal("date", "-0001-12-31"), "6 = -0001-12-31");
  EXPECT_EQ(equal("date", "+10000-01-01"), "6 = +10000-01-01");
  EXPECT_EQ(equal("date", std::int64_t{-1}), "6 = 1969-12-31");
  EXPECT_EQ(equal("time", "22:31"), "7 = 22:31:00.000000");
  EXPECT_EQ(equal("time", "22:31:08.5"), "7 = 22:31:08.500000");
  EXPECT_EQ(equal("time", "22:31:08.123456000"), "7 = 22:31:08.123456");
  EXPECT_EQ(equal("ts", "1969-12-31T23:59:59.999999"), "8 = 1969-12-31T23:59:59.999999");
  EXPECT_EQ(equal("tz", "2026-01-31T22:31:08.5-08:00"), "9 = 2026-02-01T06:31:08.500000+00:00");
  EXPECT_EQ(equal("tz", "2026-01-31T22:31Z"), "9 = 2026-01-31T22:31:00.000000+00:00");
  EXPECT_EQ(equal("ns", "2017-11-16T22:31:08.123456789"), "10 = 2017-11-16T22:31:08.123456789");
  EXPECT_EQ(equal("unz", "2017-11-16T22:31:08+00:30"), "17 = 2017-11-16T22:01:08.000000000+00:00");
}

TEST_F(BindTest, RefusesTextsOfNoDateAndNoTime) {
  for (const char* text : {"2026-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "26-01-01",
                           "2026-1-1", "2026-01-31T00:00:00", "12026-01-01", "", "+2026-01-32"}) {
    EXPECT_THAT(equal("date", text), HasSubstr("text as '2026-01-31'"));
  }
  for (const char* text : {"24:00", "22", "22:60", "22:31:60", "22:31:08.", "22:31:08.1234567",
                           "22:31:08.1234567890", "22:31Z", "2:31"}) {
    EXPECT_THAT(equal("time", text), HasSubstr("microseconds since midnight"));
  }
  for (const char* text : {"2026-01-31", "2026-01-31 22:31", "2026-01-31T22:31:08+00:00",
                           "2026-01-31T22:31:08Z", "2026-01-31T22:31:08.0000001"}) {
    EXPECT_THAT(equal("ts", text), HasSubstr("a timestamp cannot be compared"));
  }
  for (const char* text : {"2026-01-31T22:31:08", "2026-01-31T22:31:08+0000",
                           "2026-01-31T22:31:08+24:00", "2026-01-31T22:31:08 00:00"}) {
    EXPECT_THAT(equal("tz", text), HasSubstr("+00:00'"));
  }
}

TEST_F(BindTest, TakesUuidsTextsAndBytes) {
  EXPECT_EQ(equal("u", "F79C3E09-677c-4bbd-a479-3f349cb785e7"),
            "12 = f79c3e09-677c-4bbd-a479-3f349cb785e7");
  EXPECT_THAT(equal("u", "f79c"), HasSubstr("a uuid cannot be compared with text 'f79c'"));
  EXPECT_EQ(equal("s", "x"), "11 = x");
  EXPECT_EQ(equal("bin", "\xff"), "13 = ff");
  EXPECT_EQ(equal("b", true), "14 = true");
}

TEST_F(BindTest, LongTextsAreStillThereWhenThePredicateIsGone) {
  const std::string text(1000, 'x');
  auto bound = BoundPredicate::bind(Predicate::compare("s", Comparison::kEqual, text) ||
                                        Predicate::compare("s", Comparison::kEqual, "short"),
                                    table_->current_schema(), table_->schemas);
  ASSERT_TRUE(bound);
  const BoundPredicate moved = std::move(*bound);
  EXPECT_EQ(moved.nodes()[0].low.bytes, text);
  EXPECT_EQ(moved.nodes()[1].low.bytes, "short");
}

TEST_F(BindTest, AValueBeyondAllOfItsColumnIsToldByTheComparison) {
  const std::int64_t large = std::int64_t{1} << 40;
  using enum Comparison;
  for (const Comparison comparison : {kLess, kLessEqual, kNotEqual}) {
    EXPECT_EQ(bound("i", comparison, large), "1 is not null");
    EXPECT_EQ(bound("dec", comparison, "99999999999999999999999999999999999999999999"),
              "5 is not null");
    EXPECT_EQ(bound("ns", comparison, "2300-01-01T00:00"), "10 is not null");
  }
  for (const Comparison comparison : {kGreater, kGreaterEqual, kEqual}) {
    EXPECT_EQ(bound("i", comparison, large), "never");
    EXPECT_EQ(bound("date", comparison, large), "never");
    EXPECT_EQ(bound("date", comparison, "+9999999-01-01"), "never");
    EXPECT_EQ(bound("dec", comparison, std::int64_t{10'000'000}), "never");
  }
  for (const Comparison comparison : {kGreater, kGreaterEqual, kNotEqual}) {
    EXPECT_EQ(bound("i", comparison, -large), "1 is not null");
    EXPECT_EQ(bound("dec", comparison, std::int64_t{-10'000'000}), "5 is not null");
  }
  EXPECT_EQ(bound("i", kEqual, std::int64_t{2147483647}), "1 = 2147483647");
  EXPECT_EQ(bound("i", kLess, std::int64_t{-2147483649}), "never");
  EXPECT_EQ(bound(!Predicate::compare("i", kEqual, PredicateValue(large))), "1 is not null");
}

TEST_F(BindTest, ANumberThatAColumnWouldRoundIsWhatIsAroundIt) {
  EXPECT_EQ(equal("d", 0.1), "4 = 0.1");
  EXPECT_EQ(equal("d", std::int64_t{3}), "4 = 3.0");
  EXPECT_EQ(equal("f", 0.5), "3 = 0.5");
  EXPECT_EQ(equal("d", (std::int64_t{1} << 53) + 1),
            "4 = [9007199254740992.0, 9007199254740994.0]");
  const double inexact = 0.1;
  const double rounded = double{0.1F};
  const auto bound = BoundPredicate::bind(Predicate::compare("f", Comparison::kLess, inexact),
                                          table_->current_schema(), table_->schemas);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->nodes()[0].low.number, inexact);
  EXPECT_EQ(bound->nodes()[0].high.number, rounded);
  const auto huge = BoundPredicate::bind(Predicate::compare("f", Comparison::kLess, -1e300),
                                         table_->current_schema(), table_->schemas);
  ASSERT_TRUE(huge);
  EXPECT_EQ(huge->nodes()[0].low.number, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(huge->nodes()[0].high.number, -1e300);
}

TEST_F(BindTest, AComparisonWithNanMightHoldForAnyValue) {
  for (const Comparison comparison : {Comparison::kEqual, Comparison::kLess}) {
    EXPECT_EQ(bound("d", comparison, std::nan("")), "4 is not null");
    EXPECT_EQ(bound(!Predicate::compare("d", comparison, std::nan(""))), "4 is not null");
  }
}

TEST_F(BindTest, NegationsEndInTheLeaves) {
  const auto less = Predicate::compare("l", Comparison::kLess, 5);
  EXPECT_EQ(bound(!less), "2 >= 5");
  EXPECT_EQ(bound(!!less), "2 < 5");
  EXPECT_EQ(bound(!(less && Predicate::is_null("s"))), "(2 >= 5 or 11 is not null)");
  EXPECT_EQ(bound(!(less || !Predicate::not_null("s"))), "(2 >= 5 and 11 is not null)");
  using enum Comparison;
  for (const auto& [comparison, text] : {std::pair{kEqual, "2 <> 5"},
                                         {kNotEqual, "2 = 5"},
                                         {kLess, "2 >= 5"},
                                         {kLessEqual, "2 > 5"},
                                         {kGreater, "2 <= 5"},
                                         {kGreaterEqual, "2 < 5"}}) {
    EXPECT_EQ(bound(!Predicate::compare("l", comparison, 5)), text);
  }
}

TEST_F(BindTest, NansMatchWhatSomeEngineLetsThemMatch) {
  using enum Comparison;
  const auto plain = [&](Comparison comparison) { return bound("d", comparison, 5.0); };
  const auto negated = [&](Comparison comparison) {
    return bound(!Predicate::compare("d", comparison, 5.0));
  };
  EXPECT_EQ(plain(kEqual), "4 = 5.0");
  EXPECT_EQ(plain(kLess), "4 < 5.0");
  EXPECT_EQ(plain(kLessEqual), "4 <= 5.0");
  EXPECT_EQ(plain(kGreater), "4 > 5.0 or NaN");
  EXPECT_EQ(plain(kGreaterEqual), "4 >= 5.0 or NaN");
  EXPECT_EQ(plain(kNotEqual), "4 <> 5.0 or NaN");
  EXPECT_EQ(negated(kNotEqual), "4 = 5.0");
  EXPECT_EQ(negated(kEqual), "4 <> 5.0 or NaN");
  EXPECT_EQ(negated(kGreater), "4 <= 5.0 or NaN");
  EXPECT_EQ(negated(kGreaterEqual), "4 < 5.0 or NaN");
  EXPECT_EQ(negated(kLess), "4 >= 5.0 or NaN");
}

TEST_F(BindTest, ARequiredColumnIsNeverNullUnlessWhatHoldsItMayBe) {
  EXPECT_EQ(bound(Predicate::is_null("r")), "never");
  EXPECT_EQ(bound(!Predicate::not_null("r")), "never");
  EXPECT_EQ(bound(Predicate::not_null("r")), "40 is not null");
  EXPECT_EQ(bound(Predicate::is_null("needed.id")), "never");
  EXPECT_EQ(bound(Predicate::is_null("user.id")), "20 is null");
}

TEST_F(BindTest, AColumnThatSomeSchemaLacksOrLetsBeNullMayBeNull) {
  const std::string required = field(1, "x").with("required", "true").text();
  for (const std::string& older : {field(1, "x").text(), field(2, "y").text(), std::string()}) {
    const auto table = load(
        v2().with("schemas", '[' + schema(older, 0).text() + ',' + schema(required, 1).text() + ']')
            .with("current-schema-id", "1"));
    ASSERT_TRUE(table) << table.error().message();
    table_ = *table;
    EXPECT_EQ(bound(Predicate::is_null("x")), "1 is null");
  }
}

TEST_F(BindTest, RefusesWhatIsNestedTooDeep) {
  Predicate predicate = Predicate::is_null("l");
  while (predicate.root().depth < Predicate::kDepthMax) {
    predicate = std::move(predicate) && Predicate::is_null("l");
  }
  EXPECT_THAT(bound(predicate), HasSubstr("2 is null"));
  EXPECT_EQ(bound(predicate && predicate),
            "invalid_argument: a predicate that is nested 1001 deep, where 1000 is the limit");
}

TEST_F(BindTest, RefusesWhatUnfoldsWithoutEnd) {
  Predicate predicate = Predicate::is_null("l");
  for (int i = 0; i < 900; ++i) predicate = predicate && predicate;
  EXPECT_THAT(bound(predicate), HasSubstr("of more than 100000 comparisons"));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
