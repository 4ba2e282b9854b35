// Manifest lists and manifests: any bytes, read as both; and the data of a block behind the schema
// of either. What is read holds together, and the deletes in it are matched.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/manifest/delete_index.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/metadata_parser.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/manifest_schemas.h"
#include "tests/iceberg/avro/avro_writer.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kBytes;

namespace {

constexpr MetadataLimits kLimits = {
    .document_bytes_max = 1 << 20, .inflated_bytes_max = 1 << 20, .elements_max = 1 << 12};
/// Each one finds the deletes of all others.
constexpr std::size_t kMatchedMax = 50;

constexpr std::string_view kTable = R"json(
{"format-version":3,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"/w/t",
"last-sequence-number":9,"last-updated-ms":0,"last-column-id":7,"next-row-id":0,
"schemas":[{"type":"struct","schema-id":0,"fields":[
{"id":1,"name":"s","required":false,"type":"string"},
{"id":2,"name":"d","required":false,"type":"date"},
{"id":3,"name":"n","required":false,"type":"decimal(38,2)"},
{"id":4,"name":"b","required":false,"type":"binary"},
{"id":5,"name":"f","required":false,"type":"double"},
{"id":6,"name":"t","required":false,"type":"timestamptz_ns"},
{"id":7,"name":"u","required":false,"type":"uuid"}]}],
"current-schema-id":0,"partition-specs":[{"spec-id":0,"fields":[
{"name":"s","transform":"truncate[4]","source-id":1,"field-id":1000},
{"name":"d","transform":"identity","source-id":2,"field-id":1001},
{"name":"n","transform":"identity","source-id":3,"field-id":1002},
{"name":"b","transform":"bucket[8]","source-id":4,"field-id":1003},
{"name":"f","transform":"identity","source-id":5,"field-id":1004},
{"name":"t","transform":"identity","source-id":6,"field-id":1005},
{"name":"u","transform":"identity","source-id":7,"field-id":1006},
{"name":"v","transform":"void","source-id":1,"field-id":1007}]},
{"spec-id":1,"fields":[]}],
"default-spec-id":0,"last-partition-id":1007,"sort-orders":[{"order-id":0,"fields":[]}],
"default-sort-order-id":0})json";

const TableMetadata& table() {
  static const auto parsed = iceberg::parse_table_metadata(iceberg::ByteBuffer(kTable));
  fuzz_check(parsed.ok(), "the table is one");
  return **parsed;
}

void check_error(const Error& error) {
  const auto kind = error.kind();
  fuzz_check(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported ||
                 kind == ErrorKind::kTooLarge,
             "an error is of a kind that is promised", error.message());
  fuzz_check(!error.message().empty(), "an error says what is wrong");
}

void check_columns(const DataFile& file) {
  for (std::size_t i = 0; i < file.columns.size(); ++i) {
    const ColumnMetrics& column = file.columns[i];
    fuzz_check(i == 0 || file.columns[i - 1].field_id < column.field_id, "columns ascend");
    fuzz_check(file.find_column(column.field_id) == &column, "a column is found");
    fuzz_check(column.value_count >= kNotCounted && column.null_value_count >= kNotCounted,
               "a count is one, or none");
    for (const Field& field : table().current_schema().fields) {
      (void)column.lower(field.type);
      (void)column.upper(field.type);
    }
  }
}

void check_entry(const ManifestEntry& entry, const Manifest& manifest) {
  const DataFile& file = entry.file;
  const PartitionSpec* const spec = table().find_partition_spec(manifest.spec_id());
  fuzz_check(spec != nullptr && file.spec_id == spec->spec_id, "the spec is the table's");
  fuzz_check(file.partition.size() == spec->fields.size(), "a value for each field of the spec");
  for (const Literal& value : file.partition) {
    fuzz_check(is_same(value, value) && !to_json(value).empty(), "a value is itself");
  }
  const bool is_data = manifest.content() == ManifestContent::kData;
  fuzz_check(is_data == (file.content == FileContent::kData), "the content is the manifest's");
  fuzz_check(file.content != FileContent::kEqualityDeletes || !file.equality_ids.empty(),
             "equality deletes have ids");
  fuzz_check(!file.is_deletion_vector() ||
                 (file.referenced_data_file && file.content_offset && file.content_size_in_bytes),
             "a deletion vector is known by its place");
  fuzz_check(!file.file_path.empty() && file.record_count >= 0 && file.file_size_in_bytes >= 0 &&
                 file.sequence_number >= 0 && file.file_sequence_number >= 0,
             "what cannot be negative is not");
  fuzz_check(is_data || !file.first_row_id, "deletes have no row ids");
  check_columns(file);
}

/// Data files that are what the deletes are of find them by the rules of the specification.
void check_deletes(const Manifest& manifest) {
  std::vector<const DataFile*> deletes;
  for (const auto& entry : manifest.entries()) {
    if (entry.is_live() && deletes.size() < kMatchedMax) deletes.push_back(&entry.file);
  }
  auto index = iceberg::DeleteIndex::make(deletes, table());
  if (!index) {
    check_error(index.error());
    return;
  }
  for (const DataFile* const of : deletes) {
    DataFile data = *of;
    data.content = FileContent::kData;
    data.file_path = of->referenced_data_file.value_or("a");
    std::vector<const DataFile*> found;
    for (const auto list : {index->find_positions(data, found), index->find_equalities(data)}) {
      found.insert(found.end(), list.begin(), list.end());
    }
    for (const DataFile* const one : found) {
      fuzz_check(one->sequence_number >= data.sequence_number, "deletes are not older");
    }
    const bool finds_itself = std::find(found.begin(), found.end(), of) != found.end();
    fuzz_check(!of->is_deletion_vector() || finds_itself, "a deletion vector is found");
  }
}

void check_manifest(std::string_view bytes, const ManifestFile& listed) {
  const auto read = iceberg::read_manifest(bytes, listed, table(), kLimits);
  if (!read) {
    check_error(read.error());
    return;
  }
  const Manifest& manifest = **read;
  for (const auto& entry : manifest.entries()) check_entry(entry, manifest);
  const ManifestCounts& counts = manifest.counts();
  fuzz_check(
      *counts.added_files_count + *counts.existing_files_count + *counts.deleted_files_count ==
          static_cast<std::int64_t>(manifest.entries().size()),
      "each entry is counted once");
  fuzz_check(manifest.weight_bytes() >= manifest.entries().size_bytes(), "it weighs what it has");
  ManifestFile exact = listed;
  exact.counts = counts;
  fuzz_check(iceberg::read_manifest(bytes, exact, table(), kLimits).ok(), "its counts are right");
  ++*exact.counts.added_files_count;
  fuzz_check(!iceberg::read_manifest(bytes, exact, table(), kLimits).ok(), "others are not");
  if (manifest.content() == ManifestContent::kDeletes) check_deletes(manifest);
}

void check_list(std::string_view bytes) {
  TableSnapshot snapshot;
  snapshot.snapshot_id = 7;
  const auto read = iceberg::read_manifest_list(bytes, snapshot, kLimits);
  if (!read) {
    check_error(read.error());
    return;
  }
  for (const ManifestFile& manifest : (*read)->manifests()) {
    fuzz_check(!manifest.manifest_path.empty() && manifest.manifest_length >= 0 &&
                   manifest.partition_spec_id && manifest.sequence_number >= 0,
               "what every format requires is there");
  }
  fuzz_check((*read)->weight_bytes() >= (*read)->manifests().size_bytes(), "it weighs what it has");
}

ManifestFile listed_as(unsigned choice) {
  ManifestFile listed;
  listed.content = (choice & 1) != 0 ? ManifestContent::kDeletes : ManifestContent::kData;
  listed.sequence_number = (choice & 2) != 0 ? 5 : 0;
  if ((choice & 4) != 0) listed.first_row_id = 1000;
  listed.added_snapshot_id = 77;
  return listed;
}

void check_file(std::string_view bytes, unsigned choice) {
  check_list(bytes);
  check_manifest(bytes, listed_as(choice));
}

/// The first byte says behind which schema the rest is, and of how many records.
void check_made(std::string_view input) {
  const unsigned choice = static_cast<unsigned char>(input[0]);
  iceberg::testing::AvroFile file((choice & 8) != 0 ? kListSchema : kEntrySchema);
  file.add_block(1 + (choice >> 4 & 3), input.substr(1));
  check_file(file.bytes(), choice);
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with("Obj")) {
    for (unsigned choice = 0; choice < 8; choice += 3) iceblink::test::check_file(input, choice);
  } else if (!input.empty()) {
    iceblink::test::check_made(input);
  }
  return 0;
}
