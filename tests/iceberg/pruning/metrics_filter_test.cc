// Files that are left out by what is known of their columns.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/iceberg/pruning/scan_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::HasSubstr;

class MetricsFilter : public ::testing::Test {
 protected:
  static std::string columns() {
    const std::string inner = field(11, "id").with("required", "true").text();
    std::string columns;
    int id = 0;
    for (const char* const column :
         {"n long", "x double", "s string", "u uuid", "dec decimal(20,2)", "t timestamp",
          "fix fixed[4]", "g geometry", "f float"}) {
      const std::string name(column, std::strchr(column, ' '));
      const std::string type = column + name.size() + 1;
      columns += field(++id, name, '"' + type + '"').text() + ',';
    }
    return columns + field(10, "user", R"({"type":"struct","fields":[)" + inner + "]}").text();
  }
  [[nodiscard]] std::string of(const Predicate& predicate, SampleFile file) const {
    return fate(predicate, *table_, file);
  }

  const std::shared_ptr<const TableMetadata> table_ = table_of(columns());
  const Column n_{"n"}, x_{"x"}, s_{"s"}, u_{"u"}, dec_{"dec"}, t_{"t"}, fix_{"fix"};

  static SampleFile longs(std::int64_t least, std::int64_t greatest) {
    return SampleFile()
        .column(1)
        .lower(integer(TypeKind::kLong, least))
        .upper(integer(TypeKind::kLong, greatest));
  }
  static SampleFile doubles(double least, double greatest) {
    return SampleFile().column(2).lower(number(least)).upper(number(greatest));
  }
  static SampleFile strings(std::string_view least, std::string_view greatest) {
    return SampleFile().column(3).lower(text(least)).upper(text(greatest));
  }
};

TEST_F(MetricsFilter, BoundsLeaveOutWhatIsBeyondThem) {
  const SampleFile file = longs(10, 20);
  EXPECT_EQ(of(n_ == 9, file), "left out");
  EXPECT_EQ(of(n_ == 10, file), "read");
  EXPECT_EQ(of(n_ == 20, file), "read");
  EXPECT_EQ(of(n_ == 21, file), "left out");
  EXPECT_EQ(of(n_ < 10, file), "left out");
  EXPECT_EQ(of(n_ < 11, file), "read");
  EXPECT_EQ(of(n_ <= 9, file), "left out");
  EXPECT_EQ(of(n_ <= 10, file), "read");
  EXPECT_EQ(of(n_ > 20, file), "left out");
  EXPECT_EQ(of(n_ > 19, file), "read");
  EXPECT_EQ(of(n_ >= 21, file), "left out");
  EXPECT_EQ(of(n_ >= 20, file), "read");
}

TEST_F(MetricsFilter, OneValueInAllRowsIsLeftOutByNotEqual) {
  EXPECT_EQ(of(n_ != 10, longs(10, 10)), "left out");
  EXPECT_EQ(of(n_ != 11, longs(10, 10)), "read");
  EXPECT_EQ(of(n_ != 10, longs(10, 11)), "read");
  EXPECT_EQ(of(!(n_ == 10), longs(10, 10)), "left out");
}

TEST_F(MetricsFilter, BoundsThatMayHaveBeenCutDoNotTellOneValue) {
  EXPECT_EQ(of(s_ != "a", strings("a", "a")), "read");
  EXPECT_EQ(of(s_ == "aa", strings("ab", "ac")), "left out");
  EXPECT_EQ(of(s_ == "ad", strings("ab", "ac")), "left out");
  EXPECT_EQ(of(s_ > "ac", strings("ab", "ac")), "left out");
  EXPECT_EQ(of(s_ == "abc", strings("ab", "ac")), "read");
}

TEST_F(MetricsFilter, AFixedColumnsBoundsMayHaveBeenCut) {
  const auto file = SampleFile().column(7).lower_bytes("ab").upper_bytes("ac");
  EXPECT_EQ(of(fix_ == "abzz", file), "read");
  EXPECT_EQ(of(fix_ == "aazz", file), "left out");
}

TEST_F(MetricsFilter, OneBoundIsEnough) {
  const auto lower = SampleFile().column(1).lower(integer(TypeKind::kLong, 10));
  EXPECT_EQ(of(n_ == 9, lower), "left out");
  EXPECT_EQ(of(n_ == 11, lower), "read");
  EXPECT_EQ(of(n_ > 100, lower), "read");
}

TEST_F(MetricsFilter, AColumnOfWhichNothingIsKnownMightMatch) {
  for (const Predicate& predicate : {n_ == 1, n_ != 1, Predicate::is_null("n")}) {
    EXPECT_EQ(of(predicate, SampleFile()), "read");
    EXPECT_EQ(of(predicate, SampleFile().column(1)), "read");
    EXPECT_EQ(of(predicate, SampleFile().column(2).nulls(0)), "read");
  }
}

TEST_F(MetricsFilter, AFileWithoutRowsIsLeftOut) {
  EXPECT_EQ(of(n_ == 1, SampleFile(0)), "left out");
  EXPECT_EQ(of(n_ == 1, SampleFile(-1)), "read");
}

// ---- Nulls

TEST_F(MetricsFilter, OnlyNullsMatchNoComparison) {
  const auto file = SampleFile().column(1).nulls(10);
  for (const Predicate& predicate :
       {n_ == 1, n_ != 1, n_ < 1, n_ >= 1, !(n_ < 1), Predicate::not_null("n")}) {
    EXPECT_EQ(of(predicate, file), "left out");
  }
  EXPECT_EQ(of(Predicate::is_null("n"), file), "read");
}

TEST_F(MetricsFilter, NoNullsMatchNoNullTest) {
  EXPECT_EQ(of(Predicate::is_null("n"), SampleFile().column(1).nulls(0)), "left out");
  EXPECT_EQ(of(Predicate::is_null("n"), SampleFile().column(1).nulls(1)), "read");
  EXPECT_EQ(of(Predicate::not_null("n"), SampleFile().column(1).nulls(9)), "read");
}

TEST_F(MetricsFilter, CountsOfOtherThanAllRowsSayNothing) {
  EXPECT_EQ(of(Predicate::is_null("n"), SampleFile().column(1).nulls(0).values(9)), "read");
  EXPECT_EQ(of(n_ == 1, SampleFile().column(1).nulls(9).values(9)), "read");
  EXPECT_EQ(of(n_ == 1, SampleFile().column(1).nulls(0).values(0)), "read");
  EXPECT_EQ(of(n_ == 1, SampleFile().column(1).nulls(10).values(kNotCounted)), "read");
  EXPECT_EQ(of(Predicate::is_null("n"), SampleFile().column(1).nulls(0).values(kNotCounted)),
            "left out");
}

TEST_F(MetricsFilter, ARowWhoseStructIsNullMayNotHaveBeenCounted) {
  EXPECT_EQ(of(Predicate::is_null("user.id"), SampleFile().column(11).nulls(0)), "read");
  EXPECT_EQ(of(Predicate::not_null("user.id"), SampleFile().column(11).nulls(10)), "left out");
}

// ---- NaN

TEST_F(MetricsFilter, NansAreGreaterThanAllBoundsUnlessThereAreNone) {
  for (const Predicate& predicate :
       {x_ > 5.0, x_ >= 5.0, !(x_ < 5.0), !(x_ <= 5.0), x_ != 2.0, !(x_ == 2.0)}) {
    EXPECT_EQ(of(predicate, doubles(2, 2)), "read");
    EXPECT_EQ(of(predicate, doubles(2, 2).nans(1)), "read");
    EXPECT_EQ(of(predicate, doubles(2, 2).nans(0)), "left out");
  }
}

TEST_F(MetricsFilter, NansAreNeitherLessNorEqual) {
  for (const Predicate& predicate : {x_ < 1.0, x_ <= 1.0, x_ == 1.0, x_ == 5.0, !(x_ != 1.0)}) {
    EXPECT_EQ(of(predicate, doubles(2, 3)), "left out");
  }
}

TEST_F(MetricsFilter, TheOppositeOfAComparisonMayHoldForNans) {
  for (const Predicate& predicate : {!(x_ > 1.0), !(x_ >= 1.0)}) {
    EXPECT_EQ(of(predicate, doubles(2, 3)), "read");
    EXPECT_EQ(of(predicate, doubles(2, 3).nans(0)), "left out");
  }
}

TEST_F(MetricsFilter, OnlyNansMatchWhatNansMatch) {
  const auto file = SampleFile().column(2).nulls(4).nans(6);
  for (const Predicate& predicate : {x_ < 1.0, x_ <= 1.0, x_ == 1.0}) {
    EXPECT_EQ(of(predicate, file), "left out");
  }
  for (const Predicate& predicate :
       {x_ > 1.0, x_ != 1.0, !(x_ > 1.0), Predicate::not_null("x"), Predicate::is_null("x")}) {
    EXPECT_EQ(of(predicate, file), "read");
  }
}

TEST_F(MetricsFilter, ABoundThatIsNanSaysNothing) {
  const double nan = std::nan("");
  EXPECT_EQ(of(x_ == 1.0, doubles(nan, nan).nans(0)), "read");
  EXPECT_EQ(of(x_ == 1.0, doubles(2, nan).nans(0)), "left out");
  EXPECT_EQ(of(x_ > 5.0, doubles(2, nan).nans(0)), "read");
}

TEST_F(MetricsFilter, AComparisonWithNanMightHold) {
  EXPECT_EQ(of(x_ == std::nan(""), doubles(2, 3).nans(0)), "read");
  EXPECT_EQ(of(x_ < std::nan(""), SampleFile().column(2).nulls(10)), "left out");
}

TEST_F(MetricsFilter, NegativeZeroIsZero) {
  EXPECT_EQ(of(x_ == 0.0, doubles(-0.0, -0.0)), "read");
  EXPECT_EQ(of(x_ == -0.0, doubles(0.0, 0.0)), "read");
  EXPECT_EQ(of(x_ < 0.0, doubles(-0.0, 0.0)), "left out");
}

TEST_F(MetricsFilter, ANumberThatAFloatWouldRoundIsBothOfItsNeighbours) {
  const Column f{"f"};
  for (const double value : {0.1, 0.7}) {  // the one is rounded up, the other down
    const Literal rounded = number(double{static_cast<float>(value)}, TypeKind::kFloat);
    const auto file = SampleFile().column(9).nulls(0).nans(0).lower(rounded).upper(rounded);
    for (const Predicate& predicate :
         {f == value, f != value, f <= value, f >= value, value > 0.5 ? f < value : f > value}) {
      EXPECT_EQ(of(predicate, file), "read");
    }
    EXPECT_EQ(of(value > 0.5 ? f > value : f < value, file), "left out");
    EXPECT_EQ(of(f == value + 1e-6, file), "left out");
  }
}

// ---- Types

TEST_F(MetricsFilter, BoundsFromBeforeAPromotionAreRead) {
  const auto ints = SampleFile()
                        .column(1)
                        .lower_bytes(little(std::uint64_t(-5), 4))
                        .upper_bytes(little(std::uint64_t{5}, 4));
  EXPECT_EQ(of(n_ == -6, ints), "left out");
  EXPECT_EQ(of(n_ == -5, ints), "read");
  const auto floats = SampleFile().column(2).lower_bytes(little(1.5F)).upper_bytes(little(1.5F));
  EXPECT_EQ(of(x_ == 1.5, floats), "read");
  EXPECT_EQ(of(x_ == 1.6, floats), "left out");
  const auto dates = SampleFile()
                         .column(6)
                         .lower_bytes(little(std::uint64_t{1}, 4))
                         .upper_bytes(little(std::uint64_t{1}, 4));
  EXPECT_EQ(of(t_ < "1970-01-02T00:00", dates), "left out");
  EXPECT_EQ(of(t_ == "1970-01-02T00:00", dates), "read");
  const auto decimals = SampleFile().column(5).lower_bytes("\x01").upper_bytes("\x05\x8c");
  EXPECT_EQ(of(dec_ == "14.20", decimals), "read");
  EXPECT_EQ(of(dec_ == "14.21", decimals), "left out");
  EXPECT_EQ(of(dec_ <= 0, decimals), "left out");
}

TEST_F(MetricsFilter, UuidsAreLeftOutWhereBothOrdersSaySo) {
  const std::string seven(16, '\x70');
  const std::string eight(16, '\x80');
  const auto file = [](const std::string& least, const std::string& greatest) {
    return SampleFile().column(4).lower_bytes(least).upper_bytes(greatest);
  };
  const auto uuid = [&](char digit) {
    std::string digits = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    std::replace(digits.begin(), digits.end(), 'x', digit);
    return u_ == digits.c_str();
  };
  // By signed halves, 8888… to 7777… is all there is, and 7777… to 8888… is nothing.
  EXPECT_EQ(of(uuid('1'), file(eight, seven)), "read");
  EXPECT_EQ(of(uuid('1'), file(seven, eight)), "left out");
  EXPECT_EQ(of(uuid('7'), file(seven, eight)), "read");
  EXPECT_EQ(of(uuid('7'), file(eight, std::string(16, '\x90'))), "left out");
  EXPECT_EQ(of(u_ < "11111111-1111-1111-1111-111111111111", file(seven, eight)), "read");
}

TEST_F(MetricsFilter, ABoundThatIsNoValueOfItsColumnIsAnError) {
  EXPECT_EQ(of(n_ == 1, SampleFile().column(1).lower_bytes("123")),
            "corrupt: n: lower bound: 3 bytes are no value of the type long");
  EXPECT_EQ(of(n_ == 1, SampleFile().column(1).upper_bytes("")),
            "corrupt: n: upper bound: 0 bytes are no value of the type long");
  // Of columns that nobody asked for, nothing is decoded.
  EXPECT_EQ(of(x_ == 1.0, SampleFile().column(1).lower_bytes("123")), "read");
}

TEST_F(MetricsFilter, ABoundOfAnotherSchemasTypeSaysNothing) {
  const std::string then = schema(field(1, "n", R"("int")").text()).text();
  const std::string now = schema(field(1, "n", R"("long")").text()).with("schema-id", "1").text();
  const auto table =
      load(v3().with("schemas", '[' + then + ',' + now + ']').with("current-schema-id", "1"));
  ASSERT_TRUE(table) << table.error().message();
  const auto fate_by = [&](const char* lower_bytes, std::size_t count) -> std::string {
    auto filter = FileFilter::make(n_ == 1, *(*table)->find_schema(0), **table);
    if (!filter) return filter.error().message();
    SampleFile file;
    file.column(1).lower_bytes(std::string(lower_bytes, count));
    const auto result = filter->may_match(file.file());
    if (!result) return result.error().message();
    return *result ? "read" : "left out";
  };
  EXPECT_EQ(fate_by("\5\0\0\0", 4), "left out");
  EXPECT_EQ(fate_by("\5\0\0\0\0\0\0\0", 8), "read") << "from after the promotion";
  EXPECT_EQ(fate_by("\5", 1), "n: lower bound: 1 bytes are no value of the type int");
}

TEST_F(MetricsFilter, ADateThatIsNoTimestampSaysNothing) {
  const auto table = table_of(field(1, "t", R"("timestamp_ns")").text());
  auto file = SampleFile()
                  .column(1)
                  .lower_bytes(little(std::uint64_t{1}, 4))
                  .upper_bytes(little(std::uint64_t{2'932'896}, 4));  // 9999-12-31
  EXPECT_EQ(fate(t_ == "2026-01-31T00:00", *table, file), "read");
  EXPECT_EQ(fate(t_ < "1970-01-02T00:00", *table, file), "left out") << "by the other bound";
}

TEST_F(MetricsFilter, BoundsOfAGeometryAreNoSingleValues) {
  const auto file = SampleFile().column(8).nulls(0).lower_bytes("1").upper_bytes("2");
  EXPECT_EQ(of(Predicate::not_null("g"), file), "read");
  EXPECT_EQ(of(Predicate::is_null("g"), file), "left out");
}

// ---- Combined

TEST_F(MetricsFilter, AllSidesOfAnAndAndOneOfAnOrMayMatch) {
  const auto file = longs(10, 20);
  EXPECT_EQ(of(n_ > 5 && n_ < 9, file), "left out");
  EXPECT_EQ(of(n_ < 9 || n_ > 15, file), "read");
  EXPECT_EQ(of(n_ < 9 || n_ > 25, file), "left out");
  EXPECT_EQ(of(!(n_ >= 9 && n_ <= 25), file), "left out");
  EXPECT_EQ(of(n_ == 15 && s_ == "x", file), "read");
}

TEST_F(MetricsFilter, DeleteFilesAreNotJudgedByTheirColumns) {
  for (const auto content : {FileContent::kEqualityDeletes, FileContent::kPositionDeletes}) {
    EXPECT_EQ(of(n_ == 9, longs(10, 20).content(content)), "read");
  }
}

TEST_F(MetricsFilter, HostileCountsOverflowNothing) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t count : {kMin, kMin + 1, std::int64_t{-2}, kMax}) {
    for (const std::int64_t other : {kMin, std::int64_t{0}, kMax}) {
      SampleFile file = SampleFile(count).column(1).nulls(other).nans(count).values(other);
      const std::string is_what = of(n_ == 1, file);
      EXPECT_TRUE(is_what == "read" || is_what == "left out");
    }
  }
}

}  // namespace
}  // namespace iceblink::iceberg::testing
