// Partition transforms and the hash of buckets: the specification's examples, and the edges.
#include "iceberg/pruning/transforms.h"

#include <limits>

#include "tests/iceberg/pruning/pruning_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::Optional;
using Limits = std::numeric_limits<std::int64_t>;

Transform transform(TransformKind kind, std::uint32_t parameter = 0) {
  return {kind, parameter, ""};
}

/// "nothing" where there is no result.
std::string result_of(const Transform& transform, const Literal& value) {
  const auto result = apply(transform, value);
  return result ? to_text(*result) : "nothing";
}

std::string truncated(std::uint32_t width, const Literal& value) {
  return result_of(transform(TransformKind::kTruncate, width), value);
}

std::optional<TypeKind> result_kind(TransformKind kind, TypeKind source) {
  const auto type = result_type(transform(kind, 16), type_of(source));
  return type ? std::optional(type->kind) : std::nullopt;
}

// ---- Types

TEST(ResultType, IsWhatTheSpecificationSays) {
  using enum TypeKind;
  EXPECT_THAT(result_kind(TransformKind::kIdentity, kFloat), Optional(kFloat));
  EXPECT_THAT(result_kind(TransformKind::kIdentity, kUnknown), Optional(kUnknown));
  EXPECT_THAT(result_kind(TransformKind::kBucket, kUuid), Optional(kInt));
  EXPECT_THAT(result_kind(TransformKind::kTruncate, kString), Optional(kString));
  EXPECT_THAT(result_kind(TransformKind::kYear, kDate), Optional(kInt));
  EXPECT_THAT(result_kind(TransformKind::kDay, kTimestampNs), Optional(kDate));
  EXPECT_THAT(result_kind(TransformKind::kHour, kTimestampTz), Optional(kInt));
  EXPECT_THAT(result_kind(TransformKind::kVoid, kDouble), Optional(kDouble));
  EXPECT_THAT(result_kind(TransformKind::kVoid, kVariant), Optional(kInt));
  const auto type = result_type(transform(TransformKind::kTruncate, 10), decimal(9, 2));
  ASSERT_TRUE(type);
  EXPECT_EQ(type->precision, 9);
  EXPECT_EQ(type->scale, 2);
}

TEST(ResultType, IsNothingForOtherSources) {
  using enum TypeKind;
  for (const TypeKind kind : {kVariant, kGeometry, kGeography, kStruct, kList, kMap}) {
    EXPECT_EQ(result_kind(TransformKind::kIdentity, kind), std::nullopt);
  }
  for (const TypeKind kind : {kBoolean, kFloat, kDouble, kUnknown}) {
    EXPECT_EQ(result_kind(TransformKind::kBucket, kind), std::nullopt);
    EXPECT_EQ(result_kind(TransformKind::kTruncate, kind), std::nullopt);
  }
  EXPECT_EQ(result_kind(TransformKind::kTruncate, kFixed), std::nullopt);
  EXPECT_EQ(result_kind(TransformKind::kHour, kDate), std::nullopt);
  EXPECT_EQ(result_kind(TransformKind::kYear, kTime), std::nullopt);
  EXPECT_EQ(result_kind(TransformKind::kUnknown, kLong), std::nullopt);
  for (const TransformKind kind : {TransformKind::kBucket, TransformKind::kTruncate}) {
    EXPECT_FALSE(result_type(transform(kind, 0), type_of(kLong)));
    EXPECT_EQ(result_of(transform(kind, 0), integer(kLong, 1)), "nothing");
  }
}

TEST(Apply, KeepsNulls) {
  for (const TransformKind kind : {TransformKind::kIdentity, TransformKind::kBucket,
                                   TransformKind::kDay, TransformKind::kVoid}) {
    const auto result = apply(transform(kind, 16), Literal::null(TypeKind::kDate));
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->is_null);
  }
  EXPECT_EQ(result_of(transform(TransformKind::kVoid), integer(TypeKind::kLong, 5)), "null");
}

// ---- Buckets

TEST(BucketHash, IsThatOfTheSpecificationsExamples) {
  const auto hash = [](TypeKind kind, std::int64_t value) {
    return bucket_hash(integer(kind, value));
  };
  const auto hash_of_bytes = [](TypeKind kind, std::string_view bytes) {
    return bucket_hash(Literal::of_bytes(kind, bytes));
  };
  EXPECT_THAT(hash(TypeKind::kInt, 34), Optional(2017239379));
  EXPECT_THAT(hash(TypeKind::kLong, 34), Optional(2017239379));
  EXPECT_THAT(bucket_hash(unscaled(1420)), Optional(-500754589));
  EXPECT_THAT(hash(TypeKind::kDate, 17486), Optional(-653330422));
  EXPECT_THAT(hash(TypeKind::kTime, 81068000000), Optional(-662762989));
  for (const TypeKind kind : {TypeKind::kTimestamp, TypeKind::kTimestampTz}) {
    EXPECT_THAT(hash(kind, 1510871468000000), Optional(-2047944441));
    EXPECT_THAT(hash(kind, 1510871468000001), Optional(-1207196810));
  }
  for (const TypeKind kind : {TypeKind::kTimestampNs, TypeKind::kTimestampTzNs}) {
    EXPECT_THAT(hash(kind, 1510871468000000000), Optional(-2047944441));
    EXPECT_THAT(hash(kind, 1510871468000001001), Optional(-1207196810));
  }
  EXPECT_THAT(hash_of_bytes(TypeKind::kString, "iceberg"), Optional(1210000089));
  EXPECT_THAT(hash_of_bytes(TypeKind::kUuid,
                            "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd"
                            "\xa4\x79\x3f\x34\x9c\xb7\x85\xe7"),
              Optional(1488055340));
  EXPECT_THAT(hash_of_bytes(TypeKind::kFixed, std::string_view("\0\1\2\3", 4)),
              Optional(-188683207));
  EXPECT_THAT(hash_of_bytes(TypeKind::kBinary, std::string_view("\0\1\2\3", 4)),
              Optional(-188683207));
}

TEST(BucketHash, OfADecimalIsOfItsFewestBytes) {
  const auto as_bytes = [](std::string_view bytes) {
    return bucket_hash(Literal::of_bytes(TypeKind::kBinary, bytes));
  };
  EXPECT_EQ(bucket_hash(unscaled(0)), as_bytes(std::string_view("\0", 1)));
  EXPECT_EQ(bucket_hash(unscaled(-1)), as_bytes("\xff"));
  EXPECT_EQ(bucket_hash(unscaled(127)), as_bytes("\x7f"));
  EXPECT_EQ(bucket_hash(unscaled(128)), as_bytes(std::string_view("\0\x80", 2)));
  EXPECT_EQ(bucket_hash(unscaled(-128)), as_bytes("\x80"));
  EXPECT_EQ(bucket_hash(unscaled(-129)), as_bytes("\xff\x7f"));
  EXPECT_EQ(bucket_hash(Literal::of_decimal({1, 0}, 0)),
            as_bytes(std::string_view("\1\0\0\0\0\0\0\0\0", 9)));
}

TEST(BucketHash, OfNanosecondsIsOfTheMicrosecondThatTheyAreIn) {
  for (const auto& [nanoseconds, microseconds] :
       {std::pair{-1, -1}, {-1000, -1}, {-1001, -2}, {999, 0}}) {
    EXPECT_EQ(bucket_hash(integer(TypeKind::kTimestampNs, nanoseconds)),
              bucket_hash(integer(TypeKind::kTimestamp, microseconds)));
  }
}

TEST(BucketHash, IsNothingOfOtherTypesAndNulls) {
  EXPECT_EQ(bucket_hash(number(1)), std::nullopt);
  EXPECT_EQ(bucket_hash(integer(TypeKind::kBoolean, 1)), std::nullopt);
  EXPECT_EQ(bucket_hash(Literal::null(TypeKind::kLong)), std::nullopt);
}

TEST(Apply, ABucketIsNeverNegative) {
  const auto bucket = transform(TransformKind::kBucket, 16);
  EXPECT_EQ(result_of(bucket, integer(TypeKind::kLong, 34)), "3");
  EXPECT_EQ(result_of(bucket, integer(TypeKind::kDate, 17486)), "10");  // of a negative hash
  EXPECT_EQ(result_of(transform(TransformKind::kBucket, 1), text("x")), "0");
}

// ---- Truncation

TEST(Apply, IntegersAreTruncatedDownwards) {
  for (const TypeKind kind : {TypeKind::kInt, TypeKind::kLong}) {
    EXPECT_EQ(truncated(10, integer(kind, 1)), "0");
    EXPECT_EQ(truncated(10, integer(kind, -1)), "-10");
    EXPECT_EQ(truncated(10, integer(kind, -10)), "-10");
    EXPECT_EQ(truncated(4'000'000'000U, integer(kind, 7)), "0");
  }
  EXPECT_EQ(truncated(50, unscaled(1065)), "10.50");
  EXPECT_EQ(truncated(50, unscaled(-1)), "-0.50");
}

TEST(Apply, WhatIsTruncatedBelowTheTypeWrapsAround) {
  EXPECT_EQ(truncated(10, integer(TypeKind::kInt, -2147483648)), "2147483646");
  EXPECT_EQ(truncated(10, integer(TypeKind::kLong, Limits::min())), "9223372036854775806");
  EXPECT_EQ(truncated(16, integer(TypeKind::kLong, Limits::min())), "-9223372036854775808");
}

TEST(Apply, StringsAreTruncatedToCodePointsAndBinariesToBytes) {
  EXPECT_EQ(truncated(3, text("iceberg")), "ice");
  EXPECT_EQ(truncated(3, text("ic")), "ic");
  EXPECT_EQ(truncated(2, text("\xc3\xa4\xf0\x9f\xa7\x8a z")), "\xc3\xa4\xf0\x9f\xa7\x8a");
  EXPECT_EQ(truncated(1, text("\xff\xfe")), "\xff");
  EXPECT_EQ(truncated(3, Literal::of_bytes(TypeKind::kBinary, "\1\2\3\4\5")), "010203");
}

// ---- Time

TEST(Apply, TimesAreCountedFrom1970) {
  const auto of = [](TransformKind kind, const Literal& value) {
    return result_of(transform(kind), value);
  };
  using enum TransformKind;
  const Literal date = integer(TypeKind::kDate, 17486);  // 2017-11-16
  EXPECT_EQ(of(kYear, date), "47");
  EXPECT_EQ(of(kMonth, date), "574");
  EXPECT_EQ(of(kDay, date), "2017-11-16");
  for (const auto& [kind, value] : {std::pair{TypeKind::kTimestamp, 1510871468000001},
                                    {TypeKind::kTimestampTz, 1510871468000001},
                                    {TypeKind::kTimestampNs, 1510871468000000001},
                                    {TypeKind::kTimestampTzNs, 1510871468000000001}}) {
    EXPECT_EQ(of(kYear, integer(kind, value)), "47");
    EXPECT_EQ(of(kMonth, integer(kind, value)), "574");
    EXPECT_EQ(of(kDay, integer(kind, value)), "2017-11-16");
    EXPECT_EQ(of(kHour, integer(kind, value)), "419686");
    // The last moment before.
    EXPECT_EQ(of(kYear, integer(kind, -1)), "-1");
    EXPECT_EQ(of(kMonth, integer(kind, -1)), "-1");
    EXPECT_EQ(of(kDay, integer(kind, -1)), "1969-12-31");
    EXPECT_EQ(of(kHour, integer(kind, -1)), "-1");
    for (const auto transform : {kYear, kMonth, kHour}) {
      EXPECT_EQ(of(transform, integer(kind, 0)), "0");
    }
    EXPECT_EQ(of(kDay, integer(kind, 0)), "1970-01-01");
  }
  EXPECT_EQ(of(kHour, integer(TypeKind::kTimestamp, Limits::max())), "-1732919508");
  EXPECT_EQ(of(kYear, integer(TypeKind::kDate, -366)), "-2");  // 1968-12-31
  EXPECT_EQ(of(kMonth, integer(TypeKind::kDate, -32)), "-2");
}

}  // namespace
}  // namespace iceblink::iceberg::testing
