// Comparing single values, and reading the binary form that bounds have.
#include <iceblink/metadata/literal.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "tests/iceberg/pruning/pruning_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::HasSubstr;
using Limits = std::numeric_limits<std::int64_t>;

const double kNan = std::nan("");

std::string error_of(const Type& type, std::string_view bytes) {
  const auto value = decode_single_value(type, bytes);
  if (value) return "taken";
  return std::string(to_string(value.error().kind())) + ": " + value.error().message();
}

Literal decoded(const Type& type, std::string_view bytes) {
  const auto value = decode_single_value(type, bytes);
  EXPECT_TRUE(value) << value.error().message();
  return value ? *value : Literal();
}

TEST(Literal, IsANullOfAnUnknownTypeAtFirst) {
  const Literal value;
  EXPECT_TRUE(value.is_null);
  EXPECT_EQ(value.kind, TypeKind::kUnknown);
}

// ---- Order

TEST(Literal, ComparesIntegersAndDecimalsByTheirValue) {
  EXPECT_TRUE(compare(integer(TypeKind::kLong, -1), integer(TypeKind::kLong, 0)) < 0);
  EXPECT_TRUE(compare(integer(TypeKind::kDate, 5), integer(TypeKind::kDate, 5)) == 0);
  EXPECT_TRUE(compare(unscaled(-1), unscaled(1)) < 0);
  const Int128 large{1, 0};
  EXPECT_TRUE(compare(Literal::of_decimal(large, 2), unscaled(Limits::max())) > 0);
  EXPECT_TRUE(compare(Literal::of_decimal({-2, 0}, 2), unscaled(Limits::min())) < 0);
}

TEST(Literal, ComparesStringsByUnsignedBytes) {
  EXPECT_TRUE(compare(text("a"), text("\xc3\xa4")) < 0);
  EXPECT_TRUE(compare(text("a"), text("ab")) < 0);
  EXPECT_TRUE(compare(text(""), text(std::string_view("\0", 1))) < 0);
  EXPECT_TRUE(compare(text("\xff"), text("\x7f")) > 0);
}

TEST(Literal, NegativeZeroIsZeroInOrderAndAnotherPartition) {
  EXPECT_TRUE(compare(number(-0.0), number(0.0)) == 0);
  EXPECT_FALSE(is_same(number(-0.0), number(0.0)));
  EXPECT_TRUE(is_same(number(-0.0), number(-0.0)));
}

TEST(Literal, NansAndNullsHaveNoOrder) {
  const auto unordered = std::partial_ordering::unordered;
  EXPECT_EQ(compare(number(kNan), number(kNan)), unordered);
  EXPECT_EQ(compare(number(kNan), number(1)), unordered);
  const Literal null = Literal::null(TypeKind::kLong);
  EXPECT_EQ(compare(null, null), unordered);
  EXPECT_EQ(compare(null, integer(TypeKind::kLong, 1)), unordered);
}

TEST(Literal, TwoKindsAndTwoScalesHaveNoOrder) {
  const auto unordered = std::partial_ordering::unordered;
  EXPECT_EQ(compare(integer(TypeKind::kInt, 1), integer(TypeKind::kLong, 1)), unordered);
  EXPECT_EQ(compare(unscaled(1, 2), unscaled(1, 3)), unordered);
  EXPECT_FALSE(is_same(unscaled(1, 2), unscaled(1, 3)));
  EXPECT_FALSE(is_same(integer(TypeKind::kInt, 1), integer(TypeKind::kLong, 1)));
}

TEST(Literal, PartitionsOfNullAndOfNanAreOneEach) {
  EXPECT_TRUE(is_same(Literal::null(TypeKind::kLong), Literal::null(TypeKind::kLong)));
  EXPECT_FALSE(is_same(Literal::null(TypeKind::kLong), Literal::null(TypeKind::kInt)));
  EXPECT_FALSE(is_same(Literal::null(TypeKind::kLong), integer(TypeKind::kLong, 0)));
  EXPECT_TRUE(is_same(number(kNan), number(-kNan)));
  EXPECT_FALSE(is_same(number(kNan), number(1)));
  EXPECT_TRUE(is_same(text("a"), text(std::string("a"))));
}

// ---- The binary form

TEST(DecodeSingleValue, ReadsWhatIsWritten) {
  const std::array values{integer(TypeKind::kBoolean, 1),
                          integer(TypeKind::kBoolean, 0),
                          integer(TypeKind::kInt, -34),
                          integer(TypeKind::kLong, Limits::min()),
                          integer(TypeKind::kDate, -719162),
                          integer(TypeKind::kTime, 81068123456),
                          integer(TypeKind::kTimestamp, -1),
                          integer(TypeKind::kTimestampTz, Limits::max()),
                          integer(TypeKind::kTimestampNs, 1510871468123456789),
                          integer(TypeKind::kTimestampTzNs, 0),
                          number(1.5F, TypeKind::kFloat),
                          number(-0.0),
                          number(kNan),
                          text("iceberg"),
                          text(""),
                          Literal::of_bytes(TypeKind::kBinary, "\xff"),
                          Literal::of_bytes(TypeKind::kUuid, "0123456789abcdef")};
  for (const Literal& value : values) {
    const std::string bytes = stored(value);
    const Literal read = decoded(type_of(value.kind), bytes);
    EXPECT_TRUE(is_same(value, read)) << to_text(value) << ", and " << to_text(read);
  }
}

TEST(DecodeSingleValue, AnyByteButZeroIsTrue) {
  EXPECT_EQ(decoded(type_of(TypeKind::kBoolean), "\x02").integer, 1);
}

TEST(DecodeSingleValue, ADecimalHasAnyLengthUpToSixteenBytesAndTheScaleOfItsType) {
  EXPECT_TRUE(is_same(decoded(decimal(9, 2), "\x05\x8c"), unscaled(1420)));
  EXPECT_TRUE(is_same(decoded(decimal(9, 2), "\xff"), unscaled(-1)));
  EXPECT_TRUE(is_same(decoded(decimal(38, 3), std::string(15, '\xff') + "\xfe"), unscaled(-2, 3)));
  EXPECT_TRUE(is_same(decoded(decimal(38, 0), '\x01' + std::string(15, '\0')),
                      Literal::of_decimal({std::int64_t{1} << 56, 0}, 0)));
  EXPECT_THAT(error_of(decimal(9, 2), ""), HasSubstr("0 bytes"));
  EXPECT_EQ(error_of(decimal(9, 2), std::string(17, '\0')),
            "corrupt: 17 bytes are no value of the type decimal(9, 2)");
}

TEST(DecodeSingleValue, ReadsWhatWasWrittenBeforeAPromotion) {
  EXPECT_EQ(decoded(type_of(TypeKind::kLong), little(std::uint64_t(-5), 4)).integer, -5);
  EXPECT_EQ(decoded(type_of(TypeKind::kDouble), little(1.5F)).number, 1.5);
  EXPECT_EQ(decoded(type_of(TypeKind::kTimestamp), little(std::uint64_t(-1), 4)).integer,
            -86'400'000'000);
  EXPECT_EQ(decoded(type_of(TypeKind::kTimestampNs), little(std::uint64_t{2}, 4)).integer,
            172'800'000'000'000);
}

TEST(DecodeSingleValue, RefusesADateThatIsNoTimestamp) {
  EXPECT_EQ(error_of(type_of(TypeKind::kTimestampNs), little(std::uint64_t{0x7fffffff}, 4)),
            "corrupt: a date that is outside of what a timestamp can be");
}

TEST(DecodeSingleValue, RefusesOtherLengths) {
  for (const auto& [kind, size] : {std::pair{TypeKind::kBoolean, 0},
                                   {TypeKind::kBoolean, 2},
                                   {TypeKind::kInt, 8},
                                   {TypeKind::kLong, 5},
                                   {TypeKind::kLong, 9},
                                   {TypeKind::kFloat, 8},
                                   {TypeKind::kDouble, 3},
                                   {TypeKind::kDate, 8},
                                   {TypeKind::kTime, 4},
                                   {TypeKind::kTimestampTz, 4},
                                   {TypeKind::kTimestampTzNs, 4},
                                   {TypeKind::kUuid, 15},
                                   {TypeKind::kUuid, 36}}) {
    const std::string bytes(static_cast<std::size_t>(size), '\1');
    EXPECT_THAT(error_of(type_of(kind), bytes), HasSubstr("bytes are no value of the type"));
  }
  EXPECT_EQ(error_of(type_of(TypeKind::kLong), "12345"),
            "corrupt: 5 bytes are no value of the type long");
}

TEST(DecodeSingleValue, BytesOfAFixedTypeMayHaveBeenCut) {
  EXPECT_EQ(decoded(fixed(4), "abcd").bytes, "abcd");
  EXPECT_EQ(decoded(fixed(4), "ab").bytes, "ab");
  EXPECT_EQ(error_of(fixed(4), "abcde"), "corrupt: 5 bytes are no value of the type fixed[4]");
}

TEST(DecodeSingleValue, WhatIsDecodedFromAnyBytesCanBeToldAndCompared) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 50'000; ++i) {
    Type type = type_of(static_cast<TypeKind>(random() % 23));
    type.scale = static_cast<std::uint8_t>(random());
    type.fixed_bytes = static_cast<std::uint32_t>(random() % 20);
    std::string bytes(random() % 20, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    const auto value = decode_single_value(type, bytes);
    if (!value) continue;
    EXPECT_TRUE(is_same(*value, *value));
    EXPECT_FALSE(compare(*value, *value) < 0);
    EXPECT_FALSE(to_text(*value).empty() && type.kind < TypeKind::kString);
    EXPECT_FALSE(to_json(*value).empty());
  }
}

TEST(DecodeSingleValue, RefusesTypesThatHaveNone) {
  for (const TypeKind kind : {TypeKind::kUnknown, TypeKind::kVariant, TypeKind::kGeometry,
                              TypeKind::kGeography, TypeKind::kStruct, TypeKind::kMap}) {
    EXPECT_THAT(error_of(type_of(kind), "12345678"), HasSubstr("has no single values"));
  }
}

}  // namespace
}  // namespace iceblink::iceberg::testing
