// Manifests: what each field becomes, where libraries write it differently, what is inherited.
#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

const HeaderMetadata kV2Header = {
    {"format-version", "2"}, {"partition-spec-id", "0"}, {"content", "data"}};

TEST(ManifestReader, HasEveryFieldOfADataFile) {
  const auto file =
      data_file()
          .with(some(count_map(kColumnSizes, {{1, 100}, {2, 200}})))
          .with(some(count_map(kValueCounts, {{1, 10}, {2, 20}})))
          .with(some(count_map(kNullCounts, {{1, 3}})))
          .with(some(count_map(kNanCounts, {{2, 4}})))
          .with(some(bound_map(kLowerBounds, {{1, "a"}})))
          .with(some(bound_map(kUpperBounds, {{1, "z"}, {3, "q"}})))
          .with(some(bytes_field("key_metadata", 131, "key")))
          .with(some(list_field("split_offsets", 132, "long", {4, 1000, std::int64_t{1} << 40})))
          .with(none(list_field("equality_ids", 135, "int", {})))
          .with(some(int_field("sort_order_id", 140, 6)))
          .with(some(long_field("first_row_id", 142, 900)))
          .with(none(text_field("referenced_data_file", 143, "")))
          .with(none(long_field("content_offset", 144, 0)))
          .with(none(long_field("content_size_in_bytes", 145, 0)));
  const auto manifest = read({entry(file)
                                  .with(some(long_field("snapshot_id", 1, 71)))
                                  .with(some(long_field("sequence_number", 3, 3)))
                                  .with(some(long_field("file_sequence_number", 4, 4)))},
                             listed(), kV2Header);
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_EQ((*manifest)->spec_id(), 0);
  EXPECT_EQ((*manifest)->content(), ManifestContent::kData);
  ASSERT_EQ((*manifest)->entries().size(), 1U);
  EXPECT_EQ((*manifest)->entries()[0].status, EntryStatus::kAdded);
  EXPECT_TRUE((*manifest)->entries()[0].is_live());
  const DataFile& read = (*manifest)->entries()[0].file;
  EXPECT_EQ(read.content, FileContent::kData);
  EXPECT_EQ(read.format, FileFormat::kParquet);
  EXPECT_EQ(read.file_format, "PARQUET");
  EXPECT_EQ(read.file_path, "s3://b/t/data/a.parquet");
  EXPECT_EQ(read.record_count, 10);
  EXPECT_EQ(read.file_size_in_bytes, 1000);
  ASSERT_EQ(read.columns.size(), 3U);
  const ColumnMetrics* const first = read.find_column(1);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->column_size, 100);
  EXPECT_EQ(first->value_count, 10);
  EXPECT_EQ(first->null_value_count, 3);
  EXPECT_EQ(first->nan_value_count, kNotCounted);
  EXPECT_THAT(first->lower_bound, Optional(std::string_view("a")));
  EXPECT_THAT(first->upper_bound, Optional(std::string_view("z")));
  EXPECT_EQ(read.find_column(2)->nan_value_count, 4);
  EXPECT_EQ(read.find_column(2)->lower_bound, std::nullopt);
  EXPECT_EQ(read.find_column(3)->value_count, kNotCounted);
  EXPECT_EQ(read.find_column(4), nullptr);
  EXPECT_THAT(read.key_metadata, Optional(std::string_view("key")));
  EXPECT_THAT(read.split_offsets, ElementsAre(4, 1000, std::int64_t{1} << 40));
  EXPECT_TRUE(read.equality_ids.empty());
  EXPECT_THAT(read.sort_order_id, Optional(6));
  EXPECT_THAT(read.first_row_id, Optional(900));
  EXPECT_THAT(read.snapshot_id, Optional(71));
  EXPECT_EQ(read.sequence_number, 3);
  EXPECT_EQ(read.file_sequence_number, 4);
}

TEST(ManifestReader, HasEveryFieldOfDeleteFiles) {
  const auto base = data_file("d.puffin")
                        .with(none(list_field("equality_ids", 135, "int", {})))
                        .with(none(text_field("referenced_data_file", 143, "")))
                        .with(none(long_field("content_offset", 144, 0)))
                        .with(none(long_field("content_size_in_bytes", 145, 0)));
  const auto equality = base.with(int_field("content", 134, 2))
                            .with(some(list_field("equality_ids", 135, "int", {1, 7})));
  const auto vector = base.with(int_field("content", 134, 1))
                          .with(text_field("file_format", 101, "puffin"))
                          .with(some(text_field("referenced_data_file", 143, "a.parquet")))
                          .with(some(long_field("content_offset", 144, 4)))
                          .with(some(long_field("content_size_in_bytes", 145, 40)));
  const auto manifest = read({entry(equality), entry(vector)}, listed(ManifestContent::kDeletes));
  ASSERT_TRUE(manifest) << manifest.error().message();
  const auto entries = (*manifest)->entries();
  EXPECT_EQ(entries[0].file.content, FileContent::kEqualityDeletes);
  EXPECT_THAT(entries[0].file.equality_ids, ElementsAre(1, 7));
  EXPECT_FALSE(entries[0].file.is_deletion_vector());
  EXPECT_TRUE(entries[1].file.is_deletion_vector());
  EXPECT_EQ(entries[1].file.format, FileFormat::kPuffin);
  EXPECT_THAT(entries[1].file.referenced_data_file, Optional(std::string_view("a.parquet")));
  EXPECT_THAT(entries[1].file.content_offset, Optional(4));
  EXPECT_THAT(entries[1].file.content_size_in_bytes, Optional(40));
}

TEST(ManifestReader, KnowsFormatsInAnyCaseAndKeepsOthers) {
  const auto as = [](const std::string& format) {
    const auto manifest = read({entry(data_file().with(text_field("file_format", 101, format)))});
    return std::pair((*manifest)->entries()[0].file.format,
                     std::string((*manifest)->entries()[0].file.file_format));
  };
  EXPECT_EQ(as("avro"), std::pair(FileFormat::kAvro, std::string("avro")));
  EXPECT_EQ(as("Orc"), std::pair(FileFormat::kOrc, std::string("Orc")));
  EXPECT_EQ(as("parquet"), std::pair(FileFormat::kParquet, std::string("parquet")));
  EXPECT_EQ(as("lance"), std::pair(FileFormat::kUnknown, std::string("lance")));
}

TEST(ManifestReader, TakesTheMapsThatAWriterMakesWithoutIds) {
  const std::string pairs =
      R"(["null",{"type":"array","logicalType":"map","items":["null",{"type":"record",)"
      R"("name":"element","fields":[{"name":"key","type":["null","int"]},)"
      R"({"name":"value","type":["null","long"]}]}]}])";
  const auto value = AvroBytes().some_branch().array(
      {AvroBytes().branch(1).branch(1).integer(1).branch(1).integer(9), AvroBytes().null_branch(),
       AvroBytes().branch(1).branch(1).integer(2).null_branch()});
  const auto manifest = read({entry(data_file().with({"value_counts", "109", pairs, value}))});
  ASSERT_TRUE(manifest) << manifest.error().message();
  const auto columns = (*manifest)->entries()[0].file.columns;
  ASSERT_EQ(columns.size(), 1U);
  EXPECT_EQ(columns[0].field_id, 1);
  EXPECT_EQ(columns[0].value_count, 9);
}

TEST(ManifestReader, FindsKeysAndValuesByTheirIds) {
  const std::string pairs =
      R"({"type":"array","items":{"type":"record","name":"p","fields":[)"
      R"({"name":"a","type":"bytes","field-id":127},{"name":"b","type":"int","field-id":126}]}})";
  const auto value = AvroBytes().array({AvroBytes().text("low").integer(12)});
  const auto manifest = read({entry(data_file().with({"lower_bounds", "125", pairs, value}))});
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_THAT((*manifest)->entries()[0].file.find_column(12)->lower_bound,
              Optional(std::string_view("low")));
}

TEST(ManifestReader, TakesMapsOfAvro) {
  const auto value = AvroBytes().array({AvroBytes().text("12").integer(5)});
  const auto manifest = read({entry(
      data_file().with({"value_counts", "109", R"({"type":"map","values":"long"})", value}))});
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_EQ((*manifest)->entries()[0].file.find_column(12)->value_count, 5);
  const auto wrong = AvroBytes().array({AvroBytes().text("12x").integer(5)});
  EXPECT_THAT(read({entry(data_file().with(
                  {"value_counts", "109", R"({"type":"map","values":"long"})", wrong}))}),
              FailsWith("corrupt: entries[0].data_file.value_counts: a key is no column id"));
}

TEST(ManifestReader, SortsColumnsAndTakesNegativeCountsForNone) {
  const auto manifest = read({entry(data_file()
                                        .with(count_map(kValueCounts, {{9, 1}, {2, -1}, {5, 3}}))
                                        .with(count_map(kNullCounts, {{2, 0}, {1, -7}})))});
  ASSERT_TRUE(manifest) << manifest.error().message();
  std::vector<std::pair<int, std::int64_t>> columns;
  for (const auto& column : (*manifest)->entries()[0].file.columns) {
    columns.emplace_back(column.field_id, column.value_count);
  }
  EXPECT_THAT(columns,
              ElementsAre(std::pair(1, -1), std::pair(2, -1), std::pair(5, 3), std::pair(9, 1)));
  EXPECT_EQ((*manifest)->entries()[0].file.find_column(1)->null_value_count, kNotCounted);
}

TEST(ManifestReader, TakesEqualityIdsThatAreLongs) {
  const auto file = data_file().with(int_field("content", 134, 2));
  const auto manifest = read({entry(file.with(list_field("equality_ids", 135, "long", {3})))},
                             listed(ManifestContent::kDeletes));
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_THAT((*manifest)->entries()[0].file.equality_ids, ElementsAre(3));
  EXPECT_THAT(read({entry(file.with(list_field("equality_ids", 135, "long", {1LL << 40})))},
                   listed(ManifestContent::kDeletes)),
              FailsWith("corrupt: entries[0].data_file.equality_ids: 1099511627776 does not fit "
                        "into 32 bits"));
}

TEST(ManifestReader, FindsFieldsInAnyOrderAndPassesOthersOver) {
  const auto file = data_file()
                        .with(long_field("block_size_in_bytes", 105, 1))
                        .with({"no_id", "", R"("string")", AvroBytes().text("x")})
                        .reversed();
  const auto manifest = read({entry(file).with(text_field("other", 900, "y")).reversed()});
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_EQ((*manifest)->entries()[0].file.file_path, "s3://b/t/data/a.parquet");
}

TEST(ManifestReader, NeedsNoMetadataInTheHeaderAndNoPartitionWhereThereIsNone) {
  const auto manifest = read(
      {AvroRecord{some(int_field("status", 0, 1)),
                  some(record_field("data_file", 2,
                                    AvroRecord{some(text_field("file_format", 101, "PARQUET")),
                                               some(long_field("record_count", 103, 2)),
                                               some(long_field("file_size_in_bytes", 104, 956)),
                                               some(text_field("file_path", 100, "a")),
                                               none(record_field("partition", 102, {}))}))}});
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_EQ((*manifest)->entries()[0].file.content, FileContent::kData);
  EXPECT_TRUE((*manifest)->entries()[0].file.partition.empty());
}

TEST(ManifestReader, MayBeEmpty) {
  AvroFile file(entry().schema("manifest_entry"));
  const auto manifest = read_manifest(file.bytes(), listed(), *unpartitioned_table());
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_TRUE((*manifest)->entries().empty());
  EXPECT_THAT((*manifest)->counts().added_files_count, Optional(0));
  EXPECT_THAT((*manifest)->counts().deleted_rows_count, Optional(0));
}

TEST(ManifestReader, CountsFilesAndRowsByStatus) {
  const auto with_numbers = [](int status, std::int64_t rows) {
    return entry(data_file().with(long_field("record_count", 103, rows)), status)
        .with(some(long_field("sequence_number", 3, 1)))
        .with(some(long_field("file_sequence_number", 4, 1)));
  };
  const auto manifest = read({with_numbers(0, 1), with_numbers(1, 20), with_numbers(2, 300),
                              with_numbers(1, 4000), with_numbers(1, 0)});
  ASSERT_TRUE(manifest) << manifest.error().message();
  const ManifestCounts& counts = (*manifest)->counts();
  EXPECT_THAT(counts.added_files_count, Optional(3));
  EXPECT_THAT(counts.existing_files_count, Optional(1));
  EXPECT_THAT(counts.deleted_files_count, Optional(1));
  EXPECT_THAT(counts.added_rows_count, Optional(4020));
  EXPECT_THAT(counts.existing_rows_count, Optional(1));
  EXPECT_THAT(counts.deleted_rows_count, Optional(300));
}

TEST(ManifestReader, TellsOfItsMemoryAsItGrows) {
  std::vector<AvroRecord> entries(2000, entry());
  std::size_t told = 0;
  std::size_t calls = 0;
  std::size_t document_bytes = 0;
  const auto wanted = [&](std::size_t bytes, std::size_t document_bytes_min) {
    EXPECT_GE(bytes, told);
    EXPECT_LE(document_bytes_min, bytes);
    told = bytes;
    document_bytes = document_bytes_min;
    ++calls;
  };
  const auto manifest =
      read_manifest(avro_file(entries), listed(), *unpartitioned_table(), {}, wanted);
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_GT(calls, 3U);
  EXPECT_LE(document_bytes, (*manifest)->weight_bytes());
  EXPECT_GE(document_bytes, (*manifest)->weight_bytes() * 8 / 10);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
