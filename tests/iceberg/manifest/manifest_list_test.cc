// Manifest lists: what each field becomes, what may be left out, what is refused.
#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::Optional;

AvroField summaries(const std::vector<AvroRecord>& records) {
  std::vector<AvroBytes> elements;
  for (const AvroRecord& record : records) elements.push_back(record.value());
  return {"partitions", "507", R"({"type":"array","items":)" + records.at(0).schema("r508") + '}',
          AvroBytes().array(elements)};
}

AvroRecord summary() {
  return {boolean_field("contains_null", 509, false),
          some(boolean_field("contains_nan", 518, true)),
          some(bytes_field("lower_bound", 510, "aa")), none(bytes_field("upper_bound", 511, ""))};
}

TEST(ManifestList, HasEveryFieldOfFormat3) {
  const auto list = read_list({list_entry()
                                   .with(int_field("content", 517, 1))
                                   .with(some(summaries({summary(), summary()})))
                                   .with(some(bytes_field("key_metadata", 519, "key")))
                                   .with(some(long_field("first_row_id", 520, 1000)))});
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ((*list)->snapshot_id(), 77);
  ASSERT_EQ((*list)->manifests().size(), 1U);
  const ManifestFile& manifest = (*list)->manifests()[0];
  EXPECT_EQ(manifest.manifest_path, "s3://b/t/m0.avro");
  EXPECT_THAT(manifest.manifest_length, Optional(100));
  EXPECT_THAT(manifest.partition_spec_id, Optional(0));
  EXPECT_EQ(manifest.content, ManifestContent::kDeletes);
  EXPECT_EQ(manifest.sequence_number, 5);
  EXPECT_EQ(manifest.min_sequence_number, 4);
  EXPECT_THAT(manifest.added_snapshot_id, Optional(77));
  EXPECT_THAT(manifest.counts.added_files_count, Optional(1));
  EXPECT_THAT(manifest.counts.existing_files_count, Optional(2));
  EXPECT_THAT(manifest.counts.deleted_files_count, Optional(3));
  EXPECT_THAT(manifest.counts.added_rows_count, Optional(10));
  EXPECT_THAT(manifest.counts.existing_rows_count, Optional(20));
  EXPECT_THAT(manifest.counts.deleted_rows_count, Optional(30));
  ASSERT_EQ(manifest.partitions.size(), 2U);
  EXPECT_FALSE(manifest.partitions[1].contains_null);
  EXPECT_THAT(manifest.partitions[1].contains_nan, Optional(true));
  EXPECT_THAT(manifest.partitions[1].lower_bound, Optional(std::string_view("aa")));
  EXPECT_EQ(manifest.partitions[1].upper_bound, std::nullopt);
  EXPECT_THAT(manifest.key_metadata, Optional(std::string_view("key")));
  EXPECT_THAT(manifest.first_row_id, Optional(1000));
}

TEST(ManifestList, OfFormat1KnowsLess) {
  const auto list =
      read_list({{text_field("manifest_path", 500, "m"), long_field("manifest_length", 501, 100),
                  int_field("partition_spec_id", 502, 3),
                  none(int_field("added_data_files_count", 504, 0))}});
  ASSERT_TRUE(list) << list.error().message();
  const ManifestFile& manifest = (*list)->manifests()[0];
  EXPECT_EQ(manifest.content, ManifestContent::kData);
  EXPECT_EQ(manifest.sequence_number, 0);
  EXPECT_EQ(manifest.min_sequence_number, 0);
  EXPECT_EQ(manifest.added_snapshot_id, std::nullopt);
  EXPECT_EQ(manifest.counts.added_files_count, std::nullopt);
  EXPECT_EQ(manifest.counts.deleted_rows_count, std::nullopt);
  EXPECT_TRUE(manifest.partitions.empty());
  EXPECT_EQ(manifest.first_row_id, std::nullopt);
}

TEST(ManifestList, FindsFieldsByTheirIdsInAnyOrderUnderAnyName) {
  const auto list = read_list({list_entry()
                                   .without("added_files_count")
                                   .with(int_field("added_data_files_count", 504, 8))
                                   .with(text_field("unknown", 999, "x"))
                                   .with({"no_id", "", R"("long")", AvroBytes().integer(1)})
                                   .reversed()});
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ((*list)->manifests()[0].manifest_path, "s3://b/t/m0.avro");
  EXPECT_THAT((*list)->manifests()[0].counts.added_files_count, Optional(8));
}

TEST(ManifestList, TakesIntsForLongsAndLongsForInts) {
  const auto list = read_list({list_entry()
                                   .with(int_field("manifest_length", 501, 9))
                                   .with(long_field("partition_spec_id", 502, 4))});
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_THAT((*list)->manifests()[0].manifest_length, Optional(9));
  EXPECT_THAT((*list)->manifests()[0].partition_spec_id, Optional(4));
}

TEST(ManifestList, KeepsTheOrderOfItsEntries) {
  std::vector<AvroRecord> entries;
  for (int i = 0; i < 1000; ++i) entries.push_back(list_entry("m" + std::to_string(i)));
  const auto list = read_list(entries);
  ASSERT_TRUE(list) << list.error().message();
  ASSERT_EQ((*list)->manifests().size(), 1000U);
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ((*list)->manifests()[i].manifest_path, "m" + std::to_string(i));
  }
}

TEST(ManifestList, MayBeEmpty) {
  AvroFile file(list_entry().schema("manifest_file"));
  const auto list = read_manifest_list(file.bytes(), TableSnapshot{});
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_TRUE((*list)->manifests().empty());
}

TEST(ManifestList, RefusesEntriesThatLackWhatEveryFormatRequires) {
  EXPECT_THAT(read_list({list_entry().without("manifest_path")}),
              FailsWith("corrupt: field-id 500 (manifest_path) is not in the file's schema"));
  EXPECT_THAT(read_list({list_entry().without("manifest_length")}),
              FailsWith("corrupt: field-id 501 (manifest_length) is not in the file's schema"));
  EXPECT_THAT(read_list({list_entry().without("partition_spec_id")}),
              FailsWith("corrupt: field-id 502 (partition_spec_id) is not in the file's schema"));
  const auto with_length = list_entry().with(some(long_field("manifest_length", 501, 1)));
  const auto without_length = list_entry().with(none(long_field("manifest_length", 501, 1)));
  EXPECT_THAT(read_list({with_length, without_length}),
              FailsWith("corrupt: manifests[1].manifest_length: is missing"));
  EXPECT_THAT(read_list({list_entry("")}),
              FailsWith("corrupt: manifests[0].manifest_path: is empty"));
}

TEST(ManifestList, RefusesAKnownFieldOfAnotherType) {
  EXPECT_THAT(read_list({list_entry().with(long_field("manifest_path", 500, 1))}),
              FailsWith("corrupt: field-id 500 (manifest_path) is a long, and has to be a string"));
  EXPECT_THAT(read_list({list_entry().with(text_field("content", 517, "data"))}),
              FailsWith("corrupt: field-id 517 (content) is a string, and has to be an int or a "
                        "long"));
  EXPECT_THAT(read_list({list_entry().with({"content", "517", R"(["null","int","long"])",
                                            AvroBytes().branch(1).integer(0)})}),
              FailsWith("corrupt: field-id 517 (content) is of several types"));
  EXPECT_THAT(read_list({list_entry().with(int_field("another_one", 517, 0))}),
              FailsAs("two fields have the id 517"));
}

TEST(ManifestList, RefusesValuesThatCannotBe) {
  const auto refused = [](const AvroField& field, const std::string& what) {
    EXPECT_THAT(read_list({list_entry().with(field)}),
                FailsWith("corrupt: manifests[0]." + field.name + ": " + what));
  };
  refused(int_field("content", 517, 2), "2 is not among 0 to 1");
  refused(long_field("manifest_length", 501, -1), "-1 is negative");
  refused(long_field("sequence_number", 515, -1), "-1 is negative");
  refused(long_field("min_sequence_number", 516, -1), "-1 is negative");
  refused(int_field("added_files_count", 504, -1), "-1 is negative");
  refused(long_field("deleted_rows_count", 514, -8), "-8 is negative");
  refused(long_field("first_row_id", 520, -1), "-1 is negative");
  refused(long_field("partition_spec_id", 502, std::int64_t{1} << 31),
          "2147483648 does not fit into 32 bits");
  refused(text_field("manifest_path", 500, "m\xff"), "is not UTF-8");
}

TEST(ManifestList, RefusesASummaryThatDoesNotSayWhetherThereAreNulls) {
  EXPECT_THAT(read_list({list_entry().with(summaries({summary().without("contains_null")}))}),
              FailsWith("corrupt: field-id 509 (contains_null) is not in the file's schema"));
  const auto unsaid = summary().with(none(boolean_field("contains_null", 509, true)));
  EXPECT_THAT(read_list({list_entry().with(summaries({unsaid}))}),
              FailsWith("corrupt: manifests[0].partitions[0].contains_null: is missing"));
}

TEST(ManifestList, OfEmbeddedManifestsHasTheirPaths) {
  const auto table = table_of(with_snapshot(
      v1(), snapshot("7").without("manifest-list").with("manifests", R"(["a.avro","b.avro"])")));
  const auto of = table->snapshot(7);
  ASSERT_TRUE(of && *of != nullptr);
  const auto list = embedded_manifest_list(**of);
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ((*list)->snapshot_id(), 7);
  ASSERT_EQ((*list)->manifests().size(), 2U);
  const ManifestFile& manifest = (*list)->manifests()[1];
  EXPECT_EQ(manifest.manifest_path, "b.avro");
  EXPECT_EQ(manifest.manifest_length, std::nullopt);
  EXPECT_EQ(manifest.partition_spec_id, std::nullopt);
  EXPECT_EQ(manifest.content, ManifestContent::kData);
}

TEST(ManifestList, IsNoManifest) {
  EXPECT_THAT(read_list({entry()}),
              FailsWith("corrupt: field-id 500 (manifest_path) is not in the file's schema"));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
