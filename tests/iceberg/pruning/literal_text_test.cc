// Single values as text and as JSON.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "tests/iceberg/pruning/pruning_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using Limits = std::numeric_limits<std::int64_t>;

std::string text_of(TypeKind kind, std::int64_t value) {
  return to_text(integer(kind, value));
}

TEST(LiteralText, NumbersAreAsShortAsTheyCanBeReadBackFrom) {
  EXPECT_EQ(to_text(number(1)), "1.0");
  EXPECT_EQ(to_text(number(0.1)), "0.1");
  EXPECT_EQ(to_text(number(0.1F, TypeKind::kFloat)), "0.1");
  EXPECT_EQ(to_text(number(1e300)), "1e+300");
  EXPECT_EQ(to_text(number(-0.0)), "-0.0");
  EXPECT_EQ(to_text(number(5e-324)), "5e-324");
  EXPECT_EQ(to_text(number(1e300, TypeKind::kFloat)), "1e+300");
}

TEST(LiteralText, EveryNumberIsReadBackAsItself) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 10'000; ++i) {
    const auto wide = std::bit_cast<double>(random());
    if (std::isfinite(wide)) {
      EXPECT_EQ(std::strtod(to_text(number(wide)).c_str(), nullptr), wide);
    }
    const auto small = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(small)) {
      EXPECT_EQ(std::strtof(to_text(number(small, TypeKind::kFloat)).c_str(), nullptr), small);
    }
  }
}

TEST(LiteralText, DecimalsHaveAllDigitsOfTheirScale) {
  EXPECT_EQ(to_text(unscaled(1420)), "14.20");
  EXPECT_EQ(to_text(unscaled(-5)), "-0.05");
  EXPECT_EQ(to_text(unscaled(0)), "0.00");
  EXPECT_EQ(to_text(unscaled(-7, 0)), "-7");
  // 10^38 - 1
  const Int128 largest{0x4b3b4ca85a86c47a, 0x098a223fffffffff};
  EXPECT_EQ(to_text(Literal::of_decimal(largest, 0)), std::string(38, '9'));
  EXPECT_EQ(to_text(Literal::of_decimal(largest, 38)), "0." + std::string(38, '9'));
  EXPECT_EQ(to_text(Literal::of_decimal({Limits::min(), 0}, 2)),
            "-1701411834604692317316873037158841057.28");
}

TEST(LiteralText, DatesFarAwayHaveASign) {
  EXPECT_EQ(text_of(TypeKind::kDate, 17486), "2017-11-16");
  EXPECT_EQ(text_of(TypeKind::kDate, 0), "1970-01-01");
  EXPECT_EQ(text_of(TypeKind::kDate, -1), "1969-12-31");
  EXPECT_EQ(text_of(TypeKind::kDate, -719162), "0001-01-01");
  EXPECT_EQ(text_of(TypeKind::kDate, -719528), "0000-01-01");
  EXPECT_EQ(text_of(TypeKind::kDate, -719529), "-0001-12-31");
  EXPECT_EQ(text_of(TypeKind::kDate, 2932896), "9999-12-31");
  EXPECT_EQ(text_of(TypeKind::kDate, 2932897), "+10000-01-01");
  EXPECT_EQ(text_of(TypeKind::kDate, 2147483647), "+5881580-07-11");
  EXPECT_EQ(text_of(TypeKind::kDate, -2147483648), "-5877641-06-23");
}

TEST(LiteralText, TimesHaveAllDigitsOfTheirUnit) {
  EXPECT_EQ(text_of(TypeKind::kTime, 81068123456), "22:31:08.123456");
  EXPECT_EQ(text_of(TypeKind::kTime, 0), "00:00:00.000000");
  EXPECT_EQ(text_of(TypeKind::kTime, 86'400'000'000), "24:00:00.000000");
  EXPECT_EQ(text_of(TypeKind::kTime, Limits::min()), "-2562047788:00:54.775808");
}

TEST(LiteralText, TimestampsAreOfTheirZone) {
  EXPECT_EQ(text_of(TypeKind::kTimestamp, 1510871468000001), "2017-11-16T22:31:08.000001");
  EXPECT_EQ(text_of(TypeKind::kTimestampTz, 1510871468000001), "2017-11-16T22:31:08.000001+00:00");
  EXPECT_EQ(text_of(TypeKind::kTimestampNs, 1510871468123456789), "2017-11-16T22:31:08.123456789");
  EXPECT_EQ(text_of(TypeKind::kTimestampTzNs, -1), "1969-12-31T23:59:59.999999999+00:00");
  EXPECT_EQ(text_of(TypeKind::kTimestamp, -1), "1969-12-31T23:59:59.999999");
  EXPECT_EQ(text_of(TypeKind::kTimestamp, Limits::min()), "-290308-12-21T19:59:05.224192");
  EXPECT_EQ(text_of(TypeKind::kTimestamp, Limits::max()), "+294247-01-10T04:00:54.775807");
}

TEST(LiteralText, BytesAreHexadecimalAndUuidsHaveDashes) {
  const std::string uuid = "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7";
  EXPECT_EQ(to_text(Literal::of_bytes(TypeKind::kUuid, uuid)),
            "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  EXPECT_EQ(to_text(Literal::of_bytes(TypeKind::kFixed, std::string_view("\0\1\2\xff", 4))),
            "000102ff");
  EXPECT_EQ(to_text(Literal::of_bytes(TypeKind::kBinary, "")), "");
  EXPECT_EQ(to_text(text("null")), "null");
  EXPECT_EQ(to_text(integer(TypeKind::kBoolean, 1)), "true");
}

// ---- JSON

TEST(LiteralJson, IsANumberATruthAStringOrNull) {
  EXPECT_EQ(to_json(integer(TypeKind::kBoolean, 0)), "false");
  EXPECT_EQ(to_json(integer(TypeKind::kLong, Limits::min())), "-9223372036854775808");
  EXPECT_EQ(to_json(number(1)), "1.0");
  EXPECT_EQ(to_json(unscaled(1420)), R"("14.20")");
  EXPECT_EQ(to_json(integer(TypeKind::kDate, 0)), R"("1970-01-01")");
  EXPECT_EQ(to_json(Literal::of_bytes(TypeKind::kBinary, "\xff")), R"("ff")");
  EXPECT_EQ(to_json(Literal::null(TypeKind::kString)), "null");
  EXPECT_EQ(to_json(text("null")), R"("null")");
}

TEST(LiteralJson, NumbersThatJsonLacksAreStrings) {
  EXPECT_EQ(to_json(number(std::nan(""))), R"("NaN")");
  EXPECT_EQ(to_json(number(-std::nan(""), TypeKind::kFloat)), R"("NaN")");
  EXPECT_EQ(to_json(number(INFINITY)), R"("Infinity")");
  EXPECT_EQ(to_json(number(-INFINITY, TypeKind::kFloat)), R"("-Infinity")");
}

TEST(LiteralJson, StringsAreEscaped) {
  EXPECT_EQ(to_json(text("a\"\\\n\x01\xc3\xa4")), "\"a\\\"\\\\\\n\\u0001\xc3\xa4\"");
  EXPECT_EQ(to_json(text(std::string_view("\0", 1))), R"("\u0000")");
}

TEST(LiteralJson, AStringThatIsNoUtf8IsToldByItsBytes) {
  EXPECT_EQ(to_json(text("a\xff")), R"("a\\xff")");
  EXPECT_EQ(to_json(text("\xed\xa0\x80")), R"("\\xed\\xa0\\x80")");
}

}  // namespace
}  // namespace iceblink::iceberg::testing
