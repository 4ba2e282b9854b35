// Manifests that are damaged, cut short, or not what the manifest list says of them.
#include "iceberg/manifest/manifest_counts.h"
#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::iceberg::testing {
namespace {

constexpr auto kDeletes = ManifestContent::kDeletes;

void expect_refused(const AvroField& field, const std::string& what,
                    const AvroRecord& file = data_file()) {
  EXPECT_THAT(read({entry(), entry(file.with(field))}),
              FailsWith("corrupt: entries[1].data_file." + field.name + ": " + what));
}

TEST(ManifestFaults, AFieldThatEveryFormatRequiresIsMissing) {
  EXPECT_THAT(read({entry().without("status")}),
              FailsWith("corrupt: field-id 0 (status) is not in the file's schema"));
  EXPECT_THAT(read({entry().without("data_file")}),
              FailsWith("corrupt: field-id 2 (data_file) is not in the file's schema"));
  EXPECT_THAT(read({entry(data_file().without("file_path"))}),
              FailsWith("corrupt: field-id 100 (file_path) is not in the file's schema"));
  EXPECT_THAT(read({entry(data_file().without("record_count"))}),
              FailsWith("corrupt: field-id 103 (record_count) is not in the file's schema"));
  EXPECT_THAT(read({entry(data_file().without("file_size_in_bytes"))}),
              FailsWith("corrupt: field-id 104 (file_size_in_bytes) is not in the file's schema"));
  EXPECT_THAT(read({entry(data_file().without("file_format"))}),
              FailsWith("corrupt: field-id 101 (file_format) is not in the file's schema"));
}

TEST(ManifestFaults, ARequiredFieldIsNull) {
  const auto path = text_field("file_path", 100, "a");
  EXPECT_THAT(read({entry(data_file().with(some(path))), entry(data_file().with(none(path)))}),
              FailsWith("corrupt: entries[1].data_file.file_path: is missing"));
  EXPECT_THAT(read({entry().with(none(int_field("status", 0, 0)))}),
              FailsWith("corrupt: entries[0].status: is missing"));
  EXPECT_THAT(read({entry().with(none(record_field("data_file", 2, data_file())))}),
              FailsWith("corrupt: entries[0].data_file: is missing"));
  EXPECT_THAT(read({entry().with({"data_file", "2", R"("null")", AvroBytes()})}),
              FailsWith("corrupt: field-id 2 (data_file) is always null"));
}

TEST(ManifestFaults, AKnownFieldHasAnotherType) {
  const auto refused = [](const AvroField& field, const std::string& what) {
    EXPECT_THAT(read({entry(data_file().with(field))}), FailsWith("corrupt: field-id " + what));
  };
  refused(long_field("file_path", 100, 1), "100 (file_path) is a long, and has to be a string");
  refused(text_field("record_count", 103, "1"),
          "103 (record_count) is a string, and has to be an int or a long");
  refused(int_field("partition", 102, 1), "102 (partition) is an int, and has to be a record");
  refused(text_field("key_metadata", 131, ""),
          "131 (key_metadata) is a string, and has to be bytes");
  refused(int_field("split_offsets", 132, 1),
          "132 (split_offsets) is an int, and has to be an array");
  refused(int_field("value_counts", 109, 1), "109 (value_counts) is an int, and has to be a map");
  refused({"lower_bounds", "125", R"({"type":"array","items":"long"})", AvroBytes().end_array()},
          "125 (lower_bounds) is not made of keys and values");
  refused(map_field(kLowerBounds, R"("long")", {}),
          "127 (lower_bounds.value) is a long, and has to be bytes");
  refused(map_field(kValueCounts, R"("bytes")", {}),
          "120 (value_counts.value) is bytes, and has to be an int or a long");
  refused({"value_counts", "109",
           R"({"type":"array","items":{"type":"record","name":"p","fields":[)"
           R"({"name":"key","type":"string","field-id":119},)"
           R"({"name":"value","type":"long","field-id":120}]}})",
           AvroBytes().end_array()},
          "119 (value_counts.key) is a string, and has to be an int");
  EXPECT_THAT(
      read({entry(data_file().with({"equality_ids", "135", R"({"type":"array","items":"string"})",
                                    AvroBytes().end_array()}))}),
      FailsWith("corrupt: an element of field-id 135 (equality_ids) is a string, and has "
                "to be an int or a long"));
  EXPECT_THAT(read({entry().with(text_field("data_file", 2, ""))}),
              FailsWith("corrupt: field-id 2 (data_file) is a string, and has to be a record"));
}

TEST(ManifestFaults, TheFileHoldsNoRecords) {
  AvroFile file(R"("long")");
  file.add_record(AvroBytes().integer(1));
  EXPECT_THAT(read_manifest(file.bytes(), listed(), *unpartitioned_table()),
              FailsWith("corrupt: the file holds a long where a record has to be"));
}

TEST(ManifestFaults, AValueCannotBe) {
  EXPECT_THAT(read({entry(data_file(), 3)}),
              FailsWith("corrupt: entries[0].status: 3 is not among 0 to 2"));
  EXPECT_THAT(read({entry(data_file(), -1)}),
              FailsWith("corrupt: entries[0].status: -1 is not among 0 to 2"));
  expect_refused(int_field("content", 134, 3), "3 is not among 0 to 2");
  expect_refused(text_field("file_path", 100, ""), "is empty");
  expect_refused(text_field("file_path", 100, "\xc3"), "is not UTF-8");
  expect_refused(long_field("record_count", 103, -1), "-1 is negative");
  expect_refused(long_field("file_size_in_bytes", 104, -1), "-1 is negative");
  const auto first = data_file().with(long_field("sort_order_id", 140, 0));
  EXPECT_THAT(read({entry(first), entry(first.with(long_field("sort_order_id", 140, 1LL << 31)))}),
              FailsWith("corrupt: entries[1].data_file.sort_order_id: 2147483648 does not fit "
                        "into 32 bits"));
}

TEST(ManifestFaults, AColumnIsTwiceInAMap) {
  EXPECT_THAT(
      read({entry(data_file().with(count_map(kNullCounts, {{7, 1}, {3, 1}, {7, 1}})))}),
      FailsWith("corrupt: entries[0].data_file.null_value_counts: column 7 is there twice"));
  EXPECT_THAT(read({entry(data_file().with(bound_map(kUpperBounds, {{1, "a"}, {1, "b"}})))}),
              FailsWith("corrupt: entries[0].data_file.upper_bounds: column 1 is there twice"));
}

TEST(ManifestFaults, TheRowsAreMoreThanCanBeCounted) {
  const auto file = data_file().with(long_field("record_count", 103, INT64_MAX));
  EXPECT_THAT(read({entry(file), entry(file)}),
              FailsWith("corrupt: entries[1].data_file.record_count: more rows than 64 bits can "
                        "count"));
}

// ---- Content

TEST(ManifestFaults, AManifestHoldsWhatItIsNotFor) {
  EXPECT_THAT(read({entry(position_deletes())}),
              FailsWith("corrupt: entries[0].data_file.content: a delete file in a manifest of "
                        "data"));
  EXPECT_THAT(read({entry()}, listed(kDeletes)),
              FailsWith("corrupt: entries[0].data_file.content: a data file in a manifest of "
                        "deletes"));
  EXPECT_THAT(read({entry(data_file().without("content"))}, listed(kDeletes)),
              FailsWith("corrupt: entries[0].data_file.content: a data file in a manifest of "
                        "deletes"));
}

TEST(ManifestFaults, ADeleteFileLacksWhatItNeeds) {
  const auto refused = [](const AvroRecord& file, const std::string& what) {
    EXPECT_THAT(read({entry(file)}, listed(kDeletes)),
                FailsWith("corrupt: entries[0].data_file." + what));
  };
  const auto equality = data_file().with(int_field("content", 134, 2));
  refused(equality, "equality_ids: is missing, and equality deletes need it");
  refused(equality.with(list_field("equality_ids", 135, "int", {})),
          "equality_ids: is missing, and equality deletes need it");
  const auto vector = position_deletes()
                          .with(text_field("file_format", 101, "PUFFIN"))
                          .with(text_field("referenced_data_file", 143, "a"))
                          .with(long_field("content_offset", 144, 4))
                          .with(long_field("content_size_in_bytes", 145, 40));
  EXPECT_TRUE(read({entry(vector)}, listed(kDeletes)));
  refused(vector.without("referenced_data_file"),
          "referenced_data_file: is missing, and a deletion vector needs it");
  refused(vector.without("content_offset"),
          "content_offset: is missing, and a deletion vector needs it");
  refused(vector.without("content_size_in_bytes"),
          "content_size_in_bytes: is missing, and a deletion vector needs it");
  refused(vector.with(long_field("content_offset", 144, -4)), "content_offset: -4 is negative");
}

// ---- The header and the manifest list

TEST(ManifestFaults, TheHeaderContradictsTheManifestList) {
  EXPECT_THAT(read({entry()}, listed(), {{"content", "deletes"}}),
              FailsWith("corrupt: content: the manifest list says data, the manifest has deletes"));
  EXPECT_THAT(read({entry(position_deletes())}, listed(kDeletes), {{"content", "data"}}),
              FailsWith("corrupt: content: the manifest list says deletes, the manifest has data"));
  EXPECT_THAT(read({entry()}, listed(), {{"partition-spec-id", "1"}}),
              FailsWith("corrupt: partition_spec_id: the manifest list says 0, the manifest has "
                        "1"));
}

TEST(ManifestFaults, TheHeaderHasWhatCannotBe) {
  EXPECT_THAT(read({entry()}, listed(), {{"content", "dat\na"}}),
              FailsWith("corrupt: the header's content: 'dat\\x0aa'"));
  EXPECT_THAT(read({entry()}, listed(), {{"partition-spec-id", "x"}}),
              FailsWith("corrupt: the header's partition-spec-id: 'x'"));
  EXPECT_THAT(read({entry()}, listed(), {{"format-version", "2.0"}}),
              FailsWith("corrupt: the header's format-version: '2.0'"));
  EXPECT_THAT(read({entry()}, listed(), {{"format-version", "0"}}),
              FailsWith("corrupt: the header's format-version: '0'"));
}

TEST(ManifestFaults, AFormatAboveOursIsNotSupported) {
  const std::string what = "unsupported: format-version 4, and this version reads up to 3";
  EXPECT_THAT(read({entry()}, listed(), {{"format-version", "4"}}), FailsWith(what));
  EXPECT_THAT(read_list({list_entry()}, {{"format-version", "4"}}), FailsWith(what));
  EXPECT_TRUE(read({entry()}, listed(), {{"format-version", "3"}}));
}

TEST(ManifestFaults, EachCountIsWhatTheManifestListSays) {
  const auto numbered = [](int status, std::int64_t rows) {
    return entry(data_file().with(long_field("record_count", 103, rows)), status)
        .with(some(long_field("sequence_number", 3, 1)))
        .with(some(long_field("file_sequence_number", 4, 1)));
  };
  const std::vector<AvroRecord> entries = {numbered(1, 10), numbered(1, 20), numbered(0, 5),
                                           numbered(2, 7)};
  ManifestFile right = listed();
  right.counts = {2, 1, 1, 30, 5, 7};
  EXPECT_TRUE(read(entries, right));
  const auto refused = [&](std::optional<std::int64_t> ManifestCounts::*count,
                           const std::string& what) {
    ManifestFile wrong = right;
    wrong.counts.*count = 99;
    EXPECT_THAT(read(entries, wrong), FailsWith("corrupt: " + what));
    wrong.counts.*count = std::nullopt;
    EXPECT_TRUE(read(entries, wrong)) << "what the list does not say";
  };
  refused(&ManifestCounts::added_files_count,
          "added_files_count: the manifest list says 99, the manifest has 2");
  refused(&ManifestCounts::existing_files_count,
          "existing_files_count: the manifest list says 99, the manifest has 1");
  refused(&ManifestCounts::deleted_files_count,
          "deleted_files_count: the manifest list says 99, the manifest has 1");
  refused(&ManifestCounts::added_rows_count,
          "added_rows_count: the manifest list says 99, the manifest has 30");
  refused(&ManifestCounts::existing_rows_count,
          "existing_rows_count: the manifest list says 99, the manifest has 5");
  refused(&ManifestCounts::deleted_rows_count,
          "deleted_rows_count: the manifest list says 99, the manifest has 7");
}

TEST(ManifestFaults, AManifestIsCheckedAgainstAnotherListEntry) {
  const auto manifest = read({entry()});
  ASSERT_TRUE(manifest) << text_of_result(manifest);
  EXPECT_TRUE(check_listed(**manifest, listed()));
  EXPECT_FALSE(check_listed(**manifest, listed(kDeletes)));
  ManifestFile other = listed();
  other.partition_spec_id = 3;
  EXPECT_FALSE(check_listed(**manifest, other));
  other.partition_spec_id.reset();
  other.counts.added_files_count = 1;
  EXPECT_TRUE(check_listed(**manifest, other));
}

// ---- Cut short

TEST(ManifestFaults, AManifestThatIsCutAnywhereIsRefused) {
  for (const std::string codec : {"null", "deflate"}) {
    const std::string whole = avro_file({entry(), entry(), entry(), entry()}, {}, codec);
    ManifestFile counted = listed();
    counted.counts.added_files_count = 4;
    ManifestFile measured = listed();
    measured.manifest_length = static_cast<std::int64_t>(whole.size());
    ASSERT_TRUE(read_manifest(whole, counted, *unpartitioned_table()));
    ASSERT_TRUE(read_manifest(whole, measured, *unpartitioned_table()));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const std::string cut = whole.substr(0, length);
      EXPECT_THAT(read_manifest(cut, counted, *unpartitioned_table()), FailsAs("corrupt: "))
          << codec << ' ' << length;
      EXPECT_THAT(read_manifest(cut, measured, *unpartitioned_table()),
                  FailsAs("corrupt: manifest_length: the file is cut short, " +
                          std::to_string(length) + " of "))
          << codec << ' ' << length;
    }
  }
}

TEST(ManifestFaults, AManifestListThatIsCutHasFewerEntriesOrIsRefused) {
  for (const std::string codec : {"null", "deflate"}) {
    const std::string whole = avro_file({list_entry(), list_entry(), list_entry()}, {}, codec);
    std::size_t accepted = 0;
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto list = read_manifest_list(whole.substr(0, length), TableSnapshot{});
      if (list) ++accepted;
    }
    EXPECT_EQ(accepted, 2U) << "between blocks, which nothing in the file can tell";
  }
}

TEST(ManifestFaults, ALengthThatIsWrongIsNoFaultWhereTheCountsAreRight) {
  const std::string file = avro_file({entry()});
  ManifestFile of = listed();
  of.manifest_length = static_cast<std::int64_t>(file.size()) - 1;
  EXPECT_TRUE(read_manifest(file, of, *unpartitioned_table())) << "longer than the list says";
  of.manifest_length = static_cast<std::int64_t>(file.size()) + 1;
  EXPECT_THAT(read_manifest(file, of, *unpartitioned_table()),
              FailsAs("corrupt: manifest_length: the file is cut short"));
  of.counts.added_files_count = 1;
  of.counts.existing_files_count = 0;
  of.counts.deleted_files_count = 0;
  EXPECT_TRUE(read_manifest(file, of, *unpartitioned_table()));
}

// ---- Limits

TEST(ManifestFaults, LimitsAreNamed) {
  const std::string file = avro_file(std::vector<AvroRecord>(100, entry()), {}, "null");
  const auto with = [&](const MetadataLimits& limits) {
    return read_manifest(file, listed(), *unpartitioned_table(), limits);
  };
  EXPECT_THAT(with({.document_bytes_max = 100}), FailsAs("too_large: the file has "));
  EXPECT_THAT(with({.document_bytes_max = 100}), FailsAs("document_bytes_max is 100"));
  EXPECT_THAT(with({.inflated_bytes_max = 1000}), FailsAs("too_large: "));
  EXPECT_THAT(with({.inflated_bytes_max = file.size() + 1000}),
              FailsAs("too_large: the document takes more memory than inflated_bytes_max"));
  EXPECT_THAT(with({.elements_max = 99}),
              FailsWith("too_large: more entries than elements_max, 99"));
  EXPECT_TRUE(with({.elements_max = 100}));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
