// What entries of a manifest inherit from the manifest list.
#include <optional>

#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

/// An entry with these sequence numbers; without one, it is null.
AvroRecord numbered(int status, std::optional<int> data, std::optional<int> file) {
  const auto number = [](const std::string& name, int id, std::optional<int> value) {
    return value ? some(long_field(name, id, *value)) : none(long_field(name, id, 0));
  };
  return entry(data_file(), status)
      .with(number("sequence_number", 3, data))
      .with(number("file_sequence_number", 4, file));
}

constexpr int kExisting = 0;
constexpr int kAdded = 1;
constexpr int kDeleted = 2;

/// Of sequence number `number`.
ManifestFile listed_as(std::int64_t number) {
  ManifestFile manifest = listed();
  manifest.sequence_number = number;
  return manifest;
}

TEST(Inheritance, TheSnapshotIdIsTheOneThatAddedTheManifest) {
  const auto manifest = read({entry().with(some(long_field("snapshot_id", 1, 12))), entry()});
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_THAT((*manifest)->entries()[0].file.snapshot_id, Optional(12));
  const auto inherited = read({entry()});
  EXPECT_THAT((*inherited)->entries()[0].file.snapshot_id, Optional(77));
  const auto without_column = read({entry().without("snapshot_id")});
  EXPECT_THAT((*without_column)->entries()[0].file.snapshot_id, Optional(77));
  ManifestFile unknown = listed();
  unknown.added_snapshot_id.reset();
  const auto from_nowhere = read({entry()}, unknown);
  EXPECT_EQ((*from_nowhere)->entries()[0].file.snapshot_id, std::nullopt);
}

TEST(Inheritance, AddedFilesTakeTheManifestsSequenceNumber) {
  const auto manifest = read({numbered(kAdded, std::nullopt, std::nullopt),
                              numbered(kAdded, 2, std::nullopt), numbered(kAdded, 2, 3)});
  ASSERT_TRUE(manifest) << manifest.error().message();
  const auto entries = (*manifest)->entries();
  EXPECT_EQ(entries[0].file.sequence_number, 5);
  EXPECT_EQ(entries[0].file.file_sequence_number, 5);
  EXPECT_EQ(entries[1].file.sequence_number, 2) << "data older than the file";
  EXPECT_EQ(entries[1].file.file_sequence_number, 5);
  EXPECT_EQ(entries[2].file.sequence_number, 2);
  EXPECT_EQ(entries[2].file.file_sequence_number, 3);
}

TEST(Inheritance, ExistingAndDeletedFilesHaveTheirOwnNumbers) {
  for (const int status : {kExisting, kDeleted}) {
    const auto manifest = read({numbered(status, 2, 3)});
    ASSERT_TRUE(manifest) << manifest.error().message();
    EXPECT_EQ((*manifest)->entries()[0].file.sequence_number, 2);
    EXPECT_EQ((*manifest)->entries()[0].file.file_sequence_number, 3);
  }
  EXPECT_THAT(read({numbered(kExisting, 2, 3), numbered(kExisting, std::nullopt, 3)}),
              FailsWith("corrupt: entries[1].sequence_number: is missing, and only an added file "
                        "inherits it"));
}

TEST(Inheritance, WhatEarlyWritersLeftOutIsNoFault) {
  const auto manifest =
      read({numbered(kDeleted, std::nullopt, 3), numbered(kExisting, 2, std::nullopt),
            numbered(kDeleted, std::nullopt, std::nullopt)});
  ASSERT_TRUE(manifest) << manifest.error().message();
  const auto entries = (*manifest)->entries();
  EXPECT_EQ(entries[0].file.sequence_number, 0);
  EXPECT_EQ(entries[0].file.file_sequence_number, 3);
  EXPECT_EQ(entries[1].file.sequence_number, 2);
  EXPECT_EQ(entries[1].file.file_sequence_number, 2);
  EXPECT_EQ(entries[2].file.file_sequence_number, 0);
}

TEST(Inheritance, EveryFileOfAManifestOfNumber0HasNumber0) {
  for (const int status : {kExisting, kAdded, kDeleted}) {
    for (const auto& of : {v1_entry(status), numbered(status, std::nullopt, std::nullopt)}) {
      const auto manifest = read({of}, listed_as(0));
      ASSERT_TRUE(manifest) << manifest.error().message();
      EXPECT_EQ((*manifest)->entries()[0].file.sequence_number, 0);
      EXPECT_EQ((*manifest)->entries()[0].file.file_sequence_number, 0);
    }
  }
}

TEST(Inheritance, AManifestOfFormat1ThatALaterSnapshotAdded) {
  const auto manifest = read({v1_entry(kAdded), v1_entry(kExisting), v1_entry(kDeleted)});
  ASSERT_TRUE(manifest) << manifest.error().message();
  const auto entries = (*manifest)->entries();
  EXPECT_EQ(entries[0].file.sequence_number, 5);
  EXPECT_EQ(entries[0].file.file_sequence_number, 5);
  EXPECT_EQ(entries[1].file.sequence_number, 0);
  EXPECT_EQ(entries[1].file.file_sequence_number, 0);
  EXPECT_EQ(entries[2].file.sequence_number, 0);
  EXPECT_THAT(entries[0].file.snapshot_id, Optional(33));
}

TEST(Inheritance, WithoutAColumnForFileSequenceNumbersTheyAreTheDatas) {
  const auto manifest = read({numbered(kExisting, 2, 2).without("file_sequence_number"),
                              numbered(kAdded, std::nullopt, 2).without("file_sequence_number")});
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_EQ((*manifest)->entries()[0].file.file_sequence_number, 2);
  EXPECT_EQ((*manifest)->entries()[1].file.file_sequence_number, 5);
}

TEST(Inheritance, ASequenceNumberIsNotNegative) {
  EXPECT_THAT(read({numbered(kAdded, -1, 1)}),
              FailsWith("corrupt: entries[0].sequence_number: -1 is negative"));
  EXPECT_THAT(read({numbered(kAdded, 1, -1)}),
              FailsWith("corrupt: entries[0].file_sequence_number: -1 is negative"));
}

// ---- First row ids

AvroRecord with_rows(int status, std::int64_t rows, std::optional<std::int64_t> first_row_id) {
  const auto id = long_field("first_row_id", 142, first_row_id.value_or(0));
  return entry(data_file()
                   .with(long_field("record_count", 103, rows))
                   .with(first_row_id ? some(id) : none(id)),
               status)
      .with(some(long_field("sequence_number", 3, 1)))
      .with(some(long_field("file_sequence_number", 4, 1)));
}

std::vector<std::optional<std::int64_t>> row_ids(const std::vector<AvroRecord>& entries,
                                                 std::optional<std::int64_t> first_row_id) {
  ManifestFile of = listed();
  of.first_row_id = first_row_id;
  const auto manifest = read(entries, of);
  EXPECT_TRUE(manifest) << manifest.error().message();
  std::vector<std::optional<std::int64_t>> ids;
  for (const auto& each : (*manifest)->entries()) ids.push_back(each.file.first_row_id);
  return ids;
}

TEST(Inheritance, RowIdsCountOnFromTheManifests) {
  EXPECT_THAT(row_ids({with_rows(kAdded, 10, std::nullopt), with_rows(kAdded, 5, std::nullopt),
                       with_rows(kAdded, 1, std::nullopt)},
                      1000),
              ElementsAre(Optional(1000), Optional(1010), Optional(1015)));
}

TEST(Inheritance, FilesWithRowIdsOfTheirOwnAreNotCounted) {
  EXPECT_THAT(row_ids({with_rows(kAdded, 10, 7), with_rows(kExisting, 5, std::nullopt),
                       with_rows(kExisting, 3, 20), with_rows(kAdded, 1, std::nullopt)},
                      1000),
              ElementsAre(Optional(7), Optional(1000), Optional(20), Optional(1005)));
}

TEST(Inheritance, DeletedFilesGetNoRowIds) {
  EXPECT_THAT(row_ids({with_rows(kDeleted, 10, std::nullopt), with_rows(kDeleted, 10, 4),
                       with_rows(kAdded, 5, std::nullopt)},
                      1000),
              ElementsAre(std::nullopt, Optional(4), Optional(1000)));
}

TEST(Inheritance, WithoutAFirstRowIdOfTheManifestThereIsOnlyTheFilesOwn) {
  EXPECT_THAT(
      row_ids({with_rows(kAdded, 10, std::nullopt), with_rows(kAdded, 10, 4)}, std::nullopt),
      ElementsAre(std::nullopt, Optional(4)));
}

TEST(Inheritance, AFileWithoutTheColumnInheritsToo) {
  EXPECT_THAT(row_ids({entry(), entry()}, 0), ElementsAre(Optional(0), Optional(10)));
}

TEST(Inheritance, DeleteFilesHaveNoRowIds) {
  ManifestFile of = listed(ManifestContent::kDeletes);
  of.first_row_id = 1000;
  const auto file = position_deletes().with(some(long_field("first_row_id", 142, 3)));
  const auto manifest = read({entry(file)}, of);
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_EQ((*manifest)->entries()[0].file.first_row_id, std::nullopt);
}

TEST(Inheritance, RowIdsDoNotWrap) {
  ManifestFile of = listed();
  of.first_row_id = INT64_MAX - 5;
  EXPECT_THAT(read({with_rows(kAdded, 6, std::nullopt)}, of),
              FailsWith("corrupt: entries[0].data_file.first_row_id: row ids beyond 64 bits"));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
