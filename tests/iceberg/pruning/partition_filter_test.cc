// Files and manifests that are left out by their partitions.
#include <cmath>
#include <limits>

#include "tests/iceberg/pruning/scan_samples.h"

namespace iceblink::iceberg::testing {
namespace {

constexpr std::int64_t kDayUs = 86'400'000'000;

/// A table of one column, "c", that is partitioned by one transform of it.
struct OnePartition {
  std::shared_ptr<const TableMetadata> table;
  Column c{"c"};

  OnePartition(const std::string& type, const std::string& transform)
      : table(table_of(field(1, "c", '"' + type + '"').text(), partition_field(1, transform))) {}

  [[nodiscard]] std::string file(const Predicate& predicate, const Literal& partition) const {
    SampleFile file = SampleFile().partition(partition);
    return fate(predicate, *table, file);
  }
  [[nodiscard]] std::string manifest(const Predicate& predicate, const Literal& lower,
                                     const Literal& upper) const {
    SampleManifest manifest = SampleManifest().summary(lower, upper);
    return fate(predicate, *table, manifest);
  }
  [[nodiscard]] std::string manifest(const Predicate& predicate,
                                     const FieldSummary& summary) const {
    SampleManifest manifest = SampleManifest().summary(summary);
    return fate(predicate, *table, manifest);
  }
};

Literal int_of(std::int64_t value) {
  return integer(TypeKind::kInt, value);
}

TEST(PartitionFilter, AnIdentityIsTheValueOfAllRows) {
  const OnePartition by("string", "identity");
  EXPECT_EQ(by.file(by.c == "b", text("b")), "read");
  EXPECT_EQ(by.file(by.c == "ba", text("b")), "left out");
  EXPECT_EQ(by.file(by.c != "b", text("b")), "left out");
  EXPECT_EQ(by.file(by.c != "a", text("b")), "read");
  EXPECT_EQ(by.file(by.c < "b", text("b")), "left out");
  EXPECT_EQ(by.file(by.c >= "b", text("b")), "read");
  EXPECT_EQ(by.file(Predicate::is_null("c"), text("b")), "left out");
}

TEST(PartitionFilter, ANullPartitionHasNullsOnly) {
  for (const char* transform : {"identity", "bucket[4]", "truncate[3]"}) {
    const OnePartition by("string", transform);
    const Literal null = Literal::null(TypeKind::kString);
    EXPECT_EQ(by.file(by.c == "b", null), "left out");
    EXPECT_EQ(by.file(by.c != "b", null), "left out");
    EXPECT_EQ(by.file(Predicate::is_null("c"), null), "read");
    EXPECT_EQ(by.file(Predicate::not_null("c"), null), "left out");
  }
}

TEST(PartitionFilter, ANanPartitionHasNansOnly) {
  const OnePartition by("double", "identity");
  EXPECT_EQ(by.file(by.c == 1.0, number(std::nan(""))), "left out");
  EXPECT_EQ(by.file(by.c < 1.0, number(std::nan(""))), "left out");
  EXPECT_EQ(by.file(by.c > 1.0, number(std::nan(""))), "read");
  EXPECT_EQ(by.file(!(by.c > 1.0), number(std::nan(""))), "read");
  EXPECT_EQ(by.file(by.c > 5.0, number(2)), "left out");
}

TEST(PartitionFilter, PartitionsFromBeforeAPromotionCount) {
  const OnePartition by("long", "identity");
  EXPECT_EQ(by.file(by.c == 5, int_of(5)), "read");
  EXPECT_EQ(by.file(by.c == 6, int_of(5)), "left out");
  EXPECT_EQ(by.file(by.c == 6, text("5")), "read");  // no value of such a partition
}

TEST(PartitionFilter, TruncatedNumbersStandForAsManyAsTheWidth) {
  const OnePartition by("int", "truncate[10]");
  EXPECT_EQ(by.file(by.c == 9, int_of(10)), "left out");
  EXPECT_EQ(by.file(by.c == 10, int_of(10)), "read");
  EXPECT_EQ(by.file(by.c == 19, int_of(10)), "read");
  EXPECT_EQ(by.file(by.c == 20, int_of(10)), "left out");
  EXPECT_EQ(by.file(by.c < 10, int_of(10)), "left out");
  EXPECT_EQ(by.file(by.c > 19, int_of(10)), "left out");
  EXPECT_EQ(by.file(by.c > 18, int_of(10)), "read");
  EXPECT_EQ(by.file(by.c == -1, int_of(-10)), "read");
  EXPECT_EQ(by.file(by.c != 10, int_of(10)), "read");
  const OnePartition by_decimal("decimal(9,2)", "truncate[50]");
  EXPECT_EQ(by_decimal.file(by_decimal.c == "10.99", unscaled(1050)), "read");
  EXPECT_EQ(by_decimal.file(by_decimal.c == "11.00", unscaled(1050)), "left out");
}

TEST(PartitionFilter, ATruncatedNumberThatWrappedAroundSaysNothing) {
  const OnePartition by("int", "truncate[10]");
  const Literal wrapped = int_of(2147483646);
  EXPECT_EQ(by.file(by.c == -2147483648LL, wrapped), "read");
  // Nor does the lower bound of a manifest that may hold such a file.
  EXPECT_EQ(by.manifest(by.c == -2147483648LL, int_of(0), wrapped), "read");
  EXPECT_EQ(by.manifest(by.c == -2147483648LL, int_of(0), int_of(2147483640)), "read");
  EXPECT_EQ(by.manifest(by.c == -2147483648LL, int_of(0), int_of(2147483630)), "left out");
}

TEST(PartitionFilter, TruncatedStringsStandForAllThatBeginWithThem) {
  const OnePartition by("string", "truncate[3]");
  EXPECT_EQ(by.file(by.c == "iceberg", text("ice")), "read");
  EXPECT_EQ(by.file(by.c == "icf", text("ice")), "left out");
  EXPECT_EQ(by.file(by.c > "ice\xff\xff\xff", text("ice")), "read");
  EXPECT_EQ(by.file(by.c > "icf", text("ice")), "left out");
  EXPECT_EQ(by.file(by.c >= "icf", text("ice")), "left out");
  EXPECT_EQ(by.file(by.c < "ice", text("ice")), "left out");
  EXPECT_EQ(by.file(by.c <= "ice", text("ice")), "read");
  EXPECT_EQ(by.file(by.c != "ice", text("ice")), "read");
}

TEST(PartitionFilter, AStringShorterThanTheWidthWasNotTruncated) {
  const OnePartition by("string", "truncate[3]");
  EXPECT_EQ(by.file(by.c == "ic", text("ic")), "read");
  EXPECT_EQ(by.file(by.c == "ica", text("ic")), "left out");
  EXPECT_EQ(by.file(by.c > "ic", text("ic")), "left out");
  EXPECT_EQ(by.file(by.c == "a", text("")), "left out");
  // Three code points, of four bytes each.
  const std::string seals = "\xf0\x9f\xa6\xad\xf0\x9f\xa6\xad\xf0\x9f\xa6\xad";
  EXPECT_EQ(by.file(by.c > seals, text(seals)), "read");
  EXPECT_EQ(by.file(by.c > seals.substr(0, 8), text(seals.substr(0, 8))), "left out");
  const OnePartition by_bytes("binary", "truncate[2]");
  const Literal bytes = Literal::of_bytes(TypeKind::kBinary, "\xc3\xa4");
  EXPECT_EQ(by_bytes.file(by_bytes.c == "\xc3\xa4\xff", bytes), "read");
  EXPECT_EQ(by_bytes.file(by_bytes.c == "\xc3\xa5", bytes), "left out");
}

TEST(PartitionFilter, PeriodsStandForAllTheirMoments) {
  const OnePartition by_day("timestamp", "day");
  EXPECT_EQ(by_day.file(by_day.c == "1970-01-03T23:59:59.999999", int_of(2)), "read");
  EXPECT_EQ(by_day.file(by_day.c == "1970-01-04T00:00", int_of(2)), "left out");
  EXPECT_EQ(by_day.file(by_day.c < "1970-01-03T00:00", int_of(2)), "left out");
  EXPECT_EQ(by_day.file(by_day.c >= std::int64_t{3 * kDayUs}, int_of(2)), "left out");
  const OnePartition by_year("date", "year");
  EXPECT_EQ(by_year.file(by_year.c == "2024-02-29", int_of(54)), "read");
  EXPECT_EQ(by_year.file(by_year.c > "2024-12-31", int_of(54)), "left out");
  const OnePartition by_month("timestamp_ns", "month");
  EXPECT_EQ(by_month.file(by_month.c == "2024-02-29T23:59:59.999999999", int_of(649)), "read");
  EXPECT_EQ(by_month.file(by_month.c == "2024-03-01T00:00", int_of(649)), "left out");
  const OnePartition by_hour("timestamptz", "hour");
  EXPECT_EQ(by_hour.file(by_hour.c == "1970-01-01T02:59:59+01:00", int_of(1)), "read");
  EXPECT_EQ(by_hour.file(by_hour.c == "1970-01-01T02:59:59+00:00", int_of(1)), "left out");
}

TEST(PartitionFilter, WhatIsBefore1970MayBeFoundOnePeriodLater) {
  const OnePartition by("timestamp", "day");
  EXPECT_EQ(by.file(by.c == "1969-12-31T12:00", int_of(-1)), "read");
  EXPECT_EQ(by.file(by.c == "1969-12-31T12:00", int_of(0)), "read");  // of an old writer
  EXPECT_EQ(by.file(by.c == "1969-12-31T12:00", int_of(-2)), "left out");
  EXPECT_EQ(by.file(by.c == "1969-12-31T12:00", int_of(1)), "left out");
  const OnePartition by_date("date", "day");
  EXPECT_EQ(by_date.file(by_date.c == "1969-12-31", int_of(0)), "left out");
}

TEST(PartitionFilter, DaysThatAreStoredAsDatesCount) {
  const OnePartition by("timestamp", "day");
  EXPECT_EQ(by.file(by.c == "1970-01-04T00:00", integer(TypeKind::kDate, 2)), "left out");
}

TEST(PartitionFilter, PeriodsBeyondTheTypeSayNothing) {
  const OnePartition by("timestamp_ns", "year");
  for (const std::int64_t year : {-2147483648LL, 2147483647LL, 1'000LL, -1'000LL}) {
    EXPECT_EQ(by.file(by.c == 0, int_of(year)), "read");
  }
}

TEST(PartitionFilter, AnHourThatWrappedAroundSaysNothing) {
  const OnePartition by("timestamp", "hour");
  constexpr auto kLatest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(by.file(by.c == kLatest, int_of(-1732919508)), "read");
  EXPECT_EQ(by.file(by.c == kLatest, int_of(-1732919507)), "left out");
  EXPECT_EQ(by.file(by.c == -kLatest, int_of(1732919507)), "read");
  EXPECT_EQ(by.manifest(by.c == kLatest, int_of(-1732919508), int_of(5)), "read");
  EXPECT_EQ(by.manifest(by.c == kLatest, int_of(-5), int_of(5)), "left out");
  EXPECT_EQ(by.manifest(by.c == -kLatest, int_of(-5), int_of(1732919507)), "read");
}

TEST(PartitionFilter, ABucketHasWhatHashesIntoIt) {
  const OnePartition by("long", "bucket[16]");
  EXPECT_EQ(by.file(by.c == 34, int_of(3)), "read");
  EXPECT_EQ(by.file(by.c == 34, int_of(4)), "left out");
  EXPECT_EQ(by.file(!(by.c != 34), int_of(4)), "left out");
  for (const Predicate& predicate : {by.c < 34, by.c != 34, by.c >= 34}) {
    EXPECT_EQ(by.file(predicate, int_of(4)), "read");
  }
  EXPECT_EQ(by.file(Predicate::is_null("c"), int_of(4)), "left out");
  EXPECT_EQ(by.manifest(by.c == 34, int_of(4), int_of(15)), "left out");
  EXPECT_EQ(by.manifest(by.c == 34, int_of(0), int_of(3)), "read");
}

TEST(PartitionFilter, VoidAndUnknownTransformsSayNothing) {
  for (const char* transform : {"void", "zorder[3]", "bucket[0]"}) {
    const OnePartition by("long", transform);
    EXPECT_EQ(by.file(by.c == 34, Literal::null(TypeKind::kLong)), "read");
    EXPECT_EQ(by.manifest(by.c == 34, FieldSummary()), "read");
  }
}

TEST(PartitionFilter, PartitionsOfAnotherSpecSayNothing) {
  const OnePartition by("long", "identity");
  SampleFile none = SampleFile();
  EXPECT_EQ(fate(by.c == 1, *by.table, none), "read");
  SampleFile two = SampleFile().partition(integer(TypeKind::kLong, 2)).partition(int_of(2));
  EXPECT_EQ(fate(by.c == 1, *by.table, two), "read");
}

TEST(PartitionFilter, DeleteFilesAreLeftOutByTheirPartition) {
  const OnePartition by("long", "identity");
  for (const auto content : {FileContent::kEqualityDeletes, FileContent::kPositionDeletes}) {
    SampleFile file = SampleFile().partition(integer(TypeKind::kLong, 2)).content(content);
    EXPECT_EQ(fate(by.c == 1, *by.table, file), "left out");
    EXPECT_EQ(fate(by.c == 2, *by.table, file), "read");
    EXPECT_FALSE(filter_of(by.c == 1, *by.table).may_match_partition(file.file()));
  }
}

TEST(PartitionFilter, PartitionsAndBoundsOfOneColumnAreTakenTogether) {
  const OnePartition by("long", "bucket[16]");
  SampleFile file = SampleFile()
                        .partition(int_of(3))
                        .column(1)
                        .lower(integer(TypeKind::kLong, 30))
                        .upper(integer(TypeKind::kLong, 40));
  EXPECT_EQ(fate(by.c == 34, *by.table, file), "read");
  EXPECT_EQ(fate(by.c == 35, *by.table, file), "left out");
  EXPECT_EQ(fate(by.c == 34 && by.c == 29, *by.table, file), "left out");
}

TEST(PartitionFilter, TheTighterOfTwoBoundsCounts) {
  const OnePartition by("string", "truncate[3]");
  const auto of = [&](const Predicate& predicate, const char* upper) {
    SampleFile file = SampleFile().partition(text("ice")).column(1).upper(text(upper));
    return fate(predicate, *by.table, file);
  };
  EXPECT_EQ(of(by.c > "iced", "iceb"), "left out");
  EXPECT_EQ(of(by.c > "icea", "iceb"), "read");
  EXPECT_EQ(of(by.c > "icf", "z"), "left out");
  EXPECT_EQ(of(by.c > "icez", "z"), "read");
  const OnePartition by_all("string", "identity");
  SampleFile file = SampleFile().partition(text("b")).column(1).lower(text("b")).upper(text("b"));
  EXPECT_EQ(fate(by_all.c != "b", *by_all.table, file), "left out");
}

// ---- Manifests

TEST(ManifestFilter, BoundsOfPartitionsLeaveOutAManifest) {
  const OnePartition by("int", "identity");
  EXPECT_EQ(by.manifest(by.c == 4, int_of(5), int_of(7)), "left out");
  EXPECT_EQ(by.manifest(by.c == 5, int_of(5), int_of(7)), "read");
  EXPECT_EQ(by.manifest(by.c > 7, int_of(5), int_of(7)), "left out");
  EXPECT_EQ(by.manifest(by.c != 5, int_of(5), int_of(5)), "left out");
  EXPECT_EQ(by.manifest(Predicate::is_null("c"), int_of(5), int_of(7)), "left out");
  const OnePartition by_day("timestamp", "day");
  EXPECT_EQ(by_day.manifest(by_day.c < "1970-01-03T00:00", int_of(2), int_of(9)), "left out");
  EXPECT_EQ(by_day.manifest(by_day.c >= "1970-01-11T00:00", int_of(2), int_of(9)), "left out");
  EXPECT_EQ(by_day.manifest(by_day.c >= "1970-01-10T00:00", int_of(2), int_of(9)), "read");
}

TEST(ManifestFilter, BoundsOfStringsMayHaveBeenCut) {
  const OnePartition by("string", "identity");
  EXPECT_EQ(by.manifest(by.c != "b", text("b"), text("b")), "read");
  EXPECT_EQ(by.manifest(by.c == "c", text("a"), text("b")), "left out");
  const OnePartition by_start("string", "truncate[2]");
  EXPECT_EQ(by_start.manifest(by_start.c == "abz", text("a"), text("abc")), "read");
  EXPECT_EQ(by_start.manifest(by_start.c == "ac", text("a"), text("ab")), "left out");
  EXPECT_EQ(by_start.manifest(by_start.c == "az", text("a"), text("b")), "read");
  EXPECT_EQ(by_start.manifest(by_start.c == "bz", text("a"), text("b")), "left out");
}

TEST(ManifestFilter, WithoutBoundsAllPartitionsAreNullOrNan) {
  const OnePartition by("double", "identity");
  FieldSummary summary;
  summary.contains_null = true;
  EXPECT_EQ(by.manifest(by.c == 1.0, summary), "left out");
  EXPECT_EQ(by.manifest(by.c > 1.0, summary), "read");
  EXPECT_EQ(by.manifest(Predicate::is_null("c"), summary), "read");
  summary.contains_nan = false;
  EXPECT_EQ(by.manifest(by.c > 1.0, summary), "left out");
  EXPECT_EQ(by.manifest(Predicate::not_null("c"), summary), "left out");
  summary.contains_null = false;  // which cannot be
  EXPECT_EQ(by.manifest(by.c == 1.0, summary), "read");
}

TEST(ManifestFilter, WhatIsDamagedOrNotKnownMightMatch) {
  const OnePartition by("int", "identity");
  FieldSummary damaged;
  damaged.lower_bound = "12345";
  damaged.upper_bound = "";
  EXPECT_EQ(by.manifest(by.c == 1, damaged), "read");
  const auto of = [&](SampleManifest manifest) { return fate(by.c == 1, *by.table, manifest); };
  EXPECT_EQ(of(SampleManifest().summary(int_of(2), int_of(2))), "left out");
  EXPECT_EQ(of(SampleManifest()), "read");
  EXPECT_EQ(of(SampleManifest().summary(int_of(2), int_of(2)).summary(FieldSummary())), "read");
  EXPECT_EQ(of(SampleManifest().summary(int_of(2), int_of(2)).spec(7)), "read");
  EXPECT_EQ(of(SampleManifest().summary(int_of(2), int_of(2)).spec(std::nullopt)), "read");
}

}  // namespace
}  // namespace iceblink::iceberg::testing
