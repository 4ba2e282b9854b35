// Which delete files apply to a data file, rule by rule.
#include "iceberg/manifest/delete_index.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <iterator>
#include <limits>
#include <random>

#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Spec 0: by x. 1: none. 2: by x, dropped since (void). 3: by x, again.
std::shared_ptr<const TableMetadata> table() {
  static const auto made = table_of(
      v2().with("partition-specs",
                R"([{"spec-id":0,"fields":[{"name":"x","transform":"identity","source-id":1,)"
                R"("field-id":1000}]},{"spec-id":1,"fields":[]},)"
                R"({"spec-id":2,"fields":[{"name":"x","transform":"void","source-id":1,)"
                R"("field-id":1000}]},{"spec-id":3,"fields":[{"name":"x2","transform":"identity",)"
                R"("source-id":1,"field-id":1001}]}])")
          .with("last-partition-id", "1001"));
  return made;
}

/// Files that stay where they are, with what they borrow.
class Files {
 public:
  DataFile& add(FileContent content, const std::string& path, std::int64_t sequence_number) {
    DataFile& file = files_.emplace_back();
    file.content = content;
    file.format = FileFormat::kParquet;
    file.file_path = keep(path);
    file.sequence_number = sequence_number;
    return in_partition(file, 0, Literal::of_integer(TypeKind::kLong, 1));
  }
  DataFile& data(const std::string& path, std::int64_t sequence_number) {
    return add(FileContent::kData, path, sequence_number);
  }
  DataFile& positions(const std::string& path, std::int64_t sequence_number) {
    return add(FileContent::kPositionDeletes, path, sequence_number);
  }
  DataFile& equality(const std::string& path, std::int64_t sequence_number) {
    return add(FileContent::kEqualityDeletes, path, sequence_number);
  }
  DataFile& vector(const std::string& path, std::int64_t sequence_number,
                   const std::string& data_path) {
    DataFile& file = positions(path, sequence_number);
    file.format = FileFormat::kPuffin;
    file.referenced_data_file = keep(data_path);
    return file;
  }

  DataFile& in_partition(DataFile& file, std::int32_t spec_id, const Literal& value) {
    file.spec_id = spec_id;
    file.partition = {&literals_.emplace_back(value), 1};
    return file;
  }
  DataFile& unpartitioned(DataFile& file) {
    file.spec_id = 1;
    file.partition = {};
    return file;
  }
  DataFile& with_path_bounds(DataFile& file, std::optional<std::string> lower,
                             std::optional<std::string> upper) {
    ColumnMetrics& column = columns_.emplace_back();
    column.field_id = 2147483546;
    if (lower) column.lower_bound = keep(*lower);
    if (upper) column.upper_bound = keep(*upper);
    file.columns = {&column, 1};
    return file;
  }
  std::string_view keep(const std::string& text) { return texts_.emplace_back(text); }

 private:
  std::deque<DataFile> files_;
  std::deque<Literal> literals_;
  std::deque<ColumnMetrics> columns_;
  std::deque<std::string> texts_;
};

/// Positions, then equalities.
std::vector<const DataFile*> all_of(DeleteIndex& index, const DataFile& data_file) {
  std::vector<const DataFile*> files;
  const auto shared = index.find_positions(data_file, files);
  EXPECT_TRUE(shared.empty() || files.empty());
  files.insert(files.end(), shared.begin(), shared.end());
  const auto equalities = index.find_equalities(data_file);
  files.insert(files.end(), equalities.begin(), equalities.end());
  return files;
}

/// The paths of the deletes that apply.
std::vector<std::string> found(const DataFile& data_file,
                               const std::vector<const DataFile*>& deletes) {
  auto index = DeleteIndex::make(deletes, *table());
  if (!index) return {index.error().message()};
  std::vector<std::string> paths;
  for (const DataFile* const file : all_of(*index, data_file)) paths.emplace_back(file->file_path);
  return paths;
}

Literal number(std::int64_t value) {
  return Literal::of_integer(TypeKind::kLong, value);
}

class DeleteMatching : public ::testing::Test {
 protected:
  Files files_;
};

TEST_F(DeleteMatching, WithoutDeletesFindsNothing) {
  EXPECT_THAT(found(files_.data("a", 1), {}), IsEmpty());
}

// ---- Position deletes

TEST_F(DeleteMatching, PositionDeletesApplyToDataOfTheirCommitAndOlder) {
  const auto& deletes = files_.positions("d", 5);
  EXPECT_THAT(found(files_.data("a", 4), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("a", 5), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("a", 6), {&deletes}), IsEmpty());
}

TEST_F(DeleteMatching, PositionDeletesApplyWithinTheirPartition) {
  const auto& deletes = files_.positions("d", 5);
  const auto in = [&](std::int32_t spec_id, const Literal& value) {
    return found(files_.in_partition(files_.data("a", 1), spec_id, value), {&deletes});
  };
  EXPECT_THAT(in(0, number(1)), ElementsAre("d"));
  EXPECT_THAT(in(0, number(2)), IsEmpty());
  EXPECT_THAT(in(0, Literal::null(TypeKind::kLong)), IsEmpty());
  EXPECT_THAT(in(3, number(1)), IsEmpty()) << "the same value under another spec";
}

TEST_F(DeleteMatching, UnpartitionedPositionDeletesStayInTheirSpec) {
  const auto& deletes = files_.unpartitioned(files_.positions("d", 5));
  EXPECT_THAT(found(files_.data("a", 1), {&deletes}), IsEmpty());
  EXPECT_THAT(found(files_.unpartitioned(files_.data("a", 1)), {&deletes}), ElementsAre("d"));
}

TEST_F(DeleteMatching, PartitionsOfNullsAndOfNansAreEqual) {
  auto& deletes = files_.positions("d", 5);
  auto& data = files_.data("a", 1);
  const auto both = [&](const Literal& a, const Literal& b) {
    files_.in_partition(deletes, 0, a);
    files_.in_partition(data, 0, b);
    return !found(data, {&deletes}).empty();
  };
  const auto nan = [](double value) { return Literal::of_number(TypeKind::kDouble, value); };
  EXPECT_TRUE(both(Literal::null(TypeKind::kLong), Literal::null(TypeKind::kLong)));
  EXPECT_TRUE(both(nan(std::numeric_limits<double>::quiet_NaN()),
                   nan(-std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(both(nan(0.0), nan(-0.0)), is_same(nan(0.0), nan(-0.0)));
  EXPECT_TRUE(both(Literal::of_decimal({1, 2}, 3), Literal::of_decimal({1, 2}, 3)));
  EXPECT_FALSE(both(Literal::of_decimal({1, 2}, 3), Literal::of_decimal({2, 2}, 3)));
  EXPECT_TRUE(both(Literal::of_bytes(TypeKind::kString, files_.keep("abc")),
                   Literal::of_bytes(TypeKind::kString, files_.keep("abc"))));
  EXPECT_FALSE(both(Literal::of_bytes(TypeKind::kString, files_.keep("abc")),
                    Literal::of_bytes(TypeKind::kString, files_.keep("abd"))));
}

TEST_F(DeleteMatching, ThoseOfOneDataFileApplyToThatOneAlone) {
  auto& deletes = files_.positions("d", 5);
  deletes.referenced_data_file = "a";
  EXPECT_THAT(found(files_.data("a", 5), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("b", 5), {&deletes}), IsEmpty());
  EXPECT_THAT(found(files_.data("a", 6), {&deletes}), IsEmpty());
  EXPECT_THAT(found(files_.in_partition(files_.data("a", 5), 0, number(2)), {&deletes}), IsEmpty());
}

TEST_F(DeleteMatching, BoundsOfThePathsLeaveOthersOut) {
  const auto& deletes = files_.with_path_bounds(files_.positions("d", 5), "b", "d");
  EXPECT_THAT(found(files_.data("a", 1), {&deletes}), IsEmpty());
  EXPECT_THAT(found(files_.data("b", 1), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("c/long/path", 1), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("d", 1), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("da", 1), {&deletes}), IsEmpty());
  EXPECT_THAT(found(files_.data("\xc3\xa4", 1), {&deletes}), IsEmpty()) << "unsigned bytes";
}

TEST_F(DeleteMatching, OneBoundAloneCounts) {
  const auto& from = files_.with_path_bounds(files_.positions("from", 5), "b", std::nullopt);
  const auto& to = files_.with_path_bounds(files_.positions("to", 5), std::nullopt, "b");
  EXPECT_THAT(found(files_.data("a", 1), {&from, &to}), ElementsAre("to"));
  EXPECT_THAT(found(files_.data("c", 1), {&from, &to}), ElementsAre("from"));
}

TEST_F(DeleteMatching, EqualBoundsAreOneDataFile) {
  const auto& deletes = files_.with_path_bounds(files_.positions("d", 5), "a", "a");
  EXPECT_THAT(found(files_.data("a", 5), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("ab", 5), {&deletes}), IsEmpty());
  EXPECT_THAT(found(files_.data("a", 6), {&deletes}), IsEmpty());
}

TEST_F(DeleteMatching, BoundsThatContradictEachOtherSayNothing) {
  const auto& deletes = files_.with_path_bounds(files_.positions("d", 5), "z", "a");
  EXPECT_THAT(found(files_.data("m", 5), {&deletes}), ElementsAre("d"));
}

TEST_F(DeleteMatching, AReferencedDataFileCountsMoreThanBounds) {
  auto& deletes = files_.with_path_bounds(files_.positions("d", 5), "a", "z");
  deletes.referenced_data_file = "m";
  EXPECT_THAT(found(files_.data("m", 5), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("n", 5), {&deletes}), IsEmpty());
}

// ---- Equality deletes

TEST_F(DeleteMatching, EqualityDeletesApplyToOlderDataAlone) {
  const auto& deletes = files_.equality("d", 5);
  EXPECT_THAT(found(files_.data("a", 4), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("a", 5), {&deletes}), IsEmpty());
  EXPECT_THAT(found(files_.data("a", 6), {&deletes}), IsEmpty());
}

TEST_F(DeleteMatching, EqualityDeletesApplyWithinTheirPartition) {
  const auto& deletes = files_.equality("d", 5);
  EXPECT_THAT(found(files_.in_partition(files_.data("a", 1), 0, number(2)), {&deletes}), IsEmpty());
  EXPECT_THAT(found(files_.in_partition(files_.data("a", 1), 3, number(1)), {&deletes}), IsEmpty());
  EXPECT_THAT(found(files_.unpartitioned(files_.data("a", 1)), {&deletes}), IsEmpty());
}

TEST_F(DeleteMatching, UnpartitionedEqualityDeletesApplyEverywhere) {
  const auto& deletes = files_.unpartitioned(files_.equality("d", 5));
  EXPECT_THAT(found(files_.data("a", 4), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.in_partition(files_.data("a", 4), 3, number(9)), {&deletes}),
              ElementsAre("d"));
  EXPECT_THAT(found(files_.unpartitioned(files_.data("a", 4)), {&deletes}), ElementsAre("d"));
  EXPECT_THAT(found(files_.data("a", 5), {&deletes}), IsEmpty());
}

TEST_F(DeleteMatching, ASpecOfVoidFieldsAloneIsUnpartitioned) {
  const auto& deletes =
      files_.in_partition(files_.equality("d", 5), 2, Literal::null(TypeKind::kLong));
  EXPECT_THAT(found(files_.data("a", 4), {&deletes}), ElementsAre("d"));
}

// ---- Deletion vectors

TEST_F(DeleteMatching, ADeletionVectorAppliesToItsDataFile) {
  const auto& vector = files_.vector("v", 5, "a");
  EXPECT_THAT(found(files_.data("a", 4), {&vector}), ElementsAre("v"));
  EXPECT_THAT(found(files_.data("a", 5), {&vector}), ElementsAre("v"));
  EXPECT_THAT(found(files_.data("a", 6), {&vector}), IsEmpty());
  EXPECT_THAT(found(files_.data("b", 4), {&vector}), IsEmpty());
  EXPECT_THAT(found(files_.in_partition(files_.data("a", 4), 0, number(2)), {&vector}), IsEmpty());
}

TEST_F(DeleteMatching, ADeletionVectorStandsForAllPositionDeletes) {
  const auto& vector = files_.vector("v", 5, "a");
  const auto& positions = files_.positions("d", 9);
  const auto& equality = files_.equality("e", 9);
  EXPECT_THAT(found(files_.data("a", 4), {&positions, &equality, &vector}), ElementsAre("v", "e"));
  EXPECT_THAT(found(files_.data("b", 4), {&positions, &equality, &vector}), ElementsAre("d", "e"));
  EXPECT_THAT(found(files_.data("a", 6), {&positions, &equality, &vector}), ElementsAre("d", "e"))
      << "the vector does not apply to newer data";
}

TEST_F(DeleteMatching, ManyVectorsOfOnePuffinFile) {
  const auto& first = files_.vector("v", 5, "a");
  const auto& second = files_.vector("v", 5, "b");
  auto index = DeleteIndex::make(std::vector<const DataFile*>{&first, &second}, *table());
  ASSERT_TRUE(index) << index.error().message();
  EXPECT_THAT(all_of(*index, files_.data("b", 1)), ElementsAre(&second));
}

TEST_F(DeleteMatching, TwoDeletionVectorsOfOneDataFileAreRefused) {
  const auto& first = files_.vector("v1", 5, "a");
  const auto& second = files_.vector("v2", 6, "a");
  EXPECT_THAT(found(files_.data("a", 1), {&first, &second}),
              ElementsAre("two deletion vectors of a: in v1 and in v2"));
}

// ---- All of them

TEST_F(DeleteMatching, TheyAreInOrderOfTheirSequenceNumbersThenAsGiven) {
  const auto& p7 = files_.positions("p7", 7);
  auto& of_a5 = files_.positions("of_a5", 5);
  of_a5.referenced_data_file = "a";
  auto& of_a7 = files_.positions("of_a7", 7);
  of_a7.referenced_data_file = "a";
  const auto& p3 = files_.positions("p3", 3);
  const auto& q7 = files_.positions("q7", 7);
  const auto& e4 = files_.equality("e4", 4);
  const auto& g3 = files_.unpartitioned(files_.equality("g3", 3));
  const auto& g4 = files_.unpartitioned(files_.equality("g4", 4));
  const auto& e2 = files_.equality("e2", 2);
  EXPECT_THAT(found(files_.data("a", 2), {&e4, &p7, &g4, &of_a7, &of_a5, &g3, &p3, &q7, &e2}),
              ElementsAre("p3", "of_a5", "p7", "of_a7", "q7", "g3", "e4", "g4"));
}

TEST_F(DeleteMatching, WhatIsOfOneDataFileIsAddedToWhatIsThere) {
  auto& deletes = files_.positions("d", 5);
  deletes.referenced_data_file = "a";
  auto index = DeleteIndex::make(std::vector<const DataFile*>{&deletes}, *table());
  ASSERT_TRUE(index) << index.error().message();
  const auto& data = files_.data("a", 1);
  std::vector<const DataFile*> files{&data};
  EXPECT_THAT(index->find_positions(data, files), IsEmpty());
  EXPECT_THAT(files, ElementsAre(&data, &deletes));
}

TEST_F(DeleteMatching, DataFilesShareTheirLists) {
  std::vector<const DataFile*> deletes;
  for (int i = 1; i <= 10; ++i) {
    deletes.push_back(&files_.positions("p", i));
    deletes.push_back(&files_.equality("e", i));
    deletes.push_back(&files_.unpartitioned(files_.equality("g", i)));
  }
  auto index = DeleteIndex::make(deletes, *table());
  ASSERT_TRUE(index) << index.error().message();
  const auto& early = files_.data("a", 0);
  const auto& late = files_.data("b", 8);
  std::vector<const DataFile*> own;
  EXPECT_EQ(index->find_positions(early, own).size(), 10U);
  EXPECT_EQ(index->find_positions(late, own).data(), index->find_positions(early, own).data() + 7);
  EXPECT_THAT(own, IsEmpty());
  EXPECT_EQ(index->find_equalities(early).size(), 20U);
  EXPECT_EQ(index->find_equalities(late).data(), index->find_equalities(early).data() + 16);
}

TEST_F(DeleteMatching, APartitionIsTheSameWhateverKindItWasWrittenAs) {
  const auto deletes_of = [&](const Literal& of_data, const Literal& of_deletes) {
    const auto& deletes = files_.in_partition(files_.positions("d", 5), 0, of_deletes);
    return found(files_.in_partition(files_.data("a", 1), 0, of_data), {&deletes}).size();
  };
  const auto of = Literal::of_integer;
  EXPECT_EQ(deletes_of(of(TypeKind::kInt, 5), of(TypeKind::kLong, 5)), 1U);
  EXPECT_EQ(deletes_of(of(TypeKind::kInt, 5), of(TypeKind::kLong, 6)), 0U);
  EXPECT_EQ(deletes_of(of(TypeKind::kInt, 5), Literal::of_number(TypeKind::kDouble, 5)), 0U);
  EXPECT_EQ(deletes_of(Literal::of_number(TypeKind::kFloat, 0.5),
                       Literal::of_number(TypeKind::kDouble, 0.5)),
            1U);
  EXPECT_EQ(deletes_of(Literal::of_bytes(TypeKind::kBinary, "x"),
                       Literal::of_bytes(TypeKind::kFixed, "x")),
            1U);
  EXPECT_EQ(deletes_of(Literal::null(TypeKind::kInt), Literal::null(TypeKind::kUnknown)), 1U);
  EXPECT_EQ(deletes_of(Literal::null(TypeKind::kInt), of(TypeKind::kInt, 0)), 0U);
}

TEST_F(DeleteMatching, ADataFileAmongThemIsRefused) {
  EXPECT_THAT(found(files_.data("a", 1), {&files_.data("b", 2)}),
              ElementsAre("b: is a data file among delete files"));
  auto& lost = files_.positions("d", 1);
  lost.spec_id = 44;
  EXPECT_THAT(found(files_.data("a", 1), {&lost}),
              ElementsAre("d: the table has no partition spec 44"));
}

/// The rules as the specification words them, one after the other.
bool applies(const DataFile& deletes, const DataFile& data, bool has_vector) {
  const bool is_same_partition = deletes.spec_id == data.spec_id &&
                                 std::equal(deletes.partition.begin(), deletes.partition.end(),
                                            data.partition.begin(), data.partition.end(), is_same);
  if (deletes.content == FileContent::kEqualityDeletes) {
    return data.sequence_number < deletes.sequence_number &&
           (is_same_partition || deletes.spec_id == 1 || deletes.spec_id == 2);
  }
  if (!is_same_partition || data.sequence_number > deletes.sequence_number) return false;
  if (deletes.referenced_data_file && *deletes.referenced_data_file != data.file_path) return false;
  if (deletes.is_deletion_vector()) return true;
  const ColumnMetrics* const path = deletes.find_column(2147483546);
  const bool may_be_in = deletes.referenced_data_file || path == nullptr ||
                         ((!path->lower_bound || *path->lower_bound <= data.file_path) &&
                          (!path->upper_bound || data.file_path <= *path->upper_bound));
  return !has_vector && may_be_in;
}

TEST_F(DeleteMatching, AgreesWithTheRulesOverFilesMadeByChance) {
  constexpr unsigned kSeed = 20;
  std::printf("seed %u\n", kSeed);
  std::minstd_rand random(kSeed);
  const auto pick = [&](int count) { return static_cast<int>(random() % count); };
  const auto place = [&](DataFile& file) -> DataFile& {
    const int spec_id = pick(4);
    if (spec_id == 1) return files_.unpartitioned(file);
    return files_.in_partition(file, spec_id,
                               spec_id == 2 ? Literal::null(TypeKind::kLong) : number(pick(2)));
  };
  const auto path = [&] { return std::string(1, static_cast<char>('a' + pick(4))); };
  std::size_t matched = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<const DataFile*> deletes;
    for (int i = 0; i < 12; ++i) {
      const bool is_equality = pick(3) == 0;
      DataFile& file =
          place(is_equality ? files_.equality("e", pick(4)) : files_.positions("p", pick(4)));
      if (!is_equality && pick(3) == 0) file.referenced_data_file = files_.keep(path());
      if (!is_equality && pick(3) == 0) {
        const std::string lower = path();
        const std::string upper = std::max(lower, path());
        const int which = pick(4);
        files_.with_path_bounds(file, which == 0 ? std::nullopt : std::optional(lower),
                                which == 1 ? std::nullopt : std::optional(upper));
      }
      deletes.push_back(&file);
    }
    const std::string with_vector = path();
    deletes.push_back(&place(files_.vector("v", pick(4), with_vector)));
    auto index = DeleteIndex::make(deletes, *table());
    ASSERT_TRUE(index) << index.error().message();
    for (int i = 0; i < 12; ++i) {
      const DataFile& data = place(files_.data(path(), pick(4)));
      const std::vector<const DataFile*> found = all_of(*index, data);
      matched += found.size();
      const bool has_vector = applies(*deletes.back(), data, false);
      std::vector<const DataFile*> expected;
      std::copy_if(deletes.begin(), deletes.end(), std::back_inserter(expected),
                   [&](const DataFile* file) { return applies(*file, data, has_vector); });
      EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected)) << "round " << round;
    }
  }
  EXPECT_GT(matched, 1000U);
}

std::size_t found_by_all(const std::vector<const DataFile*>& data,
                         const std::vector<const DataFile*>& deletes) {
  auto index = DeleteIndex::make(deletes, *table());
  EXPECT_TRUE(index) << index.error().message();
  std::size_t count = 0;
  for (const DataFile* const file : data) count += all_of(*index, *file).size();
  return count;
}

// Were all deletes of a partition looked at for each data file of it, it would be ten thousand
// million.
TEST_F(DeleteMatching, AHundredThousandDataFilesFindTheirsAmongAsMany) {
  constexpr int kCount = 100'000;
  std::vector<const DataFile*> data;
  std::vector<const DataFile*> of_one_file;
  std::vector<const DataFile*> of_one_partition;
  for (int i = 0; i < kCount; ++i) {
    const std::string path = "s3://b/t/data/" + std::to_string(i) + ".parquet";
    data.push_back(&files_.unpartitioned(files_.data(path, i)));
    auto& positions = files_.unpartitioned(files_.positions("p", i));
    if (i % 2 == 0) {
      positions.referenced_data_file = data.back()->file_path;
    } else {
      files_.with_path_bounds(positions, path, path);
    }
    of_one_file.push_back(&positions);
  }
  EXPECT_EQ(found_by_all(data, of_one_file), kCount);
  std::vector<const DataFile*> within_bounds;
  for (int i = 0; i < kCount; ++i) {
    auto& positions = files_.unpartitioned(files_.positions("p", kCount));
    const std::string lower(data[i]->file_path);
    files_.with_path_bounds(positions, lower, lower + '~');
    within_bounds.push_back(&positions);
  }
  EXPECT_EQ(found_by_all(data, within_bounds), kCount);
  std::vector<const DataFile*> old_and_wide;
  for (int i = 0; i < kCount; ++i) {
    auto& positions = files_.unpartitioned(files_.positions("p", -1));
    files_.with_path_bounds(positions, "a", "z" + std::to_string(i));
    old_and_wide.push_back(&positions);
  }
  EXPECT_EQ(found_by_all(data, old_and_wide), 0U);
  for (int i = 0; i < kCount; ++i) {
    data[i] = &files_.in_partition(files_.data("a", i), 0, number(i));
    of_one_partition.push_back(&files_.in_partition(files_.equality("e", i + 1), 0, number(i)));
  }
  EXPECT_EQ(found_by_all(data, of_one_partition), kCount);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
