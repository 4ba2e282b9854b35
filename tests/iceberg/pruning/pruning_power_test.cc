// How many files are read of tables whose data is laid out as somebody would lay it out.
#include <functional>

#include "iceberg/pruning/transforms.h"
#include "tests/iceberg/pruning/scan_samples.h"

namespace iceblink::iceberg::testing {
namespace {

constexpr int kFileCount = 1000;

/// How many of a thousand files are read.
int read_of(const Predicate& predicate, const TableMetadata& table,
            const std::function<SampleFile(int)>& file_at) {
  const FileFilter filter = filter_of(predicate, table);
  int count = 0;
  for (int i = 0; i < kFileCount; ++i) {
    SampleFile file = file_at(i);
    const auto may_match = filter.may_match(file.file());
    EXPECT_TRUE(may_match) << may_match.error().message();
    if (may_match && *may_match) ++count;
  }
  return count;
}

/// Files 0, 1, … have ids from 0 to 99, from 100 to 199, …
SampleFile of_hundred_ids(int i) {
  return SampleFile(100)
      .column(1)
      .nulls(0)
      .lower(integer(TypeKind::kLong, i * 100))
      .upper(integer(TypeKind::kLong, i * 100 + 99));
}

TEST(FileFilterPower, SortedIdsLeaveTheFilesOfTheirRange) {
  const auto table = table_of(field(1, "id").text());
  const auto read = [&](const Predicate& predicate) {
    return read_of(predicate, *table, of_hundred_ids);
  };
  const Column id{"id"};
  EXPECT_EQ(read(id == 12345), 1);
  EXPECT_EQ(read(id == 100'000), 0);
  EXPECT_EQ(read(id < 250), 3);
  EXPECT_EQ(read(id <= 200), 3);
  EXPECT_EQ(read(id < 200), 2);
  EXPECT_EQ(read(id >= 99'900), 1);
  EXPECT_EQ(read(id > 99'899 || id == 5), 2);
  EXPECT_EQ(read(id >= 1000 && id < 2000), 10);
  EXPECT_EQ(read(!(id < 1000 || id >= 2000)), 10);
  EXPECT_EQ(read(id != 5), 1000);
  EXPECT_EQ(read(Predicate::is_null("id")), 0);
  EXPECT_EQ(read(Predicate::not_null("id")), 1000);
}

TEST(FileFilterPower, ManyAlternativesLeaveAFileEach) {
  const auto table = table_of(field(1, "id").text());
  const Column id{"id"};
  Predicate predicate = id == 50;
  for (int i = 1; i < 500; ++i) predicate = std::move(predicate) || id == i * 100 + 50;
  EXPECT_EQ(read_of(predicate, *table, of_hundred_ids), 500);
}

TEST(FileFilterPower, DaysLeaveTheFilesOfTheirDays) {
  const auto table = table_of(field(1, "at", R"("timestamptz")").text(), partition_field(1, "day"));
  const auto read = [&](const Predicate& predicate) {
    return read_of(predicate, *table, [](int i) {
      return SampleFile().partition(integer(TypeKind::kInt, 19000 + i));
    });
  };
  const Column at{"at"};
  EXPECT_EQ(read(at >= "2023-01-01T00:00Z" && at < "2023-02-01T00:00Z"), 31);
  EXPECT_EQ(read(at == "2023-01-01T12:00Z"), 1);
  EXPECT_EQ(read(at > "2023-01-01T23:00-02:00" && at < "2023-01-02T03:00Z"), 1);
}

TEST(FileFilterPower, BucketsLeaveOneOfThem) {
  const auto table = table_of(field(1, "id").text(), partition_field(1, "bucket[100]"));
  const auto read = [&](const Predicate& predicate) {
    return read_of(predicate, *table,
                   [](int i) { return SampleFile().partition(integer(TypeKind::kInt, i % 100)); });
  };
  const Column id{"id"};
  EXPECT_EQ(read(id == 34), 10);
  EXPECT_EQ(read(id == 34 || id == 35), 20);
  EXPECT_EQ(read(id > 34), 1000);
}

TEST(FileFilterPower, FirstLettersLeaveTheFilesOfTheirLetters) {
  const auto table =
      table_of(field(1, "name", R"("string")").text(), partition_field(1, "truncate[2]"));
  std::vector<std::string> starts;
  for (int i = 0; i < kFileCount; ++i) {
    starts.push_back({static_cast<char>('a' + i / 40), static_cast<char>('A' + i % 40)});
  }
  const auto read = [&](const Predicate& predicate) {
    return read_of(predicate, *table, [&](int i) {
      return SampleFile().partition(text(starts[static_cast<std::size_t>(i)]));
    });
  };
  const Column name{"name"};
  EXPECT_EQ(read(name == "cDelta"), 1);
  EXPECT_EQ(read(name < "c"), 80);
  EXPECT_EQ(read(name >= "bB" && name < "bD"), 2);
  EXPECT_EQ(read(name == "c"), 0);  // its partition would be "c"
}

TEST(FileFilterPower, ManifestsAreLeftOutBeforeTheirFiles) {
  const auto table = table_of(field(1, "d", R"("date")").text(), partition_field(1, "month"));
  const FileFilter filter =
      filter_of(Column{"d"} >= "2024-01-01" && Column{"d"} < "2024-04-01", *table);
  int count = 0;
  for (int year = 0; year < 100; ++year) {
    SampleManifest manifest = SampleManifest().summary(integer(TypeKind::kInt, year * 12),
                                                       integer(TypeKind::kInt, year * 12 + 11));
    if (filter.may_match(manifest.manifest())) ++count;
  }
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
